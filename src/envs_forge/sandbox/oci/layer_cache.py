"""A cache of image layers as directories, filled from `docker save`, layer by layer.

A layer that several images share is kept once, so a thousand small images on one base cost little more than the
base. Shared by all processes: a layer is unpacked beside its place and moved there when it is whole.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import io
import json
import os
import posixpath
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from envs_forge.errors import DiskFullError, EngineError
from envs_forge.sandbox import owner
from envs_forge.sandbox.chunks import ChunkReader
from envs_forge.sandbox.oci.layer_trim import LOCK, default_limit, layer_uses, locked, remove_layer, trim
from envs_forge.sandbox.oci.rootfs import Root
from envs_forge.sandbox.oci.unpack import unpack

LARGEST_JSON = 16 * 1024 * 1024
SCRATCH = "new-"
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"


class LayerCache:
    """Layers by the digest of their archive.

    Args:
        folder: `<folder>/<digest>/` are layers, `<folder>/images/<image id>.json` say which make an image.
        limit: Bytes beyond which images that nobody uses are dropped, those not used for longest first.
    """

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        self._folder = folder
        self._limit = limit if limit is not None else default_limit()
        self._uses = layer_uses(folder)

    def ensure(self, image_id: str, save: Callable[[], Iterable[bytes]]) -> tuple[Path, ...]:
        """The layers of an image, uppermost first.

        Args:
            image_id: Its digest.
            save: Yields the image as `docker save` writes it; called when something is missing.

        Raises:
            EngineError: What came is no image.
            DiskFullError: There is no room for it.
        """
        (self._folder / "images").mkdir(mode=0o700, parents=True, exist_ok=True)
        record = self._folder / "images" / f"{image_id.replace(':', '-')}.json"
        with locked(self._folder / LOCK, fcntl.LOCK_SH), locked(record.with_suffix(".lock")):
            self._uses.note(record.name)
            layers = self._recorded(record)
            filled = layers is None
            if layers is None:
                try:
                    layers = self._fill(save())
                except OSError as error:
                    if error.errno == errno.ENOSPC:
                        raise DiskFullError("the disk is full: an image's layers could not be unpacked") from error
                    raise EngineError(f"an image's layers could not be unpacked: {error}") from error
                _write_whole(record, json.dumps([layer.name for layer in layers]))
        if filled:
            trim(self._folder, self._limit)
        return layers

    def _recorded(self, record: Path) -> tuple[Path, ...] | None:
        try:
            layers = tuple(self._folder / name for name in json.loads(record.read_text()))
        except (OSError, ValueError):
            return None
        return layers if all(layer.is_dir() for layer in layers) else None

    def _fill(self, chunks: Iterable[bytes]) -> tuple[Path, ...]:
        """Unpack every layer of a saved image that is not here yet."""
        layers: dict[str, Path] = {}
        manifest: Any = None
        with tarfile.open(fileobj=_readable(chunks), mode="r|") as archive:
            for member in archive:
                archive.members = []  # type: ignore[attr-defined]  # a stream is read once: its past need not be kept
                if member.issym() or member.islnk():
                    layers[member.name] = layers[_link_target(member)]
                elif member.name == "manifest.json":
                    manifest = json.loads(_content(archive, member).read(LARGEST_JSON))
                elif (member.isreg() and member.name.startswith("blobs/")) or member.name.endswith("/layer.tar"):
                    self._unpack(member.name, _content(archive, member), layers)
        try:
            return tuple(layers[str(name)] for name in reversed(manifest[0]["Layers"]))
        except (LookupError, TypeError) as error:
            raise EngineError("the engine saved an image without a manifest that fits it") from error

    def _unpack(self, name: str, content: IO[bytes], layers: dict[str, Path]) -> None:
        place = self._folder / name.removeprefix("blobs/").replace("/", "-")
        start = content.peek(4)[:4] if isinstance(content, io.BufferedReader) else b""
        if start[:1] == b"{":
            return
        if start == ZSTD:
            raise EngineError("an image has layers compressed with zstd", code="layer-format", fix="pull it again")
        if not place.is_dir():
            with _scratch(self._folder) as scratch, Root(scratch) as root:
                unpack(root, "/", _plain(content, start), layer=True)
                with contextlib.suppress(FileExistsError):  # another process was faster
                    scratch.rename(place)
        layers[name] = place


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(member)
    if content is None:
        raise EngineError(f"the engine saved an image in which {member.name} is no file")
    return content


def _plain(content: IO[bytes], start: bytes) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=content)) if start[:2] == GZIP else content


def _link_target(member: tarfile.TarInfo) -> str:
    if member.islnk():
        return member.linkname
    return posixpath.normpath(posixpath.join(posixpath.dirname(member.name), member.linkname))


def _readable(chunks: Iterable[bytes]) -> IO[bytes]:
    return io.BufferedReader(ChunkReader(chunks))


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A directory that is removed at the end unless it has moved elsewhere."""
    path = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{owner.current().mark()}-", dir=folder))
    path.chmod(0o755)
    try:
        yield path
    finally:
        if path.exists():
            remove_layer(path)


def half_done(folder: Path) -> list[Path]:
    """What dead processes were unpacking."""
    return sorted(path for path in folder.glob(f"{SCRATCH}*") if _is_dead(path))


def remove_half_done(folder: Path) -> int:
    """Remove what dead processes were unpacking; returns how many directories that was."""
    dead = half_done(folder)
    for path in dead:
        remove_layer(path)
    return len(dead)


def _is_dead(scratch: Path) -> bool:
    who = owner.parse(scratch.name.removeprefix(SCRATCH).partition("-")[0])
    return who is not None and who.is_dead()


def _write_whole(path: Path, text: str) -> None:
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_text(text)
    scratch.replace(path)
