"""The layers of an image as directories on this host, uppermost first.

The docker engine's overlay2 store keeps each layer as a directory, and those are mounted as they lie. Where they
cannot be (containerd's image store, another driver, another host, shifted ids of a rootless engine), the image is
saved once and its layers are unpacked into a cache of ours; see `layer_cache`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs_forge.errors import EngineError
from envs_forge.sandbox.oci.layer_cache import LayerCache

if TYPE_CHECKING:
    import docker

IN_PLACE, EXPORTED = "the engine's own, in place", "exported once, cached"


@dataclass(frozen=True, slots=True)
class Layers:
    """An image's filesystem.

    Attributes:
        directories: Uppermost first.
        witnesses: Paths that the engine removes before it removes anything of a layer.
        how: `IN_PLACE` or `EXPORTED`.
    """

    directories: tuple[Path, ...]
    witnesses: tuple[Path, ...] = field(default=(), repr=False)
    how: str = IN_PLACE

    def check(self) -> None:
        """See that no layer has been pruned.

        Raises:
            EngineError: `layers-pruned`; whatever ran on them since the last check may have missed files.
        """
        for witness in self.witnesses:
            if not witness.is_symlink() and not witness.exists():
                raise EngineError(
                    "the docker engine removed layers of an image in use",
                    code="layers-pruned",
                    fix="do not prune images while they are in use, and resume",
                )


class LayerStore:
    """Finds layers, and remembers them.

    Args:
        connect: Opens a connection to the docker engine.
        cache: Folder for exported layers.
    """

    def __init__(self, connect: Callable[[], docker.APIClient], cache: Path) -> None:
        self._connect = connect
        self._client: docker.APIClient | None = None
        self._cache = LayerCache(cache)
        self._known: dict[str, Layers] = {}
        self._lock = threading.Lock()
        self._shifted: bool | None = None

    def find(self, image_id: str) -> Layers:
        """The layers of an image that the docker engine has.

        Raises:
            EngineError: It has no such image (`image-missing`), or does not answer.
        """
        with self._lock:
            known = self._known.get(image_id)
        if known is not None and all(directory.is_dir() for directory in known.directories):
            return known
        found = self._look(image_id)
        with self._lock:
            self._known[image_id] = found
        return found

    def ways(self) -> set[str]:
        """How the layers of the images seen so far are had."""
        with self._lock:
            return {layers.how for layers in self._known.values()}

    def _look(self, image_id: str) -> Layers:
        from docker.errors import ImageNotFound

        from envs_forge.sandbox.docker.connection import translated

        with self._lock:
            self._client = self._client or self._connect()
        client = self._client
        with translated("inspect an image"):
            try:
                inspected = client.inspect_image(image_id)
            except ImageNotFound as error:
                raise EngineError(f"the engine has no image {image_id}", code="image-missing") from error
            if self._shifted is None:
                self._shifted = _ids_are_shifted(client.info())
        found = None if self._shifted else _in_place(inspected)
        if found is not None:
            return found
        with translated("save an image"):
            return Layers(self._cache.ensure(image_id, lambda: client.get_image(image_id)), how=EXPORTED)


def _in_place(inspected: dict[str, Any]) -> Layers | None:
    driver = inspected.get("GraphDriver") or {}
    data = driver.get("Data") or {}
    if driver.get("Name") != "overlay2" or not data.get("UpperDir"):
        return None
    names = [data["UpperDir"], *(name for name in data.get("LowerDir", "").split(":") if name)]
    directories = tuple(Path(name) for name in names)
    try:
        witnesses = tuple(_short_name(directory) for directory in directories)
    except OSError:
        return None
    return Layers(directories, witnesses) if all(directory.is_dir() for directory in directories) else None


def _short_name(directory: Path) -> Path:
    """The link `<store>/l/<short>` of the layer `<store>/<id>/diff`."""
    short = (directory.parent / "link").read_text().strip()
    return directory.parent.parent / "l" / short


def _ids_are_shifted(info: dict[str, Any]) -> bool:
    """Whether the engine's files belong to other users than they say inside a container."""
    options = " ".join(info.get("SecurityOptions") or ())
    return "name=rootless" in options or "name=userns" in options
