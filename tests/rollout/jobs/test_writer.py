import json
from pathlib import Path

import pytest

from envs_forge.rollout.jobs.documents import exception_type
from envs_forge.rollout.jobs.names import trial_name
from envs_forge.rollout.jobs.writer import JobWriter
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import COUNTED, TrialStatus
from envs_forge.sandbox.verification import RewardFault

from ..fakes import bundle
from .trials import POLICY, one_of_each, tokens, trial, turns

BUNDLE = bundle("count-lines", text="Zähle die Zeilen.\n")


def write(directory, trials, *, policy=POLICY, finish=True):
    tasks = {"count-lines": Path("seeds/count-lines")}
    writer = JobWriter(directory, policy, tasks, source="seeds", engine="oci", attempts=4, concurrency=2)
    for one in trials:
        writer.add(one, BUNDLE)
    if finish:
        writer.finish()
    return directory


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_layout(tmp_path):
    job = write(tmp_path / "2025-01-01__00-00-00", [trial()])
    name = trial_name(trial())
    assert sorted(str(path.relative_to(job)) for path in job.rglob("*") if path.is_file()) == sorted(
        [
            "config.json",
            "lock.json",
            "result.json",
            f"{name}/config.json",
            f"{name}/lock.json",
            f"{name}/result.json",
            f"{name}/agent/trajectory.json",
            f"{name}/verifier/reward.txt",
            f"{name}/verifier/test-stdout.txt",
        ]
    )
    assert (job / name / "verifier/reward.txt").read_text() == "1.0\n"
    assert (job / name / "verifier/test-stdout.txt").read_text() == "1 failed\n"


@pytest.mark.parametrize(
    ("task", "start"),
    [
        ("count-lines", "count-lines__"),
        ("x" * 40, "x" * 32 + "__"),
        ("a" * 31 + "-b", "a" * 31 + "__"),
        ("with space/ü", "with_space____"),
        ("---", "task__"),
    ],
)
def test_names_are_short_plain_and_stable(task, start):
    name = trial_name(trial(bundle_id=task))
    assert name == trial_name(trial(bundle_id=task))
    assert name[:-7].rstrip("_") == start.rstrip("_")
    assert name.isascii()
    assert name[-7:].isalnum()


def test_each_try_has_its_own_name():
    tries = [trial(index=i, retry=r) for i in range(30) for r in range(3)]
    assert len({trial_name(one) for one in tries}) == 90


def test_adding_a_trial_again_replaces_it(tmp_path):
    job = write(tmp_path / "job", [trial(TrialStatus.FAILED), trial(TrialStatus.FAILED)])
    assert read(job / "result.json")["n_total_trials"] == 1


def test_a_trial_without_a_reward_has_no_reward_file(tmp_path):
    for one in one_of_each():
        job = write(tmp_path / f"job{one.index}", [one])
        result = read(job / trial_name(one) / "result.json")
        has_file = (job / trial_name(one) / "verifier/reward.txt").exists()
        assert has_file == (one.status in COUNTED)
        assert (result["verifier_result"] is not None) == (one.status in COUNTED)
        assert (result["exception_info"] is None) == (
            one.status in {TrialStatus.PASSED, TrialStatus.PARTIAL, TrialStatus.FAILED}
        )


def test_every_status_and_fault_has_its_exception():
    for status in TrialStatus:
        assert (exception_type(trial(status)) is None) == (status in COUNTED - {TrialStatus.AGENT_TIMEOUT})
    by_fault = {fault: exception_type(trial(TrialStatus.VERIFIER_ERROR, fault=fault)) for fault in RewardFault}
    assert by_fault[RewardFault.MISSING] == "RewardFileNotFoundError"
    assert by_fault[RewardFault.TIMEOUT] == "VerifierTimeoutError"
    assert by_fault[RewardFault.CONFLICT] == "VerifierOutputParseError"


def test_totals_are_the_sums_of_their_parts(tmp_path):
    trials = one_of_each()
    result = read(write(tmp_path / "job", trials) / "result.json")
    (stats,) = result["stats"]["evals"].values()
    assert result["n_total_trials"] == result["stats"]["n_completed_trials"] == len(trials)
    assert result["stats"]["n_errored_trials"] == sum(len(names) for names in stats["exception_stats"].values())
    assert stats["n_trials"] == sum(len(names) for names in stats["reward_stats"]["reward"].values())
    assert stats["n_trials"] == sum(one.status in COUNTED for one in trials)
    assert (result["stats"]["n_input_tokens"], result["stats"]["n_output_tokens"]) == (200, 40)
    assert result["stats"]["n_retries"] == 1


def test_unknown_tokens_are_not_nought(tmp_path):
    stats = read(write(tmp_path / "job", [trial()]) / "result.json")["stats"]
    assert stats["n_input_tokens"] is stats["n_output_tokens"] is None


def test_the_trajectory_tells_what_was_done(tmp_path):
    one = trial()
    document = read(write(tmp_path / "job", [one]) / trial_name(one) / "agent/trajectory.json")
    assert document["schema_version"] == "ATIF-v1.8"
    assert [step["step_id"] for step in document["steps"]] == [1, 2, 3]
    assert (document["steps"][0]["source"], document["steps"][0]["message"]) == ("user", "Zähle die Zeilen.\n")
    call = document["steps"][1]["tool_calls"][0]
    assert call["arguments"] == {"command": "ls -la"}
    assert document["steps"][1]["observation"]["results"] == [
        {"source_call_id": call["tool_call_id"], "content": "total 0\n"}
    ]
    assert document["steps"][1]["llm_call_count"] == 0
    assert document["extra"]["seed"] == 5


def test_steps_of_a_model_do_not_claim_that_no_model_was_asked(tmp_path):
    one = trial(attempt=tokens())
    document = read(write(tmp_path / "job", [one]) / trial_name(one) / "agent/trajectory.json")
    assert "llm_call_count" not in document["steps"][1]
    assert document["final_metrics"] == {
        "total_steps": 3,
        "total_prompt_tokens": 100,
        "total_completion_tokens": 20,
    }


def test_a_model_s_answers_are_the_steps(tmp_path):
    one = trial(attempt=turns())
    document = read(write(tmp_path / "job", [one]) / trial_name(one) / "agent/trajectory.json")
    _, first, last = document["steps"]
    assert (first["message"], first["reasoning_content"], first["model_name"]) == ("I look.", "Hm.", "served")
    assert [call["arguments"]["command"] for call in first["tool_calls"]] == ["ls -la", "sort x > y"]
    calls = [call["tool_call_id"] for call in first["tool_calls"]]
    assert [result["source_call_id"] for result in first["observation"]["results"]] == calls
    assert len({*calls}) == 2
    assert first["metrics"] == {"prompt_tokens": 50, "cached_tokens": 30, "completion_tokens": 10}
    assert first["extra"]["exit_codes"] == [0, None]
    assert first["extra"]["answer"]["spoilt"] == ["endpoint-429"]
    assert (last["message"], last["extra"]["answer"]["outcome"]) == ("DONE", "done")
    assert (last["metrics"]["logprobs"], last["metrics"]["completion_token_ids"]) == ([-0.25], [7])
    assert last["metrics"]["prompt_token_ids"] == [1, 2]
    assert document["final_metrics"]["total_cached_tokens"] == 60
    assert document["extra"]["attempt"] == {"tools": "native"}


def test_readers_find_the_model_of_a_policy_that_has_one(tmp_path):
    one = trial(policy=PolicyIdentity(kind="terminal", name="org/model", version="2"))
    job = write(tmp_path / "job", [one], policy=one.policy)
    result = read(job / trial_name(one) / "result.json")
    assert result["agent_info"] == {"name": "terminal", "version": "2", "model_info": {"name": "org/model"}}
    assert list(read(job / "result.json")["stats"]["evals"]) == ["terminal__org/model__seeds"]
    assert read(job / "config.json")["agents"][0]["model_name"] == "org/model"


def test_a_job_that_runs_says_how_much_of_it_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr("envs_forge.rollout.jobs.writer._REFRESH_S", 0.0)
    job = write(tmp_path / "job", [trial(index=i) for i in range(3)], finish=False)
    result = read(job / "result.json")
    assert (result["finished_at"], result["n_total_trials"]) == (None, 4)
    assert result["stats"]["n_completed_trials"] == 3


def test_a_secret_of_the_environment_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789abcdef")
    one = trial(
        attempt=tokens().model_copy(
            update={"steps": (tokens().steps[0].model_copy(update={"output": "sk-0123456789abcdef"}),)}
        )
    )
    job = write(tmp_path / "job", [one])
    assert all("sk-0123456789abcdef" not in path.read_text() for path in job.rglob("*.json"))
