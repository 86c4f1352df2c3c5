"""Writes `tasks/<id>/` and `index.jsonl`, whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import read_bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.errors import InvariantError, UserError
from envs_forge.files import new_directory, write_text

TASKS, INDEX = "tasks", "index.jsonl"


class IndexLine(BaseModel):
    """What the index says of one environment."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    id: str
    path: str
    """Relative to the index."""
    content_hash: str
    """Of what was verified: without the name of a prebuilt image."""
    image: str = ""
    """The prebuilt image that its `task.toml` names, for readers that pull; empty where they build."""
    parent: str
    """Name of the seed."""
    parent_hash: str
    recipe: str
    action: str
    seed_pass_rate: float
    seed_k: float
    seed_n: int
    predicted_pass_rate: float
    frontier_score: float
    skills: tuple[str, ...] = ()
    generator: str
    verdict_digest: str
    isolation: str
    split: str = "train"


def write_export(root: Path, environments: Iterable[tuple[Bundle, IndexLine]]) -> int:
    """Write an export in the place of an earlier one.

    Args:
        root: The directory that gets `tasks` and `index.jsonl`.
        environments: Bundles, called by their ids, with their index lines.

    Returns:
        How many environments it holds.

    Raises:
        UserError: `root` holds something that is no export.
        InvariantError: An id twice, or a bundle that is not the one that its line names.
        DiskFullError: No room; an earlier export stays as it was.
    """
    refuse_foreign(root)
    pairs = list(environments)
    _check(pairs)
    with new_directory(root, replace=True) as new:
        (new / TASKS).mkdir()
        for bundle, line in pairs:
            written = write_bundle(bundle, new / TASKS)
            expected = content_hash(bundle) if line.image else line.content_hash
            if content_hash(read_bundle(written)) != expected:
                raise InvariantError(f"{line.id} on disk is not the bundle that was accepted")
        write_text(new / INDEX, "".join(f"{line.model_dump_json()}\n" for _, line in pairs))
    return len(pairs)


def refuse_foreign(root: Path) -> None:
    """Never replace a directory that is not an export.

    Raises:
        UserError: Something else lies there.
    """
    if root.is_dir() and not any(root.iterdir()):
        return
    if root.exists() and not (root / INDEX).is_file():
        raise UserError(f"{root} exists and is no export", fix="choose another directory with -o")


def _check(pairs: Sequence[tuple[Bundle, IndexLine]]) -> None:
    twice = [id_ for id_, count in Counter(line.id for _, line in pairs).items() if count > 1]
    if twice:
        raise InvariantError(f"environments with the same id: {', '.join(twice)}")
    for bundle, line in pairs:
        if (bundle.id, f"{TASKS}/{bundle.id}") != (line.id, line.path):
            raise InvariantError(f"the index calls {bundle.id} {line.id} at {line.path}")
