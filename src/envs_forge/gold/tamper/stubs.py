"""Outputs that look like work: empty, constant, copied, or a program that does nothing."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from envs_forge.gold.state import Reference

_CONSTANTS = {
    ".json": '{"result": 1}',
    ".csv": "a,b\n1,2",
    ".py": "print(1)",
    ".sh": "#!/bin/sh\necho 1",
    ".html": "<p>1</p>",
}


@dataclass(frozen=True, slots=True)
class Stub:
    """One way of filling all outputs at once.

    Attributes:
        name: For people.
        script: What `/bin/sh` runs, as root.
    """

    name: str
    script: str


def stubs_for(reference: Reference) -> list[Stub]:
    """Ways to fill what the solution makes; none where it is not known to make anything."""
    outputs = reference.outputs
    if not outputs:
        return []
    found = [
        Stub("empty outputs", _fill(outputs, {path: "" for path in outputs})),
        Stub("constant outputs", _fill(outputs, {path: _constant(path) for path in outputs})),
        Stub("programs that do nothing", _fill(outputs, {path: "#!/bin/sh\nexit 0" for path in outputs})),
    ]
    copies = {path: _source(path, reference.inputs) for path in outputs}
    if any(copies.values()):
        found.append(Stub("copies of the inputs", _copy(copies)))
    return found


def _constant(path: str) -> str:
    return _CONSTANTS.get(PurePosixPath(path).suffix, "1")


def _source(path: str, inputs: Sequence[str]) -> str:
    """The input that most looks like an output, empty where there is none."""
    suffix = PurePosixPath(path).suffix
    candidates = [other for other in inputs if not path.startswith(f"{other}/")]
    alike = [other for other in candidates if PurePosixPath(other).suffix == suffix]
    return (alike or candidates or [""])[0]


def _fill(outputs: Sequence[str], contents: dict[str, str]) -> str:
    steps = [_place(path, f"printf '%s\\n' {shlex.quote(contents[path])} > {shlex.quote(path)}") for path in outputs]
    return "\n".join(steps)


def _copy(copies: dict[str, str]) -> str:
    steps = [_place(path, f"cp {shlex.quote(source)} {shlex.quote(path)}") for path, source in copies.items() if source]
    return "\n".join(steps)


def _place(path: str, step: str) -> str:
    """Make way for a file, put it there, let it be run; a directory that is there stays."""
    quoted = shlex.quote(path)
    parent = shlex.quote(str(PurePosixPath(path).parent))
    return f"mkdir -p {parent} 2> /dev/null; if [ ! -d {quoted} ]; then {step}; chmod 755 {quoted}; fi"
