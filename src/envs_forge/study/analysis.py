"""The analysis of a study, fixed before it is run.

The unit is the replicate: within one, all arms share readers, pools, measurements and dice, so arms are compared by
their differences within replicates, and readers of several strengths in one replicate are one cluster. What is compared
is held-out Pass@1 after training. Intervals are Student's, at 95 %, and not corrected for the number of comparisons.

The best fixed recipe of a claim is the arm among `fixed_recipes` that comes closest to the claim's arm over the same
cells: it is picked after the fact, in its favour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from envs_forge.plan.settings import Recipe
from envs_forge.study.cell import CellResult
from envs_forge.study.config import ArmConfig, StudyConfig
from envs_forge.study.directory import grid
from envs_forge.study.makeup import Makeup, Size, makeup
from envs_forge.study.unpaid import Unpaid, unpaid
from envs_forge.train.estimators import Estimate, PairedEstimate, mean_estimate, paired_estimate

REFERENCE = "forge"
"""The arm that the others are compared with."""
ALL_READERS = "all"


class ArmRow(BaseModel):
    """One arm in one regime, for one kind of reader or for all."""

    model_config = ConfigDict(frozen=True)

    regime: str
    reader: str
    arm: str
    cells: int
    replicates: int
    base: Estimate
    trained: Estimate
    gain: Estimate
    """Trained minus base, in the same cells."""
    against: PairedEstimate | None
    """The reference minus this arm; None for the reference itself and where no cells are shared."""
    mixed: float | None
    """Share of groups of the first pass whose rewards differ."""
    mixed_all: float | None
    """The same over the whole training."""
    accepted: float
    """Environments of N."""
    attempts_per_accepted: float | None
    short: int
    """Cells that did not reach N."""
    measuring: float
    training: float
    """Rollouts of a cell."""
    dropped: int


class Claim(BaseModel):
    """An arm against the best fixed recipe in one regime."""

    model_config = ConfigDict(frozen=True)

    regime: str
    reader: str
    arm: str
    best_fixed: str
    difference: PairedEstimate


class Calibration(BaseModel):
    """Predicted against measured pass rates of the accepted environments, by action."""

    model_config = ConfigDict(frozen=True)

    arm: str
    action: str
    children: int
    predicted: float
    measured: float
    mean_absolute_error: float
    brier: float
    """Mean squared error."""
    mixed: float
    """Share of the children whose group was mixed."""


class Analysis(BaseModel):
    """What the cells amount to."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    cells: int
    of_cells: int
    rows: tuple[ArmRow, ...]
    claims: tuple[Claim, ...]
    calibration: tuple[Calibration, ...]
    """Of the arms that claim something, over all regimes and readers."""
    makeup: tuple[Makeup, ...] = ()
    unpaid: tuple[Unpaid, ...] = ()


def analyse(
    config: StudyConfig, cells: Sequence[CellResult], sizes: Mapping[str, Size] = MappingProxyType({})
) -> Analysis:
    """Analyse the cells that are there.

    Args:
        config: The study.
        cells: Some or all of its cells.
        sizes: How large environments are, by content hash.
    """
    rows: list[ArmRow] = []
    claims: list[Claim] = []
    readers = [reader.name for reader in config.readers]
    for regime in config.regimes:
        for reader in [*readers, *([ALL_READERS] if len(readers) > 1 else [])]:
            own = [c for c in cells if c.regime == regime.name and reader in (c.reader, ALL_READERS)]
            arms = [arm for arm in config.arms if reader != ALL_READERS or _everywhere(config, arm, regime.name)]
            by_arm = {arm.name: [cell for cell in own if cell.arm == arm.name] for arm in arms}
            rows += [_row(regime.name, reader, name, by_arm, config.size) for name in by_arm if by_arm[name]]
            claims += [claim for arm in config.claims for claim in _claim(config, regime.name, reader, arm, by_arm)]
    calibration = [row for arm in config.claims for row in _calibration(arm, cells)]
    return Analysis(
        cells=len(cells),
        of_cells=len(list(grid(config))),
        rows=tuple(rows),
        claims=tuple(claims),
        calibration=tuple(calibration),
        makeup=tuple(makeup(config, cells, sizes)),
        unpaid=tuple(unpaid(config, cells, REFERENCE)),
    )


def _everywhere(config: StudyConfig, arm: ArmConfig, regime: str) -> bool:
    """Whether an arm meets all kinds of readers; a mean over some of them is no mean over all."""
    return all(arm.takes_part(regime, reader.name, config) for reader in config.readers)


def fixed_recipes(config: StudyConfig) -> list[str]:
    """The arms that are a fixed recipe and not an ablation of ours."""
    return [arm.name for arm in config.arms if arm.recipe is not Recipe.FORGE]


ByArm = Mapping[str, Sequence[CellResult]]


def _row(regime: str, reader: str, arm: str, by_arm: ByArm, size: int) -> ArmRow:
    cells = by_arm[arm]
    accepted = sum(cell.accepted for cell in cells)
    return ArmRow(
        regime=regime,
        reader=reader,
        arm=arm,
        cells=len(cells),
        replicates=len({cell.replicate for cell in cells}),
        base=_mean(cells, lambda cell: cell.base),
        trained=_mean(cells, lambda cell: cell.trained),
        gain=_mean(cells, lambda cell: cell.trained - cell.base, support=(-1.0, 1.0)),
        against=_paired(by_arm.get(REFERENCE, ()), cells) if arm != REFERENCE else None,
        mixed=_share(cells, lambda cell: cell.first_mixed, lambda cell: cell.first_groups),
        mixed_all=_share(cells, lambda cell: cell.mixed, lambda cell: cell.groups),
        accepted=accepted / len(cells),
        attempts_per_accepted=sum(cell.attempts for cell in cells) / accepted if accepted else None,
        short=sum(cell.accepted < size for cell in cells),
        measuring=sum(cell.measuring for cell in cells) / len(cells),
        training=sum(cell.training for cell in cells) / len(cells),
        dropped=sum(cell.dropped for cell in cells),
    )


def _claim(config: StudyConfig, regime: str, reader: str, arm: str, by_arm: ByArm) -> list[Claim]:
    reference = by_arm.get(arm, ())
    pairs = {name: _paired(reference, by_arm[name]) for name in fixed_recipes(config) if by_arm.get(name)}
    known = {name: pair for name, pair in pairs.items() if pair is not None}
    if not known:
        return []
    best = min(known, key=lambda name: known[name].difference.value)
    return [Claim(regime=regime, reader=reader, arm=arm, best_fixed=best, difference=known[best])]


def _paired(one: Sequence[CellResult], other: Sequence[CellResult]) -> PairedEstimate | None:
    clusters = {_place(cell): cell.replicate for cell in (*one, *other)}
    left = {_place(cell): cell.trained for cell in one}
    right = {_place(cell): cell.trained for cell in other}
    return paired_estimate(left, right, clusters=clusters)


def _place(cell: CellResult) -> str:
    return f"{cell.reader}/{cell.replicate}"


def _mean(
    cells: Sequence[CellResult], value: Callable[[CellResult], float], support: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    return mean_estimate([value(cell) for cell in cells], [cell.replicate for cell in cells], support=support)


def _share(
    cells: Sequence[CellResult], part: Callable[[CellResult], int], whole: Callable[[CellResult], int]
) -> float | None:
    total = sum(map(whole, cells))
    return sum(map(part, cells)) / total if total else None


def _calibration(arm: str, cells: Iterable[CellResult]) -> list[Calibration]:
    children = [child for cell in cells if cell.arm == arm for child in cell.children if child.n]
    found: list[Calibration] = []
    for action in [*sorted({child.action for child in children}), *(["all"] if children else [])]:
        own = [child for child in children if action in (child.action, "all")]
        errors = [child.predicted - child.k / child.n for child in own]
        found.append(
            Calibration(
                arm=arm,
                action=action,
                children=len(own),
                predicted=sum(child.predicted for child in own) / len(own),
                measured=sum(child.k / child.n for child in own) / len(own),
                mean_absolute_error=sum(map(abs, errors)) / len(own),
                brier=sum(error * error for error in errors) / len(own),
                mixed=sum(0 < child.k < child.n for child in own) / len(own),
            )
        )
    return found
