"""Writes a bundle's environment/ to a directory, as the context of a build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from envs_forge.bundle.model import BundleFile

FOLDER = "environment/"
DOCKERFILE = "Dockerfile"


def environment_files(files: Mapping[str, BundleFile]) -> dict[str, BundleFile]:
    """The files under environment/, by their path relative to it, sorted."""
    return {path.removeprefix(FOLDER): files[path] for path in sorted(files) if path.startswith(FOLDER)}


def write_context(files: Mapping[str, BundleFile], target: Path) -> None:
    """Write `files` under the empty directory `target`.

    Links are made last and never written through, so a path below a link is an error, not an escape.

    Raises:
        ValueError: A path leaves `target`, or lies below a link or a file.
    """
    links = []
    for path, file in files.items():
        place = _inside(target, path)
        if file.target is not None:
            links.append((place, file.target))
            continue
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.data)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise ValueError(f"{path} lies below a file") from error
        place.chmod(file.mode & 0o777)
    for place, link in links:
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            raise ValueError(f"a path lies below the link {place.name}")
        place.symlink_to(link)


def _inside(target: Path, path: str) -> Path:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise ValueError(f"{path} leaves environment/")
    return target.joinpath(*parts)
