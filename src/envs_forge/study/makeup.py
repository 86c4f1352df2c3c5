"""What the environments of each arm were like, and what a group that taught anything was worth: the why of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.reading import read_bundle
from envs_forge.study.candidates import BUNDLE, RECORD, Record
from envs_forge.study.cell import CellResult, Child
from envs_forge.study.config import StudyConfig
from envs_forge.study.pools import chain_of

Size = tuple[int, int]
"""Steps, and constraints on them."""
LOW, HIGH = 0.1, 0.9


class Makeup(BaseModel):
    """One arm in one regime, over all readers. None where there is nothing to take a mean of."""

    model_config = ConfigDict(frozen=True)

    regime: str
    arm: str
    steps: float | None
    """Mean steps of an environment."""
    constraints: float | None
    """Mean constraints of an environment, over all its steps."""
    measured: float | None
    """Mean pass rate of the policy that they were made for."""
    edge: float | None
    """Share with a measured pass rate between 0.1 and 0.9."""
    mixed_groups: float
    """Groups of a cell's training whose rewards differed."""
    gain_per_mixed: float | None
    """Gain in held-out Pass@1 by mixed group."""


def sizes(root: Path) -> dict[str, Size]:
    """Size of every accepted candidate, by content hash.

    Args:
        root: Where the candidates are kept.
    """
    found: dict[str, Size] = {}
    for path in sorted(root.glob(f"*/{RECORD}")):
        record = Record.model_validate_json(path.read_bytes())
        if record.accepted:
            uses = chain_of(read_bundle(path.parent / BUNDLE))
            found[record.content_hash] = (len(uses), sum(len(use.knobs) for use in uses))
    return found


def makeup(config: StudyConfig, cells: Sequence[CellResult], known: Mapping[str, Size]) -> list[Makeup]:
    """The rows of all regimes and arms that have cells.

    Args:
        config: The study.
        cells: Some or all of its cells.
        known: See `sizes`; environments that are not in it have no part in the means of sizes.
    """
    places = [(regime.name, arm.name) for regime in config.regimes for arm in config.arms]
    groups = {place: [cell for cell in cells if (cell.regime, cell.arm) == place] for place in places}
    return [_row(*place, own, known) for place, own in groups.items() if own]


def _row(regime: str, arm: str, cells: Sequence[CellResult], known: Mapping[str, Size]) -> Makeup:
    children = [child for cell in cells for child in cell.children]
    sized = [known[child.content_hash] for child in children if child.content_hash in known]
    rates = [_rate(child) for child in children if child.n]
    mixed = sum(cell.mixed for cell in cells)
    gained = sum(cell.trained - cell.base for cell in cells)
    return Makeup(
        regime=regime,
        arm=arm,
        steps=_mean([float(steps) for steps, _ in sized]),
        constraints=_mean([float(constraints) for _, constraints in sized]),
        measured=_mean(rates),
        edge=_mean([float(LOW <= rate <= HIGH) for rate in rates]),
        mixed_groups=mixed / len(cells),
        gain_per_mixed=gained / mixed if mixed else None,
    )


def _rate(child: Child) -> float:
    return child.k / child.n


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
