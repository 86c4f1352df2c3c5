"""The analysis on cells whose truth is known."""

from __future__ import annotations

import json
import random

import pytest

from envs_forge.study.analysis import Analysis, analyse, fixed_recipes
from envs_forge.study.cell import CellResult, Child, Look
from envs_forge.study.config import ArmConfig, ReaderConfig, RegimeConfig, StudyConfig
from envs_forge.study.directory import grid
from envs_forge.study.tables import markdown

REPLICATES = 12
GAINS = {"forge": 0.10, "few-shot": 0.04, "evol-instruct": 0.06, "no-reduce": 0.09}
CONFIG = StudyConfig(
    size=4,
    seeds=8,
    pool=6,
    held_out=4,
    replicates=REPLICATES,
    regimes=(RegimeConfig(name="saturated", saturated=0.9, passes=1),),
    readers=(ReaderConfig(name="weak"), ReaderConfig(name="strong")),
    arms=(
        ArmConfig(name="forge"),
        ArmConfig.model_validate({"name": "few-shot", "recipe": "few-shot", "arm": "blind"}),
        ArmConfig.model_validate({"name": "evol-instruct", "recipe": "evol-instruct"}),
        ArmConfig(name="no-reduce", without=("reduce",)),
    ),
)


def cell(reader: str, replicate: int, arm: str) -> CellResult:
    """Replicates differ much from each other, arms within a replicate by their gains and a little noise."""
    luck = random.Random(f"{reader}/{replicate}").uniform(0.1, 0.6)
    noise = random.Random(f"{reader}/{replicate}/{arm}").gauss(0.0, 0.01)
    return CellResult(
        regime="saturated",
        reader=reader,
        replicate=replicate,
        arm=arm,
        pool_saturated=0.9,
        accepted=4,
        attempts=5,
        plans=1,
        rejections={"oracle/oracle-failed": 1},
        objective=3.0,
        measuring=24,
        training=32,
        groups=4,
        mixed=2,
        first_groups=4,
        first_mixed=1,
        dropped=0,
        base=luck,
        trained=luck + GAINS[arm] + noise,
        held_out=[(luck, luck)],
        looks=[Look(rollouts=0, pass_at_1=luck)],
        children=[Child(content_hash="c", action="reduce/in_depth", seed_k=0, seed_n=4, predicted=0.25, k=6, n=8)],
        seconds=1.0,
    )


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    cells = [cell(r, n, a) for r in ("weak", "strong") for n in range(REPLICATES) for a in GAINS]
    return analyse(CONFIG, cells)


def test_differences_are_paired_and_their_intervals_hold_the_truth(analysis: Analysis) -> None:
    row = next(row for row in analysis.rows if (row.reader, row.arm) == ("all", "few-shot"))
    assert row.against is not None
    gap = row.against.difference
    assert gap.low < 0.06 < gap.high
    assert gap.high - gap.low < 0.03 < row.trained.high - row.trained.low
    assert (gap.units, row.cells, row.replicates) == (REPLICATES, 2 * REPLICATES, REPLICATES)


def test_the_claim_is_against_the_best_fixed_recipe(analysis: Analysis) -> None:
    assert fixed_recipes(CONFIG) == ["few-shot", "evol-instruct"]
    claim = next(claim for claim in analysis.claims if claim.reader == "all")
    assert claim.best_fixed == "evol-instruct"
    assert claim.difference.difference.low > 0.02


def test_every_arm_that_the_config_names_has_its_claim() -> None:
    config = CONFIG.model_copy(update={"claims": ("forge", "no-reduce")})
    found = analyse(config, [cell("weak", n, a) for n in range(REPLICATES) for a in GAINS])
    assert [claim.arm for claim in found.claims if claim.reader == "weak"] == ["forge", "no-reduce"]


def test_an_arm_that_meets_some_readers_only_has_no_mean_over_all() -> None:
    arms = [ArmConfig.model_validate(arm.model_dump() | {"only": ["weak"]}) if arm.name == "no-reduce" else arm
            for arm in CONFIG.arms]  # fmt: skip
    config = CONFIG.model_copy(update={"arms": tuple(arms)})
    there = set(grid(config))
    cells = [cell(r, n, a) for r in ("weak", "strong") for n in range(REPLICATES) for a in GAINS]
    found = analyse(config, [c for c in cells if (c.regime, c.reader, c.replicate, c.arm) in there])
    assert (found.cells, found.of_cells) == (len(there), len(there)) == (7 * REPLICATES, 7 * REPLICATES)
    assert {row.reader for row in found.rows if row.arm == "no-reduce"} == {"weak"}


def test_calibration_is_the_references(analysis: Analysis) -> None:
    row = next(row for row in analysis.calibration if row.action == "reduce/in_depth")
    assert (row.children, row.predicted, row.measured) == (2 * REPLICATES, 0.25, 0.75)
    assert (row.mean_absolute_error, row.brier, row.mixed) == (0.5, 0.25, 1.0)


def test_half_a_study_is_analysed_as_such() -> None:
    found = analyse(CONFIG, [cell("weak", 0, "forge"), cell("weak", 0, "few-shot"), cell("weak", 1, "forge")])
    assert (found.cells, found.of_cells) == (3, 2 * REPLICATES * 4)
    row = next(row for row in found.rows if (row.reader, row.arm) == ("weak", "few-shot"))
    assert row.against is not None
    assert (row.against.difference.units, row.against.unpaired) == (1, 1)
    json.dumps(found.model_dump(mode="json"), allow_nan=False)
    assert analyse(CONFIG, []).rows == ()


def test_the_tables_have_every_arm_and_say_what_the_policy_is(analysis: Analysis) -> None:
    text = markdown(analysis)
    assert "not a language model" in text
    assert text.count("| forge |") == 5
    assert "forge minus the best fixed recipe (evol-instruct): +" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("| ") and "no-reduce" in line}
    assert widths == {12, 8, 4}


def test_equal_arms_are_said_to_be_equal() -> None:
    same = [cell("weak", 0, "forge"), cell("weak", 0, "forge").model_copy(update={"arm": "few-shot"})]
    row = next(line for line in markdown(analyse(CONFIG, same)).splitlines() if line.startswith("| few-shot "))
    assert "the same in all cells" in row
