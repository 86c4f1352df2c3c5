"""What may be wrapped in a content: archives, compressed streams, base64, hex, git objects. All of it hostile.

Nothing is written anywhere, and every step is bounded: depth, bytes in, bytes out.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from envs_forge.gold.leak.gitpack import pack_objects

MAX_DEPTH = 3
MAX_PIECE = 16 * 1024 * 1024
"""Bytes that one wrapped piece may unfold to; what lies beyond is not looked at."""
MAX_MEMBERS = 5000
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}")
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2}){16,}(?:\r?\n(?:[0-9A-Fa-f]{2})+)*")
_ESCAPED = re.compile(rb"(?:\\x[0-9A-Fa-f]{2}){12,}")
_DECODE_ERRORS = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error, lzma.LZMAError)

Piece = tuple[str, bytes]
"""How a content was wrapped, e.g. `gzip`, and the content."""


class Allowance:
    """Bytes that may still be unfolded, shared by everything that is unwrapped from one layer."""

    def __init__(self, total: int) -> None:
        self.left = total

    def take(self, piece: bytes) -> bytes:
        """The piece, cut to what is left, which shrinks by it."""
        kept = piece[: max(0, self.left)]
        self.left -= len(kept)
        return kept


def unwrap(data: bytes, allowance: Allowance, depth: int = MAX_DEPTH) -> Iterator[Piece]:
    """Everything that is wrapped in `data`, to `MAX_DEPTH`; not `data` itself."""
    if depth == 0:
        return
    for label, piece in _pieces(data):
        if allowance.left <= 0:
            return
        content = allowance.take(piece)
        yield label, content
        for inner, deeper in unwrap(content, allowance, depth - 1):
            yield f"{label}/{inner}", deeper


def _pieces(data: bytes) -> Iterator[Piece]:
    yield from _compressed(data)
    yield from _archived(data)
    if data.startswith(b"PACK"):
        yield from (("git-object", content) for content in pack_objects(data, MAX_PIECE))
    elif b"\0" not in data[:8192]:
        yield from _encoded(data)


def _compressed(data: bytes) -> Iterator[Piece]:
    if data.startswith(b"\x1f\x8b"):
        yield from _stream("gzip", zlib.decompressobj(wbits=31), data)
    elif data.startswith(b"BZh"):
        yield from _stream("bzip2", bz2.BZ2Decompressor(), data)
    elif data.startswith((b"\xfd7zXZ", b"\x5d\x00\x00")):
        yield from _stream("xz", lzma.LZMADecompressor(memlimit=256 * 1024 * 1024), data)
    elif data[:1] == b"\x78" and len(data) > 2 and int.from_bytes(data[:2], "big") % 31 == 0:
        yield from _stream("zlib", zlib.decompressobj(), data)


def _stream(label: str, decompressor: object, data: bytes) -> Iterator[Piece]:
    try:
        yield label, decompressor.decompress(data, MAX_PIECE)  # type: ignore[attr-defined]
    except _DECODE_ERRORS:
        return


def _archived(data: bytes) -> Iterator[Piece]:
    if data.startswith(b"PK\x03\x04"):
        yield from _zipped(data)
    elif data[257:262] == b"ustar":
        yield from _tarred(data)


def _zipped(data: bytes) -> Iterator[Piece]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist()[:MAX_MEMBERS]:
                with archive.open(info) as member:
                    yield f"zip:{info.filename}", member.read(MAX_PIECE)
    except (*_DECODE_ERRORS, zipfile.BadZipFile):
        return


def _tarred(data: bytes) -> Iterator[Piece]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for _ in range(MAX_MEMBERS):
                member = archive.next()
                if member is None:
                    return
                content = archive.extractfile(member) if member.isreg() else None
                if content is not None:
                    yield f"tar:{member.name}", content.read(MAX_PIECE)
    except (*_DECODE_ERRORS, tarfile.TarError):
        return


def _encoded(data: bytes) -> Iterator[Piece]:
    for match in _HEX.finditer(data):
        yield "hex", bytes.fromhex(re.sub(rb"\s", b"", match[0]).decode())
    for match in _ESCAPED.finditer(data):
        yield "hex", bytes.fromhex(match[0].replace(b"\\x", b"").decode())
    for match in _BASE64.finditer(data):
        text = re.sub(rb"\s", b"", match[0]).rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
        try:
            yield "base64", base64.b64decode(text + b"=" * (-len(text) % 4))
        except binascii.Error:
            continue
