"""A training in its directory: the same end however often it was broken off, and nothing mixed."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from envs_forge.errors import InfrastructureError, UserError
from envs_forge.rollout.policies.builtin.stored import read_parameters
from envs_forge.rollout.trial import TrialStatus
from envs_forge.run.seeds import Seed
from envs_forge.run.training import Training
from envs_forge.train.builtin.config import TrainingConfig, start_of
from envs_forge.train.builtin.settings import LearnerSettings
from envs_forge.train.rewards.containers import Outcome
from envs_forge.train.rewards.deed import Deed
from envs_forge.train.rewards.source import StoppedError
from train.builtin.truth import obtain, pool

CONFIG = TrainingConfig(learner=LearnerSettings(epochs=3, batch=2), checkpoint_every=2)


@pytest.fixture
def seeds() -> list[Seed]:
    return [Seed(task.bundle, task.hash, Path()) for task in pool(0, 6)]


def test_a_training_leaves_a_policy_metrics_and_figures(tmp_path: Path, seeds: list[Seed]) -> None:
    result = Training(tmp_path, CONFIG, seeds).run_with(obtain)
    assert (result.state, result.steps, result.rollouts, len(result.curve)) == ("done", 9, 18 * 8, 3)
    assert result.groups == result.mixed + result.all_failed + result.all_passed
    assert 0 < result.contained < result.rollouts
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(1, 10))
    assert json.loads((tmp_path / "result.json").read_text())["mixed"] == sum(line["mixed"] for line in lines)
    trained = read_parameters(tmp_path / "parameters.json")
    assert trained.weights
    assert start_of(f"builtin:{tmp_path / 'parameters.json'}") == trained


def test_one_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path, seeds: list[Seed]) -> None:
    whole = Training(tmp_path / "whole", CONFIG, seeds).run_with(obtain)
    stop = threading.Event()

    def until_third(metrics: object) -> None:
        if len(steps := [*seen, metrics]) == 3:
            stop.set()
        seen[:] = steps

    seen: list[object] = []
    with pytest.raises(StoppedError):
        Training(tmp_path / "part", CONFIG, seeds, stop=stop, on_step=until_third).run_with(obtain)
    rest: list[object] = []
    result = Training(tmp_path / "part", CONFIG, seeds, on_step=rest.append).run_with(obtain)
    assert (len(seen), len(rest)) == (3, 6)
    assert result.model_copy(update={"seconds": 0, "audits": 0}) == whole.model_copy(
        update={"seconds": 0, "audits": 0, "contained": result.contained}
    )
    assert read_parameters(tmp_path / "part" / "parameters.json") == read_parameters(tmp_path / "whole/parameters.json")


def test_one_that_was_killed_goes_on_from_its_checkpoint(tmp_path: Path, seeds: list[Seed]) -> None:
    Training(tmp_path, CONFIG, seeds).run_with(obtain)
    end = read_parameters(tmp_path / "parameters.json")
    for file in sorted((tmp_path / "checkpoints").iterdir())[2:]:
        file.unlink()
    (tmp_path / "parameters.json").unlink()
    steps: list[object] = []
    Training(tmp_path, CONFIG, seeds, on_step=steps.append).run_with(obtain)
    assert len(steps) == 5
    assert read_parameters(tmp_path / "parameters.json") == end


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"learner": LearnerSettings(epochs=4, batch=2)}, "learner.epochs"),
        ({"policy": "builtin:weak"}, "start"),
        ({"remember": False}, "remember"),
    ],
)
def test_another_training_is_refused_by_name_of_the_key(
    tmp_path: Path, seeds: list[Seed], change: dict[str, object], key: str
) -> None:
    Training(tmp_path, CONFIG, seeds)
    with pytest.raises(UserError, match=key):
        Training(tmp_path, CONFIG.model_copy(update=change), seeds)


def test_other_tasks_and_other_directories_are_refused(tmp_path: Path, seeds: list[Seed]) -> None:
    Training(tmp_path / "a", CONFIG, seeds)
    with pytest.raises(UserError, match="tasks"):
        Training(tmp_path / "a", CONFIG, seeds[1:])
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine").touch()
    with pytest.raises(UserError, match="no training"):
        Training(tmp_path / "b", CONFIG, seeds)


def test_a_dead_machine_ends_it_and_nothing_is_learned_from_that(tmp_path: Path, seeds: list[Seed]) -> None:
    dead = False

    def dying(deed: Deed) -> Outcome:
        if dead:
            return Outcome(reward=None, status=TrialStatus.MACHINE_ERROR, error="gone", lasting=False, duration_s=0)
        return obtain(deed)

    def die(metrics: object) -> None:
        nonlocal dead
        dead = True

    config = CONFIG.model_copy(update={"remember": False})
    with pytest.raises(InfrastructureError, match="machine-error: gone"):
        Training(tmp_path, config, seeds, on_step=die).run_with(dying)
    dead = False
    assert Training(tmp_path, config, seeds).run_with(dying).dropped == 0


def test_only_the_builtin_policy_is_trained() -> None:
    with pytest.raises(UserError, match="only the builtin policy"):
        start_of("oracle")
