"""The files of an image, layer by layer. Everything in them is hostile; links are never followed.

Where the engine's layers lie on this machine's disk they are read there; else the image is exported. Layers of the
images that a Dockerfile starts from are left out: they were there before the task.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs_forge.bundle.links import find_file
from envs_forge.bundle.model import Bundle
from envs_forge.gold.leak.index import INDEX_VERSION, ContentIndex
from envs_forge.sandbox.docker.connection import connect, translated
from envs_forge.sandbox.images.dockerfile import DockerfileError, decode, parse
from envs_forge.sandbox.images.rewrite import references

if TYPE_CHECKING:
    import docker

MAX_FILE = 64 * 1024 * 1024
"""Bytes of one file that are looked at."""
_TIMEOUT_S = 600
_DOCKERFILE = "environment/Dockerfile"

Files = Iterator[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class ImageLayers:
    """What inspection says of an image: its layers, bottom first, and where they lie, if they lie on this disk."""

    digests: tuple[str, ...]
    directories: tuple[Path, ...]
    environment: tuple[str, ...]


class LayerReader:
    """Indices of an image's own layers, each made once.

    Args:
        cache: Directory where indices are kept.
        client: Connection to the engine; default the one that the `docker` command uses.
    """

    def __init__(self, cache: Path, client: docker.APIClient | None = None) -> None:
        self._cache = cache
        self._client = client or connect(_TIMEOUT_S)

    def indices(self, image_id: str, bundle: Bundle, substitutions: Mapping[str, str]) -> list[ContentIndex]:
        """What the layers hold that the bundle's build has added, and the image's variables.

        Args:
            image_id: The built image.
            bundle: Whose Dockerfile names the base images.
            substitutions: Named base image → local one that stood in for it.

        Raises:
            InfrastructureError: The engine failed.
        """
        with translated("read the image's layers"):
            image = self._inspect(image_id)
            base = self._base_length(image, bundle, substitutions)
            found = self._layers(image_id, image, range(base, len(image.digests)))
        variables = "\n".join(image.environment).encode()
        return [*found, ContentIndex.of([("image variables", variables)])]

    def _inspect(self, name: str) -> ImageLayers:
        facts: dict[str, Any] = self._client.inspect_image(name)
        digests = tuple(facts.get("RootFS", {}).get("Layers") or ())
        places = (facts.get("GraphDriver") or {}).get("Data") or {}
        joined = [places.get("UpperDir") or "", *(places.get("LowerDir") or "").split(":")]
        directories = tuple(Path(path) for path in reversed(joined) if path)
        if len(directories) != len(digests) or not all(os.access(path, os.R_OK | os.X_OK) for path in directories):
            directories = ()
        return ImageLayers(digests, directories, tuple((facts.get("Config") or {}).get("Env") or ()))

    def _base_length(self, image: ImageLayers, bundle: Bundle, substitutions: Mapping[str, str]) -> int:
        """How many of the bottom layers are those of an image that the Dockerfile names."""
        longest = 0
        for name in _base_names(bundle):
            try:
                digests = self._inspect(substitutions.get(name, name)).digests
            except Exception:  # an image that is gone by now hides nothing: then all layers are looked at
                continue
            if image.digests[: len(digests)] == digests:
                longest = max(longest, len(digests))
        return longest

    def _layers(self, image_id: str, image: ImageLayers, wanted: Iterable[int]) -> list[ContentIndex]:
        found: list[ContentIndex] = []
        absent: list[str] = []
        for place in wanted:
            digest = image.digests[place]
            index = ContentIndex.load(self._path(digest))
            if index is None and image.directories:
                index = self._keep(digest, directory_files(image.directories[place]))
            if index is None:
                absent.append(digest)
            else:
                found.append(index)
        return found + (self._exported(image_id, absent, image.digests) if absent else [])

    def _exported(self, image_id: str, wanted: Sequence[str], known: Sequence[str]) -> list[ContentIndex]:
        """Indices from an export. What bears no layer's digest (older engines, compressed stores) is taken too."""
        found: list[ContentIndex] = []
        with tarfile.open(fileobj=_Chunks(self._client.get_image(image_id)), mode="r|") as export:
            for member in export:
                digest = "sha256:" + member.name.rpartition("/")[2]
                stream = export.extractfile(member) if member.isreg() else None
                if stream is None or (digest in known and digest not in wanted):
                    continue
                if digest in wanted:
                    found.append(self._keep(digest, tar_files(stream)))
                elif member.name.startswith("blobs/") or member.name.endswith("/layer.tar"):
                    found.append(ContentIndex.of(tar_files(stream)))
        return found

    def _keep(self, digest: str, files: Files) -> ContentIndex:
        index = ContentIndex.of(files)
        index.save(self._path(digest))
        return index

    def _path(self, digest: str) -> Path:
        return self._cache / INDEX_VERSION / f"{digest.replace(':', '-').replace('/', '_')}.npz"


def _base_names(bundle: Bundle) -> list[str]:
    file = find_file(bundle.files, _DOCKERFILE)
    if file is None:
        return []
    try:
        return [reference.name for reference in references(parse(decode(file.data)))]
    except DockerfileError:
        return []


def directory_files(root: Path) -> Files:
    """Path and content of each regular file below `root`."""
    for directory, _, names in os.walk(root):
        for name in sorted(names):
            path = Path(directory, name)
            content = _read(path)
            if content is not None:
                yield str(path.relative_to(root)), content


def _read(path: Path) -> bytes | None:
    """The beginning of a regular file; None for everything else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read(MAX_FILE) if stat.S_ISREG(os.fstat(handle).st_mode) else None


def tar_files(stream: Any) -> Files:
    """Path and content of each regular file of a layer's archive."""
    try:
        with tarfile.open(fileobj=stream, mode="r|*") as layer:
            for member in layer:
                file = layer.extractfile(member) if member.isreg() else None
                if file is not None:
                    yield member.name.removeprefix("./"), file.read(MAX_FILE)
    except tarfile.ReadError:
        return


class _Chunks(io.RawIOBase):
    """An iterator of byte strings as a stream."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            try:
                self._rest = next(self._chunks)
            except StopIteration:
                return 0
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
