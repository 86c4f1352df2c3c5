"""Tar archives in and out of sandboxes: packs a bundle's files, and reads what a hostile sandbox sends back.

The reader trusts nothing: names, links, types, sizes and the number of entries are checked or capped, and nothing
is ever written outside the directory that it is given. Only regular files and directories come out; links, devices
and the rest are named, not made.
"""

from __future__ import annotations

import io
import os
import struct
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, BinaryIO, cast

from envs_forge.bundle.model import BundleFile
from envs_forge.sandbox.engine import MiB

SPOOL_BYTES = 8 * MiB
BLOCK = 64 * 1024


class ArchiveError(ValueError):
    """The archive is malformed or larger than allowed; the message says which, in one line."""


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """The most that is read of an archive. `name` is in characters, the rest in bytes or entries."""

    total: int = 1024 * MiB
    file: int = 256 * MiB
    entries: int = 100_000
    name: int = 4096


DEFAULT_LIMITS = ArchiveLimits()


class Kind(StrEnum):
    """What an entry is."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an archive. A file's content can be read until the next entry is asked for."""

    name: str
    kind: Kind
    size: int = 0
    mode: int = 0
    target: str = ""
    content: IO[bytes] | None = None

    def read(self, most: int = -1) -> bytes:
        """Up to `most` bytes of a file's content, all of it by default.

        Raises:
            ArchiveError: It is cut off, or the archive is larger than allowed.
        """
        with _checked():
            return self.content.read(most) if self.content is not None else b""


def pack(
    files: Mapping[str, BundleFile],
    *,
    directories: Mapping[str, int] | None = None,
    executable: str | None = None,
) -> BinaryIO:
    """An uncompressed tar of `files`, all of root's, ready to be read from its start.

    Args:
        files: Path relative to where it will be unpacked → file or link.
        directories: Directories to make first → mode.
        executable: The one path that gets its run bits whatever its mode says.
    """
    spool = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115 - the caller's
    now = int(time.time())
    with tarfile.open(fileobj=spool, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, mode in (directories or {}).items():
            tar.addfile(_header(path, tarfile.DIRTYPE, mode, now))
        for path, file in files.items():
            if file.target is not None:
                info = _header(path, tarfile.SYMTYPE, 0o777, now)
                info.linkname = file.target
                tar.addfile(info)
                continue
            info = _header(path, tarfile.REGTYPE, file.mode | (0o111 if path == executable else 0), now)
            info.size = len(file.data)
            tar.addfile(info, io.BytesIO(file.data))
    spool.seek(0)
    return cast(BinaryIO, spool)


def entries(stream: BinaryIO, limits: ArchiveLimits = DEFAULT_LIMITS) -> Iterator[Entry]:
    """Read a hostile tar stream entry by entry.

    Raises:
        ArchiveError: It is no tar, or it is beyond a limit.
    """
    source = cast(BinaryIO, _Metered(stream, limits.total))
    with _checked(), tarfile.open(fileobj=source, mode="r|", bufsize=BLOCK) as tar:
        count = 0
        while (info := tar.next()) is not None:
            count += 1
            if count > limits.entries:
                raise ArchiveError(f"more than {limits.entries} entries")
            yield _entry(tar, info, limits)
            tar.members.clear()  # type: ignore[attr-defined] # or it would remember them all


def read_files(stream: BinaryIO, limits: ArchiveLimits = DEFAULT_LIMITS) -> dict[str, BundleFile]:
    """All regular files and links of a hostile tar in memory, by name; the rest is left out.

    Raises:
        ArchiveError: See `entries`.
    """
    files: dict[str, BundleFile] = {}
    for entry in entries(stream, limits):
        if entry.kind is Kind.FILE:
            files[entry.name] = BundleFile(data=entry.read(), mode=entry.mode)
        elif entry.kind is Kind.LINK:
            files[entry.name] = BundleFile(target=entry.target)
    return files


def extract(stream: BinaryIO, target: Path, limits: ArchiveLimits = DEFAULT_LIMITS) -> list[str]:
    """Unpack regular files and directories of a hostile tar under `target`, which must be new and empty.

    Links are never made, so no entry can lead another one astray. The first of two entries of one name stays.

    Returns:
        The names that were left out.

    Raises:
        ArchiveError: See `entries`. What came before lies under `target`.
    """
    left_out = []
    for entry in entries(stream, limits):
        try:
            done = _place(entry, target)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            done = False
        if not done:
            left_out.append(entry.name)
    return left_out


def _place(entry: Entry, target: Path) -> bool:
    place = target.joinpath(*entry.name.split("/"))
    if entry.kind is Kind.DIRECTORY:
        place.mkdir(parents=True, exist_ok=True)
        return True
    if entry.kind is not Kind.FILE:
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600 | entry.mode & 0o755)
    with os.fdopen(descriptor, "wb") as file:
        while block := entry.read(BLOCK):
            file.write(block)
    return True


def _entry(tar: tarfile.TarFile, info: tarfile.TarInfo, limits: ArchiveLimits) -> Entry:
    name = _clean(info.name, limits)
    mode = info.mode & 0o777
    if info.isdir():
        return Entry(name, Kind.DIRECTORY, mode=mode)
    if info.issym() or info.islnk():
        return Entry(name, Kind.LINK, mode=mode, target=info.linkname)
    if not info.isreg() or info.sparse is not None:
        return Entry(name, Kind.OTHER, mode=mode)
    if info.size > limits.file:
        raise ArchiveError(f"a file of more than {limits.file} bytes")
    return Entry(name, Kind.FILE, info.size, mode, content=tar.extractfile(info))


def _clean(name: str, limits: ArchiveLimits) -> str:
    """The name without `./` and a trailing slash.

    Raises:
        ArchiveError: It leads out of the archive, or is no name.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise ArchiveError(f"a name that leads out of the archive: {name[:80]!r}")
    if len(name) > limits.name:
        raise ArchiveError(f"a name of more than {limits.name} characters")
    return "/".join(parts)


def _header(path: str, kind: bytes, mode: int, now: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type = kind
    info.mode = mode & 0o777
    info.mtime = now
    return info


@contextmanager
def _checked() -> Iterator[None]:
    """Turn what the standard library makes of a malformed archive into `ArchiveError`."""
    try:
        yield
    except ArchiveError:
        raise
    except (tarfile.TarError, ValueError, EOFError, OverflowError, LookupError, struct.error) as error:
        raise ArchiveError(f"not a readable tar: {error}") from error


class _Metered:
    """Counts what is read and stops at a limit, so that no header can claim the memory."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._left = limit

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError("the archive is larger than allowed")
        return data
