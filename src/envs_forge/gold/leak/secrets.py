"""What an image must not hold: the contents of `solution/` and `tests/`, less what the environment shows openly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from envs_forge.bundle.model import Bundle
from envs_forge.gold.leak.lines import fingerprint, fingerprints, module, telling_lines, whole

_TEST_SCRIPT = re.compile(r"tests/(.*/)?(test\.sh|(test_[^/]*|[^/]*_test)\.(py|sh|bats|js|ts|rb))")
_BOILERPLATE = re.compile(rb"/logs/verifier|^#!|^set -|^import |^from \S+ import |^(if|def|return|assert) .{0,10}$")


class Kind(StrEnum):
    """What a file of solution or tests is, which decides how its traces in an image are taken."""

    SOLUTION = "solution"
    TESTS = "tests"
    DATA = "data"
    """Data that tests use: an expected answer, or a copy of an input."""


@dataclass(frozen=True, slots=True)
class Secret:
    """One file of solution or tests.

    Attributes:
        path: In the bundle.
        kind: See `Kind`.
        lines: Fingerprint of each telling line → its length.
        own: Those of `lines` that no file of the environment has, unless that file has them all.
        whole: Fingerprint of the whole content; None where it is short.
        shown: Whether a file of the environment holds this very content openly.
        compiled: Fingerprint of the name under which Python keeps a test module compiled; None for other files, and
            where the environment has a module of this name.
    """

    path: str
    kind: Kind
    lines: dict[int, int]
    own: frozenset[int]
    whole: int | None
    shown: bool
    compiled: int | None = None


def secrets_of(bundle: Bundle) -> list[Secret]:
    """All files of solution and tests that say enough to be recognised."""
    open_files = [
        fingerprints(file.data)
        for path, file in bundle.files.items()
        if path.startswith("environment/") and file.target is None
    ]
    open_files.append(fingerprints(bundle.instruction.encode()))
    return [secret for secret in _secrets(bundle, open_files) if secret.lines or secret.whole is not None]


def _secrets(bundle: Bundle, open_files: list[set[int]]) -> Iterator[Secret]:
    for path, file in sorted(bundle.files.items()):
        if not path.startswith(("solution/", "tests/")) or file.target is not None:
            continue
        data = file.data.replace(b"\r\n", b"\n")
        lines = {fingerprint(line): len(line) for line in telling_lines(data) if not _BOILERPLATE.search(line)}
        partly = [known for known in open_files if not lines.keys() <= known]
        entire = whole(data)
        yield Secret(
            path=path,
            kind=_kind(path),
            lines=lines,
            own=frozenset(lines).difference(*partly),
            whole=entire,
            shown=any(entire in known for known in open_files),
            compiled=_compiled(bundle, path),
        )


def _kind(path: str) -> Kind:
    if path.startswith("solution/"):
        return Kind.SOLUTION
    return Kind.TESTS if _TEST_SCRIPT.fullmatch(path) else Kind.DATA


def _compiled(bundle: Bundle, path: str) -> int | None:
    name = PurePosixPath(path).name
    if _kind(path) is not Kind.TESTS or not name.endswith(".py"):
        return None
    if any(other.startswith("environment/") and PurePosixPath(other).name == name for other in bundle.files):
        return None
    return module(name.removesuffix(".py"))
