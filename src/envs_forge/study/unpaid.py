"""What an arm gains when measuring costs nothing: all arms at the same number of rollouts of training.

The study charges an arm for what it measures. Where a pool is measured once for many sets of environments, or training
is long, that cost vanishes; then this is what is left to compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pydantic import BaseModel, ConfigDict

from envs_forge.study.cell import CellResult
from envs_forge.study.config import StudyConfig
from envs_forge.train.estimators import Estimate, PairedEstimate, mean_estimate, paired_estimate


class Unpaid(BaseModel):
    """One arm of one round in one regime, over all readers, when every arm has trained equally long."""

    model_config = ConfigDict(frozen=True)

    regime: str
    arm: str
    rollouts: int
    """Of training: what the arm with the shortest training had."""
    gain: Estimate
    """In held-out Pass@1, on a straight line between the looks before and after."""
    against: PairedEstimate | None
    """The reference minus this arm, in the cells that both have."""


def unpaid(config: StudyConfig, cells: Sequence[CellResult], reference: str) -> list[Unpaid]:
    """The rows of all regimes; arms of several rounds, which measure on the way, are left out."""
    arms = [arm.name for arm in config.arms if arm.rounds == 1]
    found: list[Unpaid] = []
    for regime in config.regimes:
        own = [cell for cell in cells if cell.regime == regime.name and cell.arm in arms and cell.training]
        if not own:
            continue
        shortest = min(cell.training for cell in own)
        gains = {
            arm: {(cell.reader, cell.replicate): gain_at(cell, shortest) for cell in own if cell.arm == arm}
            for arm in arms
        }
        for arm in filter(gains.__getitem__, arms):
            found.append(
                Unpaid(
                    regime=regime.name,
                    arm=arm,
                    rollouts=shortest,
                    gain=mean_estimate(
                        list(gains[arm].values()), [replicate for _, replicate in gains[arm]], support=(-1.0, 1.0)
                    ),
                    against=_paired(gains.get(reference, {}), gains[arm]) if arm != reference else None,
                )
            )
    return found


def gain_at(cell: CellResult, rollouts: int) -> float:
    """Gain of a cell after so many rollouts of training, at most those that it had."""
    curve = [(look.rollouts - cell.measuring, look.pass_at_1 - cell.base) for look in cell.looks]
    for (before, low), (after, high) in pairwise(curve):
        if before <= rollouts <= after and after > before:
            return low + (high - low) * (rollouts - before) / (after - before)
    return curve[-1][1]


_Gains = dict[tuple[str, int], float]


def _paired(one: _Gains, other: _Gains) -> PairedEstimate | None:
    def named(gains: _Gains) -> dict[str, float]:
        return {f"{reader}/{replicate}": gain for (reader, replicate), gain in gains.items()}

    clusters = {f"{reader}/{replicate}": replicate for reader, replicate in (*one, *other)}
    return paired_estimate(named(one), named(other), clusters=clusters)
