"""Contents of a git pack file, without git. Format: gitformat-pack(5)."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator

_HEADER = 12
_TRAILER = 20
_MIN_ENTRY = 3
_HASH = 20
_CHUNK = 8192
_MAX_OBJECTS = 100_000
_OFFSET_DELTA = 6
_REFERENCE_DELTA = 7
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}

_Object = tuple[int, bytes]
"""Kind and content."""


def pack_objects(pack: bytes, limit: int) -> Iterator[bytes]:
    """Contents of all objects of a pack, deltas applied; stops where the pack makes no sense.

    Args:
        pack: The whole file.
        limit: Most bytes of one object; larger ones are left out.
    """
    by_offset: dict[int, _Object] = {}
    by_hash: dict[bytes, _Object] = {}
    at = _HEADER
    for _ in range(_MAX_OBJECTS):
        if at + _MIN_ENTRY > len(pack) - _TRAILER:
            return
        start = at
        try:
            kind, base, at = _entry_head(pack, at)
            content, at = _inflate(pack, at, limit)
        except (zlib.error, IndexError):
            return
        if kind in _KINDS:
            entry: _Object | None = (kind, content)
        else:
            origin = by_offset.get(start - base) if isinstance(base, int) else by_hash.get(base)
            entry = None if origin is None else (origin[0], _apply(origin[1], content, limit))
        if entry is None:
            continue
        by_offset[start] = entry
        head = b"%s %d\0" % (_KINDS[entry[0]], len(entry[1]))
        by_hash[hashlib.sha1(head + entry[1], usedforsecurity=False).digest()] = entry
        yield entry[1]


def _entry_head(pack: bytes, at: int) -> tuple[int, int | bytes, int]:
    """Kind of the entry at `at`, its base (distance or hash; 0 for a whole object), and where its data starts."""
    kind = (pack[at] >> 4) & 7
    while pack[at] & 0x80:
        at += 1
    at += 1
    if kind == _REFERENCE_DELTA:
        return kind, pack[at : at + _HASH], at + _HASH
    if kind != _OFFSET_DELTA:
        return kind, 0, at
    distance = pack[at] & 0x7F
    while pack[at] & 0x80:
        at += 1
        distance = ((distance + 1) << 7) | (pack[at] & 0x7F)
    return kind, distance, at + 1


def _inflate(pack: bytes, at: int, limit: int) -> tuple[bytes, int]:
    """The stream at `at`, empty where it is larger than `limit`, and the place behind it.

    It is fed in small pieces: what zlib gets beyond the end of a stream it copies.
    """
    inflater = zlib.decompressobj()
    content = bytearray()
    while not inflater.eof:
        if at >= len(pack):
            raise zlib.error("the pack ends within an object")
        piece = pack[at : at + _CHUNK]
        at += len(piece)
        while piece and not inflater.eof:
            content += inflater.decompress(piece, limit)
            piece = inflater.unconsumed_tail
            if len(content) > limit:
                content.clear()
                limit = 1 << 62  # only its end is still of interest
    return bytes(content) if limit < 1 << 62 else b"", at - len(inflater.unused_data)


def _apply(base: bytes, delta: bytes, limit: int) -> bytes:
    """The object that a delta makes of its base; as far as the delta makes sense."""
    at = 0
    for _ in range(2):  # sizes of base and result
        while at < len(delta) and delta[at] & 0x80:
            at += 1
        at += 1
    made = bytearray()
    while at < len(delta) and len(made) < limit:
        code = delta[at]
        at += 1
        if not code & 0x80:
            made += delta[at : at + code]
            at += code
            continue
        numbers = []
        for bit in range(7):
            present = code >> bit & 1 and at < len(delta)
            numbers.append(delta[at] if present else 0)
            at += bool(present)
        offset = int.from_bytes(bytes(numbers[:4]), "little")
        size = int.from_bytes(bytes(numbers[4:]), "little") or 0x10000
        made += base[offset : offset + size]
    return bytes(made)
