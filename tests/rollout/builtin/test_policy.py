"""Choices, gradients and scripts, without a container (`tests/synthesis/procedural/test_matrix.py` has those)."""

from __future__ import annotations

import json
import subprocess
from collections import Counter

import pytest

from envs_forge.rollout.policies.builtin.decision import Decision, decisions_of, gradient, probabilities
from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters, Strength, features, preset
from envs_forge.rollout.policies.builtin.policy import BuiltinPolicy, script_of, steps_of
from envs_forge.rollout.policies.builtin.ways import ways_by_id
from envs_forge.sandbox.engine import ExecResult

TEXT = """# Rows

Nobody has looked at `it` yet.

Keep only the rows of `/app/a.csv` whose `status` is `open` and write them to `/app/b.csv`, with the \
same header line and in the same order. The comparison is case-insensitive.
"""
WORDS = ("case-insensitive", "comparison")
NAMES = ("filter_rows.ignore_case/honour", "filter_rows.ignore_case/overlook", "filter_rows.ignore_case/folded")


def log_probability(parameters: BuiltinParameters, chosen: int) -> float:
    chances = probabilities([ways_by_id()[name] for name in NAMES], WORDS, parameters)
    return Decision(clause=0, words=WORDS, ways=NAMES, probabilities=chances, chosen=chosen).log_probability


def test_same_seed_same_choices_and_other_seeds_differ() -> None:
    policy = BuiltinPolicy(preset(spread=0.5, mean=0.0))
    runs = [[d.way for d in policy.read(TEXT, seed)[2]] for seed in (*range(40), 0)]
    assert runs[0] == runs[-1]
    assert len({tuple(run) for run in runs}) > 3
    assert all(len(run) == 2 for run in runs)


def test_choices_follow_their_probabilities() -> None:
    policy = BuiltinPolicy(preset(seed=4))
    last = [policy.read(TEXT, seed)[2][0] for seed in range(2000)]
    counts = Counter(decision.chosen for decision in last)
    for place, probability in enumerate(last[0].probabilities):
        assert counts[place] / 2000 == pytest.approx(probability, abs=0.05)
    assert sum(last[0].probabilities) == pytest.approx(1)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_gradient_is_the_slope_of_the_log_probability(temperature: float) -> None:
    parameters = preset(seed=1, temperature=temperature)
    chances = probabilities([ways_by_id()[name] for name in NAMES], WORDS, parameters)
    slope = gradient(Decision(clause=0, words=WORDS, ways=NAMES, probabilities=chances, chosen=1), parameters)
    step = 1e-5
    for feature, value in slope.items():
        up = parameters.model_copy(update={"weights": {feature: step}})
        down = parameters.model_copy(update={"weights": {feature: -step}})
        numeric = (log_probability(up, 1) - log_probability(down, 1)) / (2 * step)
        assert value == pytest.approx(numeric, abs=1e-6), feature


def test_learning_transfers_through_shared_words_and_can_be_switched_off() -> None:
    learned = {"family:ignore_case/honour": 3.0}
    way = ways_by_id()["tally.ignore_case/honour"]
    vector = features(way, WORDS, preset())
    assert sum(learned.get(name, 0) * size for name, size in vector.items()) > 0
    alone = features(way, WORDS, preset(transfer_family=0, transfer_stance=0))
    assert all(name.startswith("way:tally.ignore_case") for name in alone)


def test_records_are_enough_for_a_learner_and_survive_json() -> None:
    _, _, decisions = BuiltinPolicy().read(TEXT, 5)
    extra = json.loads(json.dumps({"decisions": [d.model_dump(mode="json") for d in decisions]}))
    assert decisions_of(extra) == tuple(decisions)
    assert len(json.dumps(extra)) < 2000


def test_identity_changes_with_every_parameter() -> None:
    changed = [preset(), preset(seed=1), preset(Strength.WEAK), preset(weights={"a": 0.1}), preset(temperature=0.7)]
    assert len({json.dumps(BuiltinPolicy(p).identity.model_dump(mode="json")) for p in changed}) == len(changed)


def test_stronger_presets_read_better() -> None:
    def right(strength: Strength) -> float:
        policies = [BuiltinPolicy(preset(strength, seed=seed)) for seed in range(60)]
        return sum(policy.read(TEXT, 0)[2][0].probabilities[0] for policy in policies) / 60

    assert right(Strength.WEAK) < right(Strength.MEDIUM) < right(Strength.STRONG)


def test_unknown_steps_are_named() -> None:
    jobs, unknown, _ = BuiltinPolicy().read("Compile `/app/main.c` into `/app/main` with all warnings on.", 0)
    assert jobs == []
    assert len(unknown) == 1


def test_steps_are_cut_out_of_one_shell() -> None:
    commands = ["echo one", "printf two; exit 3", "cat /no/such/file"]
    done = subprocess.run(["bash", "-c", script_of(commands, "--x--")], capture_output=True, check=False)
    steps = steps_of(commands, "--x--", ExecResult(done.returncode, done.stdout, done.stderr, 0.5))
    assert [(step.exit_code, step.output) for step in steps[:2]] == [(0, "one\n"), (3, "two")]
    assert steps[2].exit_code == 1
    assert "No such file" in steps[2].output


def test_a_step_that_never_ended_has_no_exit_code() -> None:
    steps = steps_of(["a", "b", "c"], "--x--", ExecResult(None, b"one\n\n--x-- 0\ntwo", b"", 1.0, timed_out=True))
    assert [(step.exit_code, step.output) for step in steps] == [(0, "one\n"), (None, "two"), (None, "")]
