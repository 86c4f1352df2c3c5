"""A study on disk, and what it must not be mixed with.

study.json                    the config, the versions, the seeds and held-out tasks by content
seeds/, held-out/             those tasks
candidates/                   every candidate, with what gold verification said
rewards.sqlite                rewards by what was done
cells/<regime>/<reader>/<replicate>/<arm>.json
results/<name>.json, .md      the analysis of the cells that are there, by the name of the config's file
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envs_forge import __version__
from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import read_bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.config import differing_keys
from envs_forge.errors import UserError
from envs_forge.files import new_directory, write_json, write_text
from envs_forge.study.cell import CellResult
from envs_forge.study.config import StudyConfig

SEEDS, HELD_OUT = "seeds", "held-out"
GROWING = frozenset({"replicates", "arms", "readers", "regimes", "claims", "in_turn"})
"""Keys that may be extended: cells that are there stay what they are."""

_PARTS = ("arms", "readers", "regimes")

CellKey = tuple[str, str, int, str]
"""Regime, reader, replicate, arm."""


class StudyDirectory:
    """Names of what lies in a study's directory.

    Args:
        root: Exists, and is held by one process.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def rewards(self) -> Path:
        """The remembered rewards."""
        return self.root / "rewards.sqlite"

    def results(self, name: str, suffix: str) -> Path:
        """A file of the analysis."""
        return self.root / "results" / f"{name}{suffix}"

    @property
    def verdicts(self) -> Path:
        """Where verdicts are kept, so that making the pools can be broken off too."""
        return self.root / "verdicts"

    @property
    def candidates(self) -> Path:
        """The candidates."""
        return self.root / "candidates"

    def begin(self, config: StudyConfig) -> None:
        """Keep the config, or refuse one that the study was not begun with. Several may share arms, readers, cells.

        Raises:
            UserError: Names the keys that differ.
        """
        path = self.root / "study.json"
        wanted = config.model_dump(mode="json")
        if path.is_file():
            known = json.loads(path.read_bytes())["config"]
            keys = [key for key in differing_keys(_fixed(known), _fixed(wanted))]
            keys += [f"{kind}.{name}" for kind, name in _changed_parts(known, wanted)]
            if keys:
                shown = ", ".join(keys[:8])
                raise UserError(f"{self.root} was begun with another config: {shown}", fix="choose another -o")
            wanted = _grown(known, wanted)
        elif any(entry.name not in (".in-use", "study.log") for entry in self.root.iterdir()):
            raise UserError(f"{self.root} is no study and not empty", fix="choose another directory with -o")
        write_json(path, {"schema_version": 1, "version": __version__, "config": wanted})

    def keep_tasks(self, name: str, bundles: list[Bundle]) -> None:
        """Keep the seeds or the held-out tasks, whole."""
        with new_directory(self.root / name, replace=True) as new:
            for place, bundle in enumerate(bundles):
                write_bundle(bundle.model_copy(update={"id": f"{place:03d}-{bundle.id.partition('-')[2]}"}), new)
            write_text(new / "hashes.json", json.dumps([content_hash(bundle) for bundle in bundles]))

    def tasks(self, name: str) -> list[Bundle] | None:
        """The seeds or the held-out tasks; None when they are not made yet."""
        if not (self.root / name / "hashes.json").is_file():
            return None
        return [read_bundle(path) for path in sorted((self.root / name).iterdir()) if path.is_dir()]

    def cell(self, key: CellKey) -> Path:
        """The file of a cell."""
        regime, reader, replicate, arm = key
        return self.root / "cells" / regime / reader / f"{replicate:03d}" / f"{arm}.json"

    def keep_cell(self, result: CellResult) -> None:
        """Keep a cell."""
        key = (result.regime, result.reader, result.replicate, result.arm)
        write_text(self.cell(key), result.model_dump_json() + "\n")

    def read_cell(self, key: CellKey) -> CellResult:
        """A cell that is there."""
        return CellResult.model_validate_json(self.cell(key).read_bytes())

    def cells(self, config: StudyConfig) -> list[CellResult]:
        """The cells of a config that are there, in the order of its grid."""
        return [self.read_cell(key) for key in grid(config) if self.cell(key).is_file()]


def grid(config: StudyConfig) -> Iterator[CellKey]:
    """All cells; one replicate after the other, so that what is there at any moment is a smaller study."""
    for replicate in range(config.replicates):
        for regime in config.regimes:
            for reader in config.readers_of(replicate):
                for arm in (arm for arm in config.arms if arm.takes_part(regime.name, reader.name, config)):
                    yield regime.name, reader.name, replicate, arm.name


def _fixed(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in GROWING}


def _grown(known: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """The config with the arms, readers and regimes of an earlier one too, so that none can come back as another."""
    grown = dict(wanted)
    for kind in _PARTS:
        names = {part["name"] for part in wanted[kind]}
        grown[kind] = [*wanted[kind], *(part for part in known[kind] if part["name"] not in names)]
    return grown


def _changed_parts(known: dict[str, Any], wanted: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Arms, readers and regimes that bear an old name and are something else. Where an arm takes part is no matter."""
    for kind in _PARTS:
        old = {part["name"]: part for part in known[kind]}
        for part in wanted[kind]:
            if part["name"] in old and set(differing_keys(old[part["name"]], part)) - {"only"}:
                yield kind, part["name"]
