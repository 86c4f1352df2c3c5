"""The terminal agent in real containers, with a scripted model behind real HTTP."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from envs_forge.bundle.reading import read_bundle
from envs_forge.cli.app import main
from envs_forge.ledger.records import ModelCallRecord, TrialRecord
from envs_forge.ledger.store import Ledger
from envs_forge.rollout.measure import MeasureOptions, measure
from envs_forge.rollout.policies.terminal.shell import Shell
from envs_forge.rollout.runner import run_trial
from gold.tasks import task
from models.server import ModelServer, fails, hangs, says

from .terminals import policy

pytestmark = pytest.mark.engine
SEEDS = Path(__file__).parents[3] / "seeds"
SEED = min(
    (path for path in SEEDS.iterdir() if path.is_dir()), key=lambda path: (path / "solution/solve.sh").stat().st_size
)
SECRET = "sk-very-secret-0123456789"


def turn(body):
    """Number of the turn in its conversation, from 0: any number of rollouts can be played at once."""
    return sum(message["role"] == "assistant" for message in body["messages"])


def solves(solution):
    """A model that looks round, writes the seed's own solution down, runs it where it wrote it, and says so."""
    script = [
        says("I look first.", calls=["ls -la; cd /tmp; export PLACE=$PWD/work; mkdir $PLACE"]),
        says(None, calls=[f"cat > $PLACE/solve.sh <<'SOLUTION'\n{solution}\nSOLUTION\n", "pwd"]),
        says(None, calls=['bash "$PLACE/solve.sh" && rm -r "$PLACE"']),
        says(f"It is solved, with {SECRET}.\nDONE"),
    ]
    return lambda body, number: script[turn(body)]


def once(runtime, server, bundle, **settings):
    return run_trial(runtime, runtime.prepare(bundle), policy(server, **settings), index=0)


def test_a_scripted_model_solves_a_seed(runtime):
    bundle = read_bundle(SEED)
    with ModelServer(solves((SEED / "solution/solve.sh").read_text())) as server:
        trial = once(runtime, server, bundle)
    assert (trial.status, trial.reward) == ("passed", 1.0), trial
    assert [step.exit_code for step in trial.attempt.steps] == [0, 0, 0, 0]
    assert trial.attempt.steps[2].output == "/tmp\n"
    assert (trial.attempt.prompt_tokens, trial.attempt.completion_tokens) == (400, 40)
    assert bundle.instruction.strip() in server.requests[0]["messages"][1]["content"]
    assert "/tests" not in json.dumps(server.requests)


def test_fenced_blocks_solve_it_too(runtime):
    text = "```bash\nwc -l < data.txt > count.txt\n```\nDONE"
    with ModelServer([says(text)], takes_tools=False) as server:
        assert once(runtime, server, task()).status == "passed"


def test_an_image_without_bash(runtime):
    bundle = task(dockerfile="FROM debian:bookworm-slim\nWORKDIR /app\nCOPY data.txt /app/data.txt\nRUN rm /bin/bash\n")
    script = [says(calls=["cd /tmp; export N=$(wc -l < /app/data.txt)"]), says(calls=["pwd; echo $N"]), says("GIVE UP")]
    with ModelServer(script) as server:
        trial = once(runtime, server, bundle)
    assert trial.attempt.steps[1].output == "/tmp\n3\n"
    assert trial.attempt.stopped == "gave-up"


def test_the_shell_of_a_sandbox(runtime):
    with runtime.open(runtime.prepare(task())) as sandbox:
        shell = Shell(sandbox)
        assert shell.run("pwd; cd /usr; x='a b'; echo err >&2; exit 7", 20).exit_code == 7
        assert shell.run('pwd; echo "$x"', 20).output == b"/usr\na b\n"
        began = time.monotonic()
        shell.run("sleep 300 > /dev/null 2>&1 & echo $! > /tmp/pid", 20)
        assert shell.run("kill -0 $(cat /tmp/pid)", 20).exit_code == 0
        ran = shell.run("cd /; (sleep 300; echo late) & sleep 300; echo never", 1.0)
        assert (ran.timed_out, ran.exit_code, ran.output, ran.state_kept) == (True, None, b"", False)
        assert shell.run("pwd; (exit 3)", 20).exit_code == 3
        assert time.monotonic() - began < 60


def test_a_full_context_and_an_endpoint_that_is_gone_do_not_count(runtime):
    bundle = task()
    with ModelServer([says(calls=["wc -l < data.txt > count.txt"]), fails(400, "maximum context length")]) as server:
        trial = once(runtime, server, bundle)
    assert (trial.status, trial.reward, trial.verification.reward) == ("context-exceeded", None, 1.0)
    with ModelServer([says(calls=["true"]), fails(503)]) as server:
        trial = once(runtime, server, bundle)
    assert (trial.status, trial.reward, trial.attempt.stopped) == ("endpoint-error", None, "broken-off")
    assert trial.attempt.extra["usage"]["prompt_tokens"] == 100


def test_stopping_ends_requests_that_hang(runtime):
    stop, trials = threading.Event(), []
    with ModelServer([hangs()]) as server:
        agent = policy(server, {"timeout_s": 60.0})
        threading.Timer(1.0, stop.set).start()
        began = time.monotonic()
        measure(
            runtime,
            [task()],
            agent,
            MeasureOptions(rollouts=2),
            on_trial=lambda *trial: trials.append(trial),
            stop=stop,
        )
    assert trials == []
    assert time.monotonic() - began < 30


def test_measure_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    model = solves((SEED / "solution/solve.sh").read_text())

    def script(body, number):
        """The first request meets a fault, whose text holds the key."""
        return fails(500, f"not with {SECRET}") if number == 0 else model(body, number)

    (tmp_path / "c.toml").write_text("[endpoint]\npause_s = 0.01\n[agent.sampling]\nmax_tokens = 100\n")
    with ModelServer(script) as server:
        args = ["-p", str(SEED), "-m", "asked", "--base-url", server.url, "-k", "2", "-c", "c.toml", "--json", "-q"]
        code = main(["measure", *args])
    assert code == 0
    run = tmp_path / "runs" / "latest"
    (rate,) = json.loads((run / "pass-rates.json").read_text())["pass_rates"]
    assert (rate["k"], rate["n"], rate["invalid"]) == (2.0, 2, 0)
    lock = json.loads((run / "lock.json").read_text())
    assert lock["policy"]["settings"]["prompts"]
    with Ledger.open(run / "ledger.sqlite", read_only=True) as ledger:
        calls = ledger.read(ModelCallRecord)
        assert [(call.model, call.prompt_tokens, call.completion_tokens) for call in calls] == [("asked", 100, 10)] * 8
        usages = [trial.payload["attempt"]["extra"]["usage"] for trial in ledger.read(TrialRecord, counted=True)]
        assert sorted((usage["calls"], usage["unknown_calls"]) for usage in usages) == [(4, 0), (5, 1)]
    files = [path for path in run.resolve().rglob("*") if path.is_file()]
    assert files
    assert not any(SECRET.encode() in path.read_bytes() for path in files)
    assert SECRET not in "".join(capsys.readouterr())
