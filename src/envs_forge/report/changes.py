"""What differs between a seed and its child, line by line, for reading."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from envs_forge.bundle.model import Bundle, BundleFile

MOST_LINES = 400
"""Lines shown of one file's difference."""
MOST_BYTES = 200_000
"""Files above are compared as a whole."""
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `kind` is `same`, `old`, `new` or `place`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file. `what` is `added`, `removed` or `changed`; `note` stands for lines that are not shown."""

    path: str
    what: str
    lines: tuple[Line, ...]
    note: str = ""


def changes(seed: Bundle, child: Bundle) -> list[FileChange]:
    """All files that differ, the instruction first, then solution, tests, environment and the rest."""
    paths = sorted(seed.files.keys() | child.files.keys(), key=_order)
    found = (_change(path, seed.files.get(path), child.files.get(path)) for path in paths if path != "task.toml")
    return [change for change in found if change is not None]


def _change(path: str, old: BundleFile | None, new: BundleFile | None) -> FileChange | None:
    if old is not None and new is not None and (old.data, old.target) == (new.data, new.target):
        return None
    what = "added" if old is None else "removed" if new is None else "changed"
    before, after = _text(old), _text(new)
    if before is None or after is None:
        sizes = " → ".join(f"{len(file.data):,} bytes" for file in (old, new) if file is not None)
        return FileChange(path, what, (), f"not shown: {sizes}")
    lines = list(_lines(before, after))
    note = f"{len(lines) - MOST_LINES} more lines" if len(lines) > MOST_LINES else ""
    return FileChange(path, what, tuple(lines[:MOST_LINES]), note)


def _text(file: BundleFile | None) -> str | None:
    """The lines of a file; None where it is no text, or too much of it."""
    if file is None:
        return ""
    if file.target is not None:
        return f"→ {file.target}"
    if len(file.data) > MOST_BYTES or b"\0" in file.data:
        return None
    return file.data.decode("utf-8", "replace")


def _lines(before: str, after: str) -> Iterator[Line]:
    found = difflib.unified_diff(before.splitlines(), after.splitlines(), n=_CONTEXT, lineterm="")
    kinds = {"+": "new", "-": "old", " ": "same", "@": "place"}
    for number, line in enumerate(found):
        if number >= 2:  # the first two name the files
            yield Line(kinds[line[0]], line if line[0] == "@" else line[1:])


def _order(path: str) -> tuple[int, str]:
    parts = ("instruction.md", "solution/", "tests/", "environment/")
    return next((at for at, part in enumerate(parts) if path.startswith(part)), len(parts)), path
