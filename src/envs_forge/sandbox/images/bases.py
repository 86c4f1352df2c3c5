"""Decides, for each image that a Dockerfile names, whether the real one or a stand-in is used."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envs_forge.errors import InfrastructureError
from envs_forge.sandbox.images.base_map import BaseMap
from envs_forge.sandbox.images.local import LocalImages
from envs_forge.sandbox.images.registry import Registries, RegistryPolicy


@dataclass(frozen=True, slots=True)
class Resolution:
    """What to build with.

    Attributes:
        ids: Image named by the Dockerfile → id of the local image that is used for it, empty for a pull.
        substitutions: Image named by the Dockerfile → local image that stands in for it.
        missing: Images that are neither here, nor in reach, nor in the map.
    """

    ids: Mapping[str, str]
    substitutions: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class Bases:
    """Resolves base images and remembers what is here for the life of the process. Thread-safe.

    Args:
        local: The engine's images.
        base_map: Stand-ins.
        registries: Who to ask for what is not here.
        policy: When to ask.
    """

    def __init__(self, local: LocalImages, base_map: BaseMap, registries: Registries, policy: RegistryPolicy) -> None:
        self._local = local
        self._map = base_map
        self._registries = registries
        self._policy = policy
        self._ids: dict[str, str] = {}
        self._lock = threading.Lock()

    def as_named(self, names: Iterable[str]) -> Resolution | None:
        """Resolution with every image as the Dockerfile names it; None where that may not be wanted.

        It is what was built where a registry answered, so an image of it that is here needs no question asked.
        """
        ids = {name: self._id(name) for name in names}
        absent = [name for name, found in ids.items() if not found]
        if absent and self._policy is not RegistryPolicy.FIRST:
            return None
        return Resolution(ids)

    def resolve(self, names: Iterable[str]) -> Resolution:
        """Decide for each name.

        Raises:
            InfrastructureError: A stand-in that the map names is not here.
        """
        ids: dict[str, str] = {}
        substitutions: dict[str, str] = {}
        missing: list[str] = []
        for name in names:
            local = self._id(name)
            stand_in = self._map.stand_in(name)
            if local or self._pulled(name, stand_in):
                ids[name] = local
            elif stand_in is not None:
                ids[name], substitutions[name] = self._stand_in_id(name, stand_in), stand_in
            else:
                missing.append(name)
        return Resolution(ids, substitutions, tuple(missing))

    def _pulled(self, name: str, stand_in: str | None) -> bool:
        if self._policy is RegistryPolicy.NEVER or (self._policy is RegistryPolicy.LAST and stand_in is not None):
            return False
        return self._registries.has(name)

    def _stand_in_id(self, name: str, stand_in: str) -> str:
        found = self._id(stand_in)
        if not found:
            raise InfrastructureError(
                f"{stand_in}, which stands in for {name}, is not here", code="base-image", fix="run `make base-image`"
            )
        return found

    def _id(self, name: str) -> str:
        """Id of a local image, empty when it is not here. Asked once."""
        with self._lock:
            if name not in self._ids:
                found = self._local.find(name)
                self._ids[name] = found.id if found is not None else ""
            return self._ids[name]
