"""Environments of a study with what was predicted and measured, for calibration. Runs nothing."""

from __future__ import annotations

from pathlib import Path

from envs_forge.errors import UserError
from envs_forge.plan.model import ACTIONS
from envs_forge.plan.transition.model import Child
from envs_forge.study.cell import CellResult

_BY_NAME = {str(action): action for action in ACTIONS}


def is_study(root: Path) -> bool:
    """Whether a directory holds cells of a study."""
    return (root / "cells").is_dir() and (root / "study.json").is_file()


def study_children(root: Path) -> list[Child]:
    """Every environment that an arm of a study made after measuring, once for each untrained reader.

    Arms that measure nothing are left out: what they were told of a seed is not what they chose by.

    Raises:
        UserError: There are none.
    """
    found: dict[tuple[str, int, str], Child] = {}
    for path in sorted((root / "cells").glob("*/*/*/*.json")):
        cell = CellResult.model_validate_json(path.read_bytes())
        if not cell.measuring:
            continue
        for child in cell.children:
            key = (cell.reader, cell.replicate, child.content_hash)
            found[key] = Child(
                action=_BY_NAME[child.action],
                k=child.seed_k,
                n=child.seed_n,
                child_k=child.k,
                child_n=child.n,
                predicted=child.predicted,
            )
    if not found:
        raise UserError(f"{root} has no environment of an arm that measures yet", fix="run more of its cells")
    return list(found.values())
