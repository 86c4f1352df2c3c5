"""The policy at work in real sandboxes of both engines: one that reads everything right, one that gives up."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from envs_forge.bundle import Bundle
from envs_forge.errors import PrerequisiteError
from envs_forge.rollout.policies.builtin.parameters import preset
from envs_forge.rollout.policies.builtin.policy import BuiltinPolicy
from envs_forge.rollout.policy import Attempt, StopReason, TaskView
from envs_forge.sandbox.runtime import Prepared, Runtime, open_runtime
from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.render import render

PERFECT = BuiltinPolicy(preset(mean=40, spread=0, slip_spread=0, word_noise=0, cue=20))
CARELESS = BuiltinPolicy(preset(mean=-40, spread=0, slip_spread=0, word_noise=0, cue=20))
COMPOSITIONS = [
    Composition(
        scenario="audit",
        number=3,
        uses=(Use(operation="query_service", knobs=("pagination", "slow_start")), Use(operation="filter_rows")),
    ),
    Composition(scenario="moving", number=4, uses=(Use(operation="tally", knobs=("ignore_case",)),)),
]

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module", params=["docker", "oci"])
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    try:
        made = open_runtime(request.param)
    except PrerequisiteError as error:
        pytest.skip(str(error))
    with made:
        yield made


def attempt(runtime: Runtime, bundle: Bundle, policy: BuiltinPolicy) -> tuple[Attempt, float | None]:
    prepared = runtime.prepare(bundle)
    assert isinstance(prepared, Prepared), prepared
    view = TaskView(instruction=bundle.instruction, workdir=prepared.image.workdir, timeout_s=60)
    with runtime.open(prepared) as sandbox:
        done = policy.attempt(view, sandbox, seed=0)
        return done, runtime.verify(prepared, sandbox).reward


@pytest.mark.parametrize("composition", COMPOSITIONS, ids=lambda c: c.uses[0].operation)
def test_right_readings_are_rewarded_and_wrong_ones_are_not(runtime: Runtime, composition: Composition) -> None:
    bundle = render(composition)
    done, reward = attempt(runtime, bundle, PERFECT)
    assert (done.stopped, reward) == (StopReason.DONE, 1.0), done
    assert [step.exit_code for step in done.steps] == [0] * len(composition.uses)
    done, reward = attempt(runtime, bundle, CARELESS)
    assert (done.stopped, reward) == (StopReason.DONE, 0.0), done


def test_what_is_not_understood_ends_in_giving_up(runtime: Runtime) -> None:
    bundle = render(COMPOSITIONS[1])
    text = bundle.instruction + "\nCompile `/app/main.c` into `/app/main`.\n"
    file = bundle.files["instruction.md"].model_copy(update={"data": text.encode()})
    longer = bundle.model_copy(update={"files": {**bundle.files, "instruction.md": file}})
    done, _ = attempt(runtime, longer, PERFECT)
    assert done.stopped is StopReason.GAVE_UP
    assert "main.c" in done.error


def test_the_record_of_a_long_task_is_small() -> None:
    uses = (
        Use(operation="query_service", knobs=("key", "pagination", "slow_start")),
        Use(operation="filter_rows", knobs=("ignore_case", "padding")),
        Use(operation="tally", knobs=("minimum",)),
    )
    _, _, decisions = PERFECT.read(render(Composition(scenario="incident", number=5, uses=uses)).instruction, 0)
    assert len(decisions) == 9
    assert len(json.dumps([decision.model_dump(mode="json") for decision in decisions])) < 6000
