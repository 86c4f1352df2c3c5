"""What lies at the paths that a task speaks of, in a form that can be compared."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from envs_forge.sandbox.archive import ArchiveError, ArchiveLimits, Kind, entries
from envs_forge.sandbox.engine import Sandbox

LIMITS = ArchiveLimits(total=64 * 1024 * 1024, file=32 * 1024 * 1024, entries=20_000)
_BLANKS = re.compile(rb"\s+")

State = Mapping[str, str | None]
"""Path → digest of what lies there; None for nothing. A path that could not be read is left out."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What the tasks's paths hold before and after the solution.

    Attributes:
        before: In the untouched environment.
        after: After the solution, on the paths on which two runs of it agree.
    """

    before: State
    after: State

    @property
    def outputs(self) -> list[str]:
        """Paths that the solution makes or changes, always in the same way."""
        return [path for path, digest in self.after.items() if digest is not None and digest != self.before.get(path)]

    @property
    def inputs(self) -> list[str]:
        """Paths that the solution leaves as they are."""
        return [path for path, digest in self.after.items() if digest is not None and digest == self.before.get(path)]

    def differs(self, state: State) -> bool:
        """Whether a state differs from the solution's on a path on which the solution's runs agree."""
        return any(path in state and state[path] != digest for path, digest in self.after.items())


def capture(work: Sandbox, paths: Iterable[str]) -> State:
    """Look at paths in a sandbox.

    Blanks and the order of keys in JSON make no difference; types, run bits and the targets of links do.

    Raises:
        InfrastructureError: The machine failed.
    """
    found: dict[str, str | None] = {}
    for path in paths:
        try:
            with work.get(path) as stream:
                found[path] = _digest(stream)
        except FileNotFoundError:
            found[path] = None
        except (ArchiveError, NotADirectoryError):
            continue
    return found


def agreeing(one: State, other: State) -> State:
    """What two states have in common."""
    return {path: digest for path, digest in one.items() if path in other and other[path] == digest}


def _digest(stream: object) -> str:
    lines: list[str] = []
    for entry in entries(stream, LIMITS):  # type: ignore[arg-type]
        content = _normal(entry.read()) if entry.kind is Kind.FILE else b""
        run_bit = "x" if entry.mode & 0o100 and entry.kind is Kind.FILE else "-"
        digest = hashlib.sha256(content).hexdigest()
        lines.append(f"{entry.name}\0{entry.kind}\0{run_bit}\0{entry.target}\0{digest}")
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", errors="surrogateescape")).hexdigest()


def _normal(data: bytes) -> bytes:
    """Content without what is only its look."""
    try:
        return json.dumps(json.loads(data), sort_keys=True).encode()
    except (ValueError, RecursionError):
        return _BLANKS.sub(b" ", data).strip()
