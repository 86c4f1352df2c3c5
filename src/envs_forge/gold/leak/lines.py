"""Content as a set of numbers: a fingerprint for each line that is long enough to say something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

MIN_LINE = 16
"""Characters, blanks at both ends not counted, below which a line is too common to be evidence."""
MIN_WHOLE = 32
"""Bytes below which a whole file is too common to be evidence."""
_MAX_LINE = 4096
_PRINTABLE = re.compile(rb"[\x20-\x7e]{%d,%d}" % (MIN_LINE, _MAX_LINE))


def fingerprint(data: bytes) -> int:
    """A 64-bit number for a piece of content."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def telling_lines(data: bytes) -> Iterator[bytes]:
    """Lines of a text, or runs of printable characters of anything else, that are long enough; ends stripped."""
    pieces = _PRINTABLE.findall(data) if b"\0" in data[:8192] else data.splitlines()
    for piece in pieces:
        line = piece.strip()
        if MIN_LINE <= len(line) <= _MAX_LINE:
            yield line


def whole(data: bytes) -> int | None:
    """Fingerprint of a content as a whole, blanks at its ends not counted; None where it is too short."""
    content = data.strip()
    return fingerprint(b"\0whole\0" + content) if len(content) >= MIN_WHOLE else None


def fingerprints(data: bytes) -> set[int]:
    """All fingerprints of a content: its lines and its whole."""
    found = {fingerprint(line) for line in telling_lines(data)}
    entire = whole(data)
    return found if entire is None else found | {entire}


def cached_module(path: str) -> int | None:
    """Fingerprint of the module whose compiled form a path is; None for other files."""
    directory, _, name = path.rpartition("/")
    if not name.endswith(".pyc") or directory.rpartition("/")[2] != "__pycache__":
        return None
    return module(name.partition(".")[0])


def module(stem: str) -> int:
    """Fingerprint of a Python module's name."""
    return fingerprint(b"\0module\0" + stem.encode(errors="replace"))
