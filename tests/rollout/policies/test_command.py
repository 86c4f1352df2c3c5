"""The command policy against real host programs; the sandbox's only part in it is an exec prefix."""

import json
import os
import shlex
import threading
from pathlib import Path

import pytest

from envs_forge.errors import InfrastructureError, UserError
from envs_forge.rollout.policies.command import OUTPUT_LIMIT, CommandPolicy
from envs_forge.rollout.policy import StopReason, TaskView
from waiting import eventually

TASK = TaskView(instruction="Zähle die Zeilen.\nThen stop.\n", workdir="/srv/work dir", timeout_s=30.0)


class PrefixOnly:
    """The one method that this policy may use, with arguments that break when they are split at blanks."""

    def exec_prefix(self):
        return ["env", "MARK=two words"]


def program(tmp_path, body, name="agent"):
    path = tmp_path / name
    path.write_text("#!/bin/bash\n" + body)
    path.chmod(0o755)
    return path


def run(path, task=TASK, seed=7):
    return CommandPolicy(path).attempt(task, PrefixOnly(), seed=seed)


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def dies(pid):
    return eventually(lambda: not alive(pid))


def test_instruction_prefix_and_facts_arrive(tmp_path):
    attempt = run(
        program(
            tmp_path,
            'cat "$1"; cmp "$1" "$FORGE_INSTRUCTION_FILE" && shift\n'
            '"$@" bash -c \'echo "argv: $MARK"\'\n'
            'eval "$FORGE_EXEC" bash -c "\'echo env: \\$MARK\'"\n'
            'echo "$FORGE_EXEC_JSON"; echo "$FORGE_WORKDIR|$FORGE_TIMEOUT_SEC|$FORGE_SEED"\n',
        )
    )
    assert attempt.stopped is StopReason.DONE
    lines = attempt.steps[0].output.splitlines()
    assert lines[:2] == ["Zähle die Zeilen.", "Then stop."]
    assert lines[2:4] == ["argv: two words", "env: two words"]
    assert json.loads(lines[4]) == PrefixOnly().exec_prefix()
    assert lines[5] == "/srv/work dir|30|7"


def test_the_scratch_directory_is_gone_afterwards(tmp_path):
    attempt = run(program(tmp_path, "pwd; touch left-behind\n"))
    assert not Path(attempt.steps[0].output.strip()).exists()


def test_a_failing_program_is_an_agent_error_with_its_output(tmp_path):
    attempt = run(program(tmp_path, "echo before; exit 3\n"))
    assert (attempt.stopped, attempt.error) == (StopReason.ERROR, "exit code 3")
    assert attempt.steps[0].output == "before\n"


def test_exit_code_75_is_not_the_agents_fault(tmp_path):
    with pytest.raises(InfrastructureError) as caught:
        run(program(tmp_path, "echo no quota left; exit 75\n"))
    assert caught.value.code == "endpoint"
    assert "no quota left" in str(caught.value)


def test_output_is_capped_and_never_blocks_the_program(tmp_path):
    attempt = run(program(tmp_path, "head -c 5000000 /dev/zero | tr '\\0' x; echo; printf 'end \\377'\n"))
    output = attempt.steps[0].output
    assert attempt.stopped is StopReason.DONE
    assert output.endswith("x\nend \N{REPLACEMENT CHARACTER}")
    assert len(output) == OUTPUT_LIMIT


def test_time_out_kills_the_whole_process_group(tmp_path):
    pids = tmp_path / "pids"
    file = shlex.quote(str(pids))
    body = f"trap '' TERM\necho $$ > {file}\nsleep 300 & echo $! >> {file}\nwait\nsleep 300\n"
    path = program(tmp_path, body)
    attempt = run(path, TASK.model_copy(update={"timeout_s": 2.0}))
    assert attempt.stopped is StopReason.TIMEOUT
    assert attempt.steps[0].exit_code is None
    assert [dies(int(pid)) for pid in pids.read_text().split()] == [True, True]


def test_what_a_finished_program_left_in_the_background_is_killed(tmp_path):
    attempt = run(program(tmp_path, "sleep 300 >/dev/null 2>&1 &\necho $!\n"))
    assert attempt.stopped is StopReason.DONE
    assert dies(int(attempt.steps[0].output))


def test_cancelling_ends_an_attempt_at_once(tmp_path):
    started = tmp_path / "started"
    policy = CommandPolicy(program(tmp_path, f"touch {shlex.quote(str(started))}; exec sleep 300\n"))
    caught = []

    def attempt():
        try:
            policy.attempt(TASK, PrefixOnly(), seed=1)
        except InfrastructureError as error:
            caught.append(error.code)

    thread = threading.Thread(target=attempt)
    thread.start()
    assert eventually(started.exists)
    policy.cancel()
    thread.join(20)
    assert caught == ["cancelled"]


def test_the_identity_follows_the_programs_content_not_its_place(tmp_path):
    one = CommandPolicy(program(tmp_path, "true\n", "a")).identity
    (tmp_path / "b").mkdir()
    assert one == CommandPolicy(program(tmp_path / "b", "true\n", "a")).identity
    assert one != CommandPolicy(program(tmp_path / "b", "false\n", "a")).identity


def test_a_program_that_cannot_run_is_refused_with_the_fix(tmp_path):
    with pytest.raises(UserError, match="no program at"):
        CommandPolicy(tmp_path / "absent")
    path = program(tmp_path, "true\n")
    path.chmod(0o644)
    with pytest.raises(UserError, match=r"chmod \+x"):
        CommandPolicy(path)


def test_a_program_that_cannot_be_started_is_the_machines_fault(tmp_path):
    path = tmp_path / "agent"
    path.write_text("#!/no/such/interpreter\n")
    path.chmod(0o755)
    assert os.access(path, os.X_OK)
    with pytest.raises(InfrastructureError):
        run(path)
