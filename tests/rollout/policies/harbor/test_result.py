"""Whatever Harbor leaves behind: what it means, and that no reward is ever made up."""

import json

import pytest

from envs_forge.errors import InfrastructureError
from envs_forge.rollout.policies.harbor.result import read_result
from envs_forge.rollout.policy import SpoiltAttemptError, StopReason
from envs_forge.rollout.runner import machine_fault
from envs_forge.sandbox.verification import Isolation, RewardFault

PASSED = {"verifier_result": {"rewards": {"reward": 1}}}
WORKED = {"agent_execution": {"started_at": "2026-01-01T00:00:00Z"}}


def raised(name, message="it went wrong"):
    return {"exception_info": {"exception_type": name, "exception_message": message}}


def read(tmp_path, result, told=""):
    if result is not None:
        (tmp_path / "result.json").write_text(result if isinstance(result, str) else json.dumps(result))
    return read_result(tmp_path, told=told)


def test_a_trial_that_ended_as_it_should(tmp_path):
    (tmp_path / "verifier").mkdir()
    (tmp_path / "verifier" / "test-stdout.txt").write_bytes(b"PASS\xff\n")
    agent = {"n_input_tokens": 70, "n_cache_tokens": 30, "n_output_tokens": 5, "cost_usd": 0.25}
    rewards = {"rewards": {"reward": 0.5, "speed": 2, "note": "x"}}
    attempt, said = read(tmp_path, {"agent_result": agent, "verifier_result": rewards, "later": {"than": "us"}})
    assert (attempt.stopped, attempt.error) == (StopReason.DONE, "")
    assert (attempt.prompt_tokens, attempt.cached_tokens, attempt.completion_tokens) == (70, 30, 5)
    assert attempt.extra["harbor"]["cost_usd"] == 0.25
    assert (said.reward, said.fault, said.metrics) == (0.5, None, {"speed": 2.0})
    assert (said.isolation, said.output_tail) == (Isolation.LIVE, "PASS\ufffd\n")


@pytest.mark.parametrize(
    ("rewards", "fault"),
    [
        (None, RewardFault.MISSING),
        ({}, RewardFault.MISSING),
        ({"score": 1}, RewardFault.MISSING),
        ({"reward": None}, RewardFault.MISSING),
        ({"reward": "1"}, RewardFault.UNPARSABLE),
        ({"reward": True}, RewardFault.UNPARSABLE),
        ({"reward": float("nan")}, RewardFault.NOT_FINITE),
        ({"reward": -0.5}, RewardFault.OUT_OF_RANGE),
        ({"reward": 1.5}, RewardFault.OUT_OF_RANGE),
    ],
)
def test_what_is_no_reward_is_a_fault_of_its_own_kind(tmp_path, rewards, fault):
    attempt, said = read(tmp_path, {"verifier_result": {"rewards": rewards}})
    assert (attempt.stopped, said.reward, said.fault) == (StopReason.DONE, None, fault)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("VerifierTimeoutError", RewardFault.TIMEOUT),
        ("RewardFileNotFoundError", RewardFault.MISSING),
        ("RewardFileEmptyError", RewardFault.EMPTY),
        ("VerifierOutputParseError", RewardFault.UNPARSABLE),
    ],
)
def test_faults_of_the_verifier_win_over_a_reward(tmp_path, name, fault):
    _, said = read(tmp_path, PASSED | raised(name))
    assert (said.reward, said.fault) == (None, fault)


@pytest.mark.parametrize(
    ("name", "stopped"),
    [
        ("AgentTimeoutError", StopReason.TIMEOUT),
        ("ContextWindowExceededError", StopReason.CONTEXT),
        ("OutputLengthExceededError", StopReason.LIMIT),
        ("AgentSafetyRefusalError", StopReason.GAVE_UP),
        ("NonZeroAgentExitCodeError", StopReason.ERROR),
    ],
)
def test_ends_of_the_agent_s_own_doing_are_judged(tmp_path, name, stopped):
    attempt, said = read(tmp_path, PASSED | raised(name, "first\nlast line\n"))
    assert (attempt.stopped, said.reward) == (stopped, 1.0)
    assert attempt.error == f"{name}: last line"


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (raised("ApiRateLimitError") | WORKED, "endpoint-error"),
        (raised("AgentAuthenticationError") | PASSED, "endpoint-error"),
        (raised("EnvironmentStartTimeoutError"), "machine-error"),
        (raised("AgentSetupTimeoutError") | WORKED, "machine-error"),
        (raised("NeverHeardOfError"), "machine-error"),
        (raised("NeverHeardOfError") | WORKED | {"verifier": {}} | PASSED, "machine-error"),
        ({"step_results": [{}, raised("ApiOverloadedError")]}, "endpoint-error"),
    ],
)
def test_what_spoilt_a_trial_is_no_failure_of_the_agent(tmp_path, result, status):
    with pytest.raises(SpoiltAttemptError) as raising:
        read(tmp_path, {"agent_result": {"n_input_tokens": 9}} | result)
    assert raising.value.attempt.stopped is StopReason.BROKEN_OFF
    assert raising.value.attempt.prompt_tokens == 9
    assert machine_fault(raising.value)[0] == status


def test_an_unknown_exception_while_the_agent_was_at_work_is_the_agent_s(tmp_path):
    attempt, said = read(tmp_path, raised("KeyError") | WORKED)
    assert (attempt.stopped, said.reward) == (StopReason.ERROR, None)


@pytest.mark.parametrize("result", [None, "", "{", "[]", "null"])
def test_no_result_is_the_machine_s_fault(tmp_path, result):
    with pytest.raises(InfrastructureError, match="no result: ValueError: no such agent"):
        read(tmp_path, result, told="│ trace │\n│ ValueError: no such agent │\n╰───╯\n")


def test_steps_of_a_trajectory(tmp_path):
    (tmp_path / "agent").mkdir()
    steps = [
        {"source": "user", "message": "Do it."},
        {
            "source": "agent",
            "message": [{"type": "text", "text": "I look."}],
            "tool_calls": [
                {"tool_call_id": "a", "function_name": "bash", "arguments": {"command": "ls"}},
                {"tool_call_id": "b", "function_name": "edit", "arguments": {"path": "x"}},
            ],
            "observation": {
                "results": [{"source_call_id": "b", "content": "ok"}, {"source_call_id": "a", "content": "x"}],
            },
        },
        {"source": "agent", "message": "no call"},
        "nonsense",
        {"source": "agent", "tool_calls": "nonsense", "observation": 3},
    ]  # fmt: skip
    (tmp_path / "agent" / "trajectory.json").write_text(json.dumps({"steps": steps}))
    attempt, _ = read(tmp_path, PASSED)
    assert [(step.command, step.output, step.note) for step in attempt.steps] == [
        ("ls", "x", "I look."),
        ('edit {"path": "x"}', "ok", ""),
    ]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"steps": {}}', '{"steps": [null]}'])
def test_a_broken_trajectory_costs_only_its_steps(tmp_path, text):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "trajectory.json").write_text(text)
    attempt, said = read(tmp_path, PASSED)
    assert (attempt.steps, said.reward) == ((), 1.0)
