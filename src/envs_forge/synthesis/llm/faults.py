"""Everything that can be wrong with an answer, each kind with a code of its own."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from enum import StrEnum

from envs_forge.bundle.finding import BundleError
from envs_forge.errors import InfrastructureError, PrerequisiteError
from envs_forge.models.wire import storable


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
    """An absolute path, one with `..` or that no file can have, or a link that leaves the bundle."""
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
    UNUSABLE = "answer-unusable"
    """Reading it, or putting on disk what came of it, ended in an error that none of the above foresees."""


_OF_NAMES = frozenset(
    {
        errno.EEXIST,
        errno.EILSEQ,
        errno.EINVAL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOTDIR,
        errno.ENOTEMPTY,
    }
)
"""What a sound filesystem says to names that it cannot hold, or not beside each other."""


@dataclass(frozen=True)
class Unreadable:
    """An answer of which nothing is used: why, and what in it says so, as text that can be stored."""

    code: AnswerFault
    evidence: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", storable(self.evidence))


def unforeseen(error: Exception) -> Unreadable | None:
    """What an error of the reading or writing of an answer says of it; None where the machine failed.

    The last line of defence: an answer is paid for and read again by every resume, so one that ends a session with an
    error of ours would end all of them.
    """
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError):
        machine = cause.errno not in _OF_NAMES
    elif isinstance(error, BundleError):
        machine = any(finding.code == "unreadable" for finding in error.findings)
    else:
        machine = isinstance(error, MemoryError | ImportError | InfrastructureError | PrerequisiteError)
    return None if machine else Unreadable(AnswerFault.UNUSABLE, f"{type(error).__name__}: {str(error)[:500]}")
