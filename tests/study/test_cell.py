"""One cell: equal budgets, the same luck for all arms, the same result again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from envs_forge.bundle.model import Bundle
from envs_forge.errors import InfrastructureError
from envs_forge.gold.verdict import Decision
from envs_forge.plan.model import Projection
from envs_forge.rollout.trial import TrialStatus
from envs_forge.study.block import Block, chance_of_right, composed, saturated
from envs_forge.study.candidates import Candidates, Record
from envs_forge.study.cell import CellResult, run_cell
from envs_forge.study.choosing import Maker, inputs_of
from envs_forge.study.config import ArmConfig, StudyConfig
from envs_forge.study.course import Course
from envs_forge.study.pools import chain_of
from envs_forge.synthesis.generator import Assignment
from envs_forge.synthesis.procedural.generator import ProceduralGenerator
from envs_forge.train.builtin.measuring import Tally, tally
from envs_forge.train.rewards.containers import Outcome
from envs_forge.train.rewards.deed import Deed
from envs_forge.train.rewards.source import Rewards

from .small import CONFIG, ground, pools, verdict


@pytest.fixture(scope="module")
def candidates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("candidates")


def block(candidates: Path, replicate: int = 0, config: StudyConfig = CONFIG) -> Block:
    return Block(ground(candidates, config), config.regimes[0], config.readers[0], replicate)


@pytest.fixture(scope="module")
def results(candidates: Path) -> list[CellResult]:
    shared = block(candidates)
    return [run_cell(shared, arm) for arm in CONFIG.arms]


def test_every_arm_spends_the_same_rollouts(results: list[CellResult]) -> None:
    budget = CONFIG.budget(CONFIG.regimes[0])
    assert budget == 2 * 5 + 1 * 3 * 4
    for cell in results:
        assert 0 <= budget - cell.measuring - cell.training < CONFIG.learner.group
    assert [cell.measuring for cell in results] == [10, 0, 10]


def test_every_arm_makes_n_and_starts_from_the_same_policy(results: list[CellResult]) -> None:
    assert [cell.accepted for cell in results] == [3, 3, 3]
    assert len({cell.base for cell in results}) == 1
    assert {len(cell.held_out) for cell in results} == {4}
    assert {len(cell.looks) for cell in results} == {3}
    assert {look.looks[0].pass_at_1 for look in results} == {results[0].base}


def test_recipes_and_ablations_keep_to_their_actions(results: list[CellResult]) -> None:
    forge, blind, without = results
    assert {child.action for child in blind.children} == {"diversify/in_depth"}
    assert not any(child.action.startswith("reduce") for child in without.children)
    assert len({child.action for child in forge.children} | {"x"}) > 1


def test_a_cell_is_the_same_again(candidates: Path, tmp_path: Path, results: list[CellResult]) -> None:
    arm = CONFIG.arms[0]
    for root in (candidates, tmp_path):  # with and without the candidates that are there already
        again = run_cell(block(root), arm)
        assert again.model_copy(update={"seconds": 0}) == results[0].model_copy(update={"seconds": 0})


def test_replicates_differ(candidates: Path, results: list[CellResult]) -> None:
    other = run_cell(block(candidates, 1), CONFIG.arms[0])
    assert (other.base, other.trained, other.children) != (results[0].base, results[0].trained, results[0].children)


def test_held_out_tasks_are_nobody_s_chain() -> None:
    seeds, held_out = pools()
    chains = [chain_of(bundle) for bundle in held_out]
    assert len(set(chains)) == len(chains)
    assert not set(chains) & {chain_of(bundle) for bundle in seeds}


def test_a_candidate_with_the_chain_of_a_held_out_task_is_refused(tmp_path: Path) -> None:
    own, shared = ground(tmp_path), block(tmp_path)
    parents = {task.hash: task.bundle for task in own.seeds}
    inputs = inputs_of(CONFIG.arms[0], shared.pool, shared.rates(2), own.options)
    free = Candidates(tmp_path / "free", ProceduralGenerator(), verdict, frozenset())
    first = Maker(free, parents, 2, {}).make(inputs, CONFIG.arms[0].plan(3, 0))
    chain = chain_of(first.environments[0].task.bundle)
    kept = Candidates(tmp_path / "kept", ProceduralGenerator(), verdict, {chain})
    made = Maker(kept, parents, 2, {}).make(inputs, CONFIG.arms[0].plan(3, 0))
    assert len(made.environments) == 3
    assert chain not in {chain_of(environment.task.bundle) for environment in made.environments}
    assert made.rejections["held-out/held-out"] >= 1


def test_what_gold_verification_rejects_is_drawn_and_planned_again(tmp_path: Path) -> None:
    own, shared = ground(tmp_path), block(tmp_path)
    refused: list[str] = []

    def strict(bundle):  # type: ignore[no-untyped-def]
        if len(refused) < 2:
            refused.append(bundle.id)
            return verdict(bundle, Decision.REJECTED)
        return verdict(bundle)

    candidates = Candidates(tmp_path / "strict", ProceduralGenerator(), strict, frozenset())
    inputs = inputs_of(CONFIG.arms[0], shared.pool, shared.rates(2), own.options)
    parents = {task.hash: task.bundle for task in own.seeds}
    made = Maker(candidates, parents, 1, {}).make(inputs, CONFIG.arms[0].plan(3, 0))
    assert len(made.environments) == 3
    assert (made.attempts, made.rejections) == (5, {"oracle/oracle-failed": 2})
    assert made.plans > 1
    assert len({environment.choice.seed_id for environment in made.environments}) == 3


def test_only_an_arm_that_measures_is_told_which_tests_failed(
    candidates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, float]] = []
    real = Candidates.get

    def watched(self: Candidates, assignment: Assignment, parent: Bundle) -> tuple[Record, Bundle | None]:
        if assignment.failed:
            told.append(dict(assignment.failed))
            assert assignment.action.projection is Projection.REDUCE
        return real(self, assignment, parent)

    monkeypatch.setattr(Candidates, "get", watched)
    shared = block(candidates)
    assert any(rate.failed for rate in shared.rates(2))
    run_cell(shared, CONFIG.arms[1])
    run_cell(shared, ArmConfig(name="untold", told=False))
    assert not told
    run_cell(shared, CONFIG.arms[0])
    assert told
    assert all(share in (0.5, 1.0) for failed in told for share in failed.values())


def test_what_an_arm_measures_less_it_trains_more(candidates: Path) -> None:
    shared = block(candidates)
    found = run_cell(shared, ArmConfig(name="one-rollout", rollouts=1))
    assert (found.measuring, found.training) == (5, 16)
    pairs = zip(shared.rates(1), shared.rates(2), strict=True)
    assert all(one.n == 1 and one.k <= two.k <= one.k + 1 for one, two in pairs)


def test_rounds_share_n_and_the_budget_and_children_may_be_parents(candidates: Path) -> None:
    shared = block(candidates)
    course = Course(shared, ArmConfig(name="rounds", rounds=3))
    course.run()
    assert [len(made.environments) for made in course.made] == [1, 1, 1]
    assert len({one.task.hash for one in course.environments}) == len(course.children) == 3
    assert course.measuring == 5 + 6 + 7  # one rollout on each seed, and on what was accepted before
    assert course.measuring + course.training == CONFIG.budget(CONFIG.regimes[0])
    parents = [task.bundle.id for task in course._parents()]
    assert len(set(parents)) == len(parents) == 5 + 3


def test_a_child_can_be_a_parent(candidates: Path) -> None:
    own = ground(candidates)
    shared = Block(own, CONFIG.regimes[0], CONFIG.readers[0], 0)
    child = run_cell(shared, CONFIG.arms[0]).children[0]
    course = Course(shared, CONFIG.arms[0])
    course.run()
    task = next(one.task for one in course.environments if one.task.hash == child.content_hash)
    assert any(not isinstance(option, str) for option in own.candidates.options(task.bundle).values())


def test_a_dead_machine_ends_a_cell_and_is_no_failure_of_the_policy(candidates: Path) -> None:
    def dead(deed: Deed) -> Outcome:
        return Outcome(reward=None, status=TrialStatus.MACHINE_ERROR, error="gone", lasting=False, duration_s=0.0)

    own = replace(ground(candidates), rewards=Rewards(dead, None))
    with pytest.raises(InfrastructureError, match="gone"):
        run_cell(Block(own, CONFIG.regimes[0], CONFIG.readers[0], 0), CONFIG.arms[1])


def test_an_arm_that_can_make_nothing_stays_short_and_learns_nothing(candidates: Path) -> None:
    arm = ArmConfig(name="nothing", without=("increase", "diversify", "reduce"))
    found = run_cell(block(candidates), arm)
    assert (found.accepted, found.training, found.trained) == (0, 0, found.base)
    assert len(found.looks) == 1


def test_projections_named_without_exist() -> None:
    names = {projection.value for projection in Projection}
    assert {name for arm in CONFIG.arms for name in arm.without} <= names


def test_pools_have_the_share_that_was_asked_for_as_far_as_there_are_seeds() -> None:
    outer, inner = list("abcdef"), list("xyz")
    assert len(composed(outer, inner, 5, 0.8)) == 5  # type: ignore[arg-type]
    assert composed(outer, inner, 5, 0.8) == [*"abcdx"]  # type: ignore[arg-type]
    assert composed(outer, inner, 5, 0.0) == [*"abxyz"]  # type: ignore[arg-type]
    assert composed(outer, inner, 8, 1.0) == [*"abcdefxy"]  # type: ignore[arg-type]


def test_the_chance_of_reading_right_is_about_the_pass_rate(candidates: Path) -> None:
    shared = block(candidates)
    for task in shared.ground.seeds:
        (found,) = tally(shared.sampler(), [task], shared.ground.rewards, 400, "chance")
        assert abs(found.k / found.n - chance_of_right(shared.sampler(), task.bundle.instruction)) < 0.12


def test_saturation() -> None:
    assert saturated(Tally(n=2, passed=0, k=0.0))
    assert saturated(Tally(n=2, passed=2, k=2.0))
    assert not saturated(Tally(n=2, passed=1, k=1.0))
