"""Everything that can be wrong with an answer, each kind with a code of its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AnswerFault(StrEnum):
    """Why no candidate came of an answer. The values are reason codes of the ledger."""

    EMPTY = "answer-empty"
    """Nothing, or nothing but white space or hidden reasoning."""
    CUT = "answer-cut"
    """Ended by a limit on its length, or in the middle of a file."""
    REFUSED = "answer-refused"
    """The model or its provider declined."""
    NO_FILES = "answer-no-files"
    """Text without one file in it."""
    BAD_JSON = "answer-bad-json"
    """A JSON object that does not parse or has another shape."""
    TOO_LARGE = "answer-too-large"
    """More text, a larger file or more files than a task may have."""
    DUPLICATE_FILE = "answer-duplicate-file"
    """Two versions of one file."""
    PATH_ESCAPES = "answer-path-escapes"
    """An absolute path, one with `..`, or a link that leaves the bundle."""
    PATH_FOREIGN = "answer-path-foreign"
    """A file that belongs to none of the five parts."""
    ENCODING = "answer-encoding"
    """Bytes that are no text, base64 that is none, a NUL, characters that a wrong decoding leaves."""
    SECRET = "answer-secret"
    """The value of a secret variable of this machine."""
    CRLF = "answer-crlf"
    """A script with CRLF line ends in an answer that otherwise has none."""
    KEEP_UNKNOWN = "answer-keep-unknown"
    """A file to be kept that the seed does not have."""
    PART_MISSING = "answer-part-missing"
    """One of the five parts is not there."""
    CONFIG = "answer-config"
    """A `task.toml` that asks for what a candidate may not have, or cannot be read."""
    BUNDLE = "answer-bundle"
    """All files are there and together are no task."""


@dataclass(frozen=True)
class Unreadable:
    """An answer of which nothing is used: why, and what in it says so."""

    code: AnswerFault
    evidence: str
