"""Are these bytes text that a reader of UTF-8 can take?"""

from __future__ import annotations

import codecs

from envs_forge.bundle.finding import Finding, Severity

_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def decoding_finding(file: str, data: bytes, *, bom: Severity | None = Severity.ERROR) -> Finding | None:
    """The first thing that keeps `data` from being plain UTF-8 text.

    Args:
        file: Name for the finding.
        data: The bytes.
        bom: How bad a byte-order mark of UTF-8 is here; None accepts it.
    """
    if data.startswith(_WIDE_MARKS) or _looks_wide(data):
        return _finding("encoding-utf16", file, 1, "UTF-16 or UTF-32 text")
    if data.startswith(codecs.BOM_UTF8) and bom is not None:
        found = _finding("byte-order-mark", file, 1, "starts with a byte-order mark", "save it without one")
        return found.model_copy(update={"severity": bom})
    at = data.find(b"\0")
    if at >= 0:
        return _finding("nul-byte", file, _line(data, at), "contains a NUL byte", "remove it")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        return _finding("encoding", file, _line(data, error.start), message)
    return None


def crlf_finding(file: str, data: bytes, *, script: bool) -> Finding | None:
    """CRLF line ends: an error in a script whose own lines end so, else a warning.

    A script with LF ends may hold some CRLF lines on purpose, as data of a here-document.
    """
    at = data.find(b"\r\n")
    if at < 0 or data.startswith(_WIDE_MARKS):
        return None
    first = data.split(b"\n", 1)[0]
    broken = script and first.endswith(b"\r")
    return Finding(
        code="crlf",
        severity=Severity.ERROR if broken else Severity.WARNING,
        file=file,
        line=_line(data, at),
        message="lines end with CRLF",
        fix="convert it to LF line ends",
    )


def _looks_wide(data: bytes) -> bool:
    """UTF-16 without a mark: every other byte of the beginning is NUL."""
    head = data[:64]
    even, odd = head[0::2], head[1::2]
    return len(head) >= 8 and (not any(even) or not any(odd)) and head.count(0) >= len(head) // 2


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _finding(code: str, file: str, line: int, message: str, fix: str = "save it as UTF-8") -> Finding:
    return Finding(code=code, file=file, line=line, message=message, fix=fix)
