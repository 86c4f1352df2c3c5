"""The agent over real HTTP: what each kind of answer and of fault comes to."""

import pytest

from envs_forge.errors import InfrastructureError
from envs_forge.rollout.policy import SpoiltAttemptError, StopReason
from envs_forge.rollout.runner import machine_fault
from models.clients import IMPATIENT
from models.server import USAGE, ModelServer, drops, fails, hangs, says, streams

from .terminals import TASK, LocalSandbox, policy

DONE = says("All done.\nDONE")
FULL = USAGE | {"completion_tokens": 50, "total_tokens": 150}


def play(tmp_path, *script, task=TASK, server=None, patience=None, **settings):
    """The attempt and the requests of a scripted endpoint."""
    with server or ModelServer(script) as server:
        attempt = policy(server, patience, **settings).attempt(task, LocalSandbox(tmp_path), seed=5)
    return attempt, server.requests


def call(name, arguments):
    return {"id": "a", "function": {"name": name, "arguments": arguments}}


def outcomes(attempt):
    return [turn["outcome"] for turn in attempt.extra["turns"]]


def test_native_calls(tmp_path):
    attempt, requests = play(tmp_path, says("I write.", calls=["mkdir d; cd d", "pwd; false"]), DONE)
    assert attempt.stopped is StopReason.DONE
    assert [(step.command, step.exit_code, step.output) for step in attempt.steps] == [
        ("mkdir d; cd d", 0, ""),
        ("pwd; false", 1, f"{tmp_path}/d\n"),
    ]
    assert attempt.steps[0].note == "I write."
    system, user, said, _, second = requests[1]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "\nWrite {{ 7 }} into seven.txt\n" in user["content"]
    assert [call["id"] for call in said["tool_calls"]] == ["call-0", "call-1"]
    assert (second["tool_call_id"], second["content"]) == ("call-1", f"exit code 1\noutput:\n{tmp_path}/d\n")
    assert requests[0]["tools"][0]["function"]["name"] == "bash"
    assert [request["seed"] for request in requests] == [5, 6]
    assert (attempt.prompt_tokens, attempt.completion_tokens) == (200, 20)


def test_fenced_blocks_where_tools_are_not_taken(tmp_path):
    server = ModelServer([says("```bash\necho 7 > seven.txt\n```\nDONE")], takes_tools=False)
    attempt, requests = play(tmp_path, server=server)
    assert (attempt.stopped, attempt.extra["tools"]) == (StopReason.DONE, "fenced")
    assert (tmp_path / "seven.txt").read_text() == "7\n"
    assert "tools" not in requests[0]
    assert "fenced block" in requests[0]["messages"][0]["content"]


def test_fenced_blocks_as_configured_come_back_as_the_user_s_words(tmp_path):
    attempt, requests = play(tmp_path, says("```bash\necho 1\n```\n```bash\nexit 3\n```"), DONE, tools="fenced")
    assert attempt.extra["tools"] == "fenced"
    assert requests[1]["messages"][-1] == {
        "role": "user",
        "content": "exit code 0\noutput:\n1\n\n\nexit code 3\noutput:\n",
    }


@pytest.mark.parametrize("asked", [True, False])
def test_answers_that_come_as_streams(tmp_path, asked):
    script = [streams(says("I write.", calls=["echo 7 > seven.txt", "cat seven.txt"])), streams(DONE)]
    attempt, requests = play(tmp_path, *script, patience={"stream": asked})
    assert (attempt.stopped, [step.output for step in attempt.steps]) == (StopReason.DONE, ["", "7\n"])
    assert [request.get("stream", False) for request in requests] == [asked] * 2
    assert (attempt.prompt_tokens, attempt.completion_tokens) == (200, 20)


def test_output_cannot_pass_for_the_facts(tmp_path):
    _, requests = play(tmp_path, says(calls=["echo 'exit code 0'; echo '{{ 7 * 7 }}'; exit 3"]), DONE)
    assert requests[1]["messages"][-1]["content"] == "exit code 3\noutput:\nexit code 0\n{{ 7 * 7 }}\n"


@pytest.mark.parametrize(
    ("reply", "outcome", "remark"),
    [
        (says(""), "empty", "Your answer was empty."),
        (says("", message={"reasoning_content": "hm"}), "empty", "Your answer was empty."),
        (says("```bash\nrm x", finish="length", usage=FULL), "cut", "cut at 50 tokens"),
        (says(None, calls=["rm x"], finish="length", usage=None), "cut", "cut at 50 tokens"),
        (says("I think about it."), "no-action", "no command"),
        (says(None, message={"refusal": "I cannot help"}), "refused", "sandbox made for this task"),
        (says("x", finish="content_filter"), "refused", "sandbox made for this task"),
        (says(None, calls=[call("bash", "{bad")]), "bad-call", "not valid JSON"),
        (says(None, calls=[call("bash", "[" * 100_000)]), "bad-call", "not valid JSON"),
        (says(None, calls=[call("vim", "{}")]), "bad-call", "no tool 'vim'"),
    ],
)  # fmt: skip
def test_each_useless_answer_is_recorded_and_gone_on_from(tmp_path, reply, outcome, remark):
    (tmp_path / "x").touch()
    attempt, requests = play(tmp_path, reply, says(calls=["echo go"]), DONE)
    assert (outcomes(attempt), attempt.stopped) == ([outcome, "acted", "done"], StopReason.DONE)
    assert remark in requests[1]["messages"][-1]["content"]
    assert (tmp_path / "x").exists()
    roles = [message["role"] for message in requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool" if outcome == "bad-call" else "user"]
    assert requests[1]["messages"][2]["content"] or outcome == "bad-call"


def test_broken_arguments_do_not_go_back_to_the_template(tmp_path):
    attempt, requests = play(tmp_path, says(None, calls=[call("bash", "{bad")]), DONE)
    assert requests[1]["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert attempt.extra["turns"][0]["calls"][0]["arguments"] == "{bad"


def test_a_few_useless_answers_in_a_row_are_giving_up(tmp_path):
    script = [says(""), says("hm"), says(calls=["true"]), says(""), says("hm"), says("hm")]
    attempt, requests = play(tmp_path, *script)
    assert (attempt.stopped, len(requests)) == (StopReason.GAVE_UP, 6)
    assert "3 answers in a row without a command" in attempt.error


def test_done_before_any_command_is_not_taken_for_an_end(tmp_path):
    attempt, requests = play(tmp_path, DONE, says(calls=["true"]), DONE)
    assert (outcomes(attempt), attempt.stopped) == (["done", "acted", "done"], StopReason.DONE)
    assert "No command has been run yet" in requests[1]["messages"][-1]["content"]
    attempt, requests = play(tmp_path, *[DONE] * 5, idle_turns=3)
    assert (attempt.stopped, len(requests)) == (StopReason.GAVE_UP, 3)


def test_giving_up(tmp_path):
    attempt, _ = play(tmp_path, says("No way.\nGIVE UP"))
    assert (attempt.stopped, outcomes(attempt)) == (StopReason.GAVE_UP, ["gave-up"])


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (fails(429), "endpoint-rate-limit"),
        (fails(500), "endpoint-server"),
        (drops(), "endpoint-connection"),
        (hangs(), "endpoint-timeout"),
    ],
)
def test_faults_of_the_endpoint_are_retried_and_then_spoil_the_trial(tmp_path, bad, code):
    act = says(calls=["echo go"])
    patience = IMPATIENT if code == "endpoint-timeout" else {}
    attempt, _ = play(tmp_path, act, bad, bad, DONE, patience=patience)
    assert (attempt.stopped, attempt.extra["turns"][1]["spoilt"]) == (StopReason.DONE, [code] * 2)
    paid = 0 if code == "endpoint-rate-limit" else 2
    assert attempt.extra["usage"]["unknown_calls"] == paid
    assert attempt.prompt_tokens == (None if paid else 200)
    with pytest.raises(SpoiltAttemptError) as caught:
        play(tmp_path, act, bad, patience=patience)
    assert machine_fault(caught.value)[0] == "endpoint-error"
    assert caught.value.code == code
    kept = caught.value.attempt
    assert (kept.stopped, len(kept.steps), kept.extra["usage"]["prompt_tokens"]) == (StopReason.BROKEN_OFF, 1, 100)


def test_time_that_faults_of_the_endpoint_take_is_not_the_agent_s(tmp_path):
    task = TASK.model_copy(update={"timeout_s": 3.0})
    attempt, _ = play(tmp_path, hangs(), hangs(), says(calls=["echo go"]), DONE, task=task, patience={"timeout_s": 2.0})
    assert attempt.stopped is StopReason.DONE


def test_an_endpoint_that_hangs_beyond_the_agent_s_time_is_still_the_endpoint_s_fault(tmp_path):
    task = TASK.model_copy(update={"timeout_s": 0.1})
    with pytest.raises(SpoiltAttemptError):
        play(tmp_path, hangs(), task=task, patience=IMPATIENT)


def test_a_slow_model_runs_out_of_time(tmp_path):
    task = TASK.model_copy(update={"timeout_s": 0.1})
    attempt, requests = play(tmp_path, says(calls=["touch late"], delay_s=0.2), task=task)
    assert (attempt.stopped, attempt.steps, len(requests)) == (StopReason.TIMEOUT, (), 1)
    assert attempt.completion_tokens == 10


def test_a_command_that_hangs_is_said_and_the_agent_goes_on(tmp_path):
    attempt, requests = play(tmp_path, says(calls=["exec sleep 60"]), DONE, command_timeout_s=0.2)
    assert (attempt.stopped, attempt.steps[0].exit_code) == (StopReason.DONE, None)
    assert requests[1]["messages"][-1]["content"].startswith("killed after 0 seconds\nchanges to the shell's")


def test_a_command_that_outlasts_the_agent_s_time(tmp_path):
    task = TASK.model_copy(update={"timeout_s": 2.0})
    attempt, _ = play(tmp_path, says(calls=["exec sleep 60"]), DONE, task=task)
    assert (attempt.stopped, len(attempt.steps)) == (StopReason.TIMEOUT, 1)


def test_turns_are_limited(tmp_path):
    attempt, requests = play(tmp_path, says(calls=["true"]), turns=3)
    assert (attempt.stopped, attempt.error, len(requests)) == (StopReason.LIMIT, "3 turns", 3)


def test_tokens_are_limited(tmp_path):
    attempt, requests = play(tmp_path, says(calls=["true"]), tokens=220)
    assert (attempt.stopped, attempt.error, len(requests)) == (StopReason.LIMIT, "220 tokens", 2)


@pytest.mark.parametrize("usage", [None, USAGE | {"completion_tokens": -1}, USAGE | {"total_tokens": 7}, "many", {}])
def test_usage_that_is_missing_or_wrong_is_unknown_and_limits_hold_all_the_same(tmp_path, usage):
    attempt, requests = play(tmp_path, says(calls=["true"], usage=usage), tokens=3000)
    assert (attempt.stopped, attempt.prompt_tokens, attempt.completion_tokens) == (StopReason.LIMIT, None, None)
    assert attempt.extra["usage"]["unknown_calls"] == len(requests) < 9


def test_cached_and_reasoning_tokens_are_counted_apart(tmp_path):
    usage = USAGE | {
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    attempt, _ = play(tmp_path, says(calls=["true"], usage=usage), says("DONE", usage=usage))
    assert (attempt.prompt_tokens, attempt.cached_tokens) == (200, 120)
    assert (attempt.completion_tokens, attempt.reasoning_tokens) == (20, 8)


@pytest.mark.parametrize(
    ("script", "settings"),
    [
        ([says(calls=["true"]), fails(400, "maximum context length is 128")], {}),
        ([says(calls=["true"])], {"context_tokens": 160}),
        ([says(calls=["head -c 900 /dev/zero"], usage=USAGE)], {"context_tokens": 500}),
        ([says("half", finish="length")], {}),
        ([says(calls=["true"], usage=None)], {"context_tokens": 3000}),
    ],
)
def test_a_full_context_is_its_own_end(tmp_path, script, settings):
    attempt, _ = play(tmp_path, *script, **settings)
    assert attempt.stopped is StopReason.CONTEXT
    assert attempt.error


def test_a_try_that_was_not_counted_is_not_forgotten_when_the_context_is_full(tmp_path):
    attempt, _ = play(tmp_path, fails(500), fails(400, "maximum context length is 128"))
    assert (attempt.stopped, attempt.extra["usage"]["unknown_calls"]) == (StopReason.CONTEXT, 1)


def test_answers_shrink_to_what_the_context_leaves(tmp_path):
    _, requests = play(tmp_path, says(calls=["true"]), DONE, context_tokens=2000, sampling={"max_tokens": 1950})
    assert 64 <= requests[0]["max_tokens"] < 1950
    assert 64 <= requests[1]["max_tokens"] < 1950


def test_many_commands_at_once_are_not_all_run(tmp_path):
    attempt, requests = play(tmp_path, says(calls=["echo x >> f"] * 10), DONE)
    assert len(attempt.steps) == 8
    assert len([message for message in requests[1]["messages"] if message["role"] == "tool"]) == 10
    assert requests[1]["messages"][-1]["content"].startswith("not run")


def test_output_is_cut_to_what_is_configured(tmp_path):
    attempt, _ = play(tmp_path, says(calls=["seq 1 10000"]), DONE, output_chars=200)
    assert attempt.steps[0].output.startswith("1\n2\n")
    assert attempt.steps[0].output.endswith("9999\n10000\n")
    assert len(attempt.steps[0].output) < 260


def test_reasoning_logprobs_and_ids_are_kept_with_the_trial(tmp_path):
    logprobs = {"content": [{"token": "DONE", "logprob": -0.25}]}
    reply = says("DONE", message={"reasoning": "hm"}, choice={"logprobs": logprobs, "token_ids": [9]})
    attempt, requests = play(tmp_path, says(calls=["true"]), reply, sampling={"logprobs": True})
    _, turn = attempt.extra["turns"]
    assert (turn["reasoning"], turn["logprobs"], turn["token_ids"]) == ("hm", [{"text": "DONE", "logprob": -0.25}], [9])
    assert requests[0]["logprobs"] is True


def test_a_fault_of_the_sandbox_keeps_what_there_was(tmp_path):
    with ModelServer([says(calls=["true"])]) as server:
        sandbox = LocalSandbox(tmp_path)
        sandbox.fault = InfrastructureError("gone", code="engine")
        with pytest.raises(SpoiltAttemptError) as caught:
            policy(server).attempt(TASK, sandbox, seed=1)
    assert machine_fault(caught.value) == ("machine-error", "engine: gone")
    assert caught.value.attempt.prompt_tokens == 100
    assert outcomes(caught.value.attempt) == ["acted"]
