"""The seeds of a run: found, checked and hashed before anything is started."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from envs_forge.bundle.check import check_bundle
from envs_forge.bundle.finding import BundleError, errors_of
from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.reading import read_bundle
from envs_forge.errors import UserError


@dataclass(frozen=True)
class Seed:
    """One task that environments are made from."""

    bundle: Bundle
    hash: str
    path: Path

    @property
    def id(self) -> str:
        """Its name for people: that of its directory."""
        return self.bundle.id


def select_paths(
    paths: Iterable[str | Path],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    limit: int | None = None,
) -> list[Path]:
    """Task directories under `paths` whose names fit, sorted by name.

    Raises:
        UserError: A path is not there or holds no task, or nothing is left of them.
    """
    if limit is not None and limit < 1:
        raise UserError(f"the limit must be at least 1, not {limit}")
    found = sorted(find_bundles(paths), key=lambda path: (path.resolve().name, str(path)))
    kept = [path for path in found if _fits(path.resolve().name, include, exclude)]
    if not kept:
        raise UserError(f"none of the {len(found)} tasks has a name that -i and -x let through", fix="change the globs")
    return kept[:limit]


def load_seeds(paths: Iterable[Path]) -> list[Seed]:
    """Read and check task directories. Those with the content of an earlier one are left out.

    Raises:
        UserError: One line that names every task that cannot be used, or a name that two tasks share.
    """
    seeds: dict[str, Seed] = {}
    faults: list[str] = []
    for path in paths:
        try:
            bundle = read_bundle(path)
            findings = errors_of(check_bundle(bundle))
            if findings:
                raise BundleError(str(path), findings)
        except BundleError as error:
            faults.append(error.message)
            continue
        seed = Seed(bundle, content_hash(bundle), path.resolve())
        seeds.setdefault(seed.hash, seed)
    if faults:
        shown = "; ".join(faults[:5]) + (f"; and {len(faults) - 5} more tasks" if len(faults) > 5 else "")
        raise UserError(shown, fix="mend them or leave them out with -x")
    _refuse_shared_names(seeds.values())
    return list(seeds.values())


def _fits(name: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    wanted = not include or any(fnmatch.fnmatchcase(name, glob) for glob in include)
    return wanted and not any(fnmatch.fnmatchcase(name, glob) for glob in exclude)


def _refuse_shared_names(seeds: Iterable[Seed]) -> None:
    places: dict[str, Path] = {}
    for seed in seeds:
        other = places.setdefault(seed.id, seed.path)
        if other != seed.path:
            raise UserError(
                f"two different tasks are called {seed.id}: {other} and {seed.path}", fix="rename one of them"
            )
