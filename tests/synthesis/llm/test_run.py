"""The loop with a model as generator: what is asked, what is paid, what becomes of every answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import read_bundle
from envs_forge.errors import InfrastructureError
from envs_forge.ledger.records import AttemptRecord, DecisionRecord, ModelAnswerRecord, ModelCallRecord
from envs_forge.models.answer import Answer, AnswerKind, Message
from envs_forge.pipeline import InterruptedRunError
from envs_forge.plan.model import ACTIONS
from envs_forge.run.directory import RunDirectory
from envs_forge.run.stored import read_result
from envs_forge.synthesis.audit.model import Finding
from envs_forge.synthesis.generator import Assignment, Rejection
from envs_forge.synthesis.llm.contract import Contract
from envs_forge.synthesis.llm.outcome import outcome
from models.server import ModelServer, Reply, drops, fails, hangs, says
from pipeline.fakes import World, bundle

from .writing import answers, go, ledger, settings

COUNTED = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def messages(body: Any) -> Sequence[Message]:
    return body["messages"]


def test_exactly_n_are_made_and_every_token_is_in_the_figures(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        result = go(tmp_path, server)
    assert (result.state, result.accepted, result.totals.attempts) == ("done", 2, 2)
    used = result.totals.tokens["generator"]
    assert (used.calls, used.prompt_tokens, used.completion_tokens, used.lost) == (2, 200, 20, 0)
    assert used.cost_usd == pytest.approx(2 * (100 * 1.0 + 10 * 10.0) / 1e6)
    assert len(server.requests) == 2


def test_all_calls_share_the_first_message_and_name_the_assignment(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        go(tmp_path, server)
    first, second = (messages(body) for body in server.requests)
    assert first[0] == second[0]
    assert first[0]["role"] == "system"
    for message in (first[1], second[1]):
        assert "@@ FILE solution/solve.sh" in message["content"]
        assert "of 2 tries" in message["content"]
    assert len({body["seed"] for body in server.requests}) == 2


def test_how_the_policy_failed_is_told(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        go(tmp_path, server, settings(server, size=4))
    told = [message["content"] for body in server.requests for message in messages(body)[1:]]
    assert any("failing tries on the seed failed" in text and "rollouts passed" in text for text in told)


def test_a_rejection_goes_back_with_stage_evidence_and_the_own_answer(tmp_path: Path) -> None:
    def script(body: Any, n: int) -> Any:
        return answers("mended") if len(messages(body)) > 2 else answers("bad oracle-failed")

    with ModelServer(script) as server:
        result = go(tmp_path, server, settings(server, size=1))
    assert (result.state, result.rejections) == ("done", {"oracle/oracle-failed": 1})
    again = messages(server.requests[1])
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert "bad oracle-failed" in again[2]["content"]
    assert "Stage: oracle" in again[3]["content"]
    assert "oracle-failed" in again[3]["content"]
    assert again[:2] == messages(server.requests[0])
    attempts = ledger(tmp_path).read(AttemptRecord)
    assert [(a.draw, a.repair, a.payload["repairs"]) for a in attempts] == [(0, 0, None), (0, 1, "000-p0-d0")]
    (accepted,) = ledger(tmp_path).read(DecisionRecord, accepted=True)
    assert (accepted.draw, accepted.repair) == (0, 1)


def test_after_the_repairs_comes_a_fresh_draw_then_a_new_plan(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers(f"bad-{n} weak" if n < 6 else "new")) as server:
        result = go(tmp_path, server, settings(server, size=1, draws=2, in_flight=1))
    assert (result.state, result.totals.attempts, result.totals.repairs) == ("done", 7, 4)
    attempts = [(a.plan, a.draw, a.repair) for a in ledger(tmp_path).read(AttemptRecord)]
    assert attempts == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 0), (0, 1, 1), (0, 1, 2), (1, 0, 0)]
    assert result.totals.plans == 2
    fresh = messages(server.requests[3])
    assert len(fresh) == 2
    assert "try 2 at this assignment" in fresh[1]["content"]


def test_who_repeats_the_rejected_environment_is_not_asked_a_third_time(tmp_path: Path) -> None:
    world = World()
    with ModelServer(lambda body, n: answers("bad weak" if n < 2 else f"new-{n}")) as server:
        result = go(tmp_path, server, settings(server, size=1, draws=2, in_flight=1), world=world)
    assert (result.state, result.totals.attempts) == ("done", 3)
    assert result.rejections == {"oracle/weak": 1, "synthesis/unrepaired": 1}
    assert [(a.draw, a.repair) for a in ledger(tmp_path).read(AttemptRecord)] == [(0, 0), (0, 1), (1, 0)]
    assert sum(call.startswith("verify 000-p0-d0") for call in world.calls) == 1


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (says("Here you go!"), "answer-no-files"),
        (says("@@ FILE tests/a\nx", finish="length"), "answer-cut"),
        (says("@@ FILE instruction.md\nOnly this.\n@@ END\n"), "answer-part-missing"),
    ],
)
def test_who_repeats_an_unreadable_answer_is_not_asked_a_third_time(tmp_path: Path, said: Reply, code: str) -> None:
    with ModelServer(lambda body, n: said if n < 2 else answers("new")) as server:
        result = go(tmp_path, server, settings(server, size=1, draws=2, in_flight=1))
    assert (result.state, result.totals.attempts) == ("done", 3)
    assert result.rejections == {f"synthesis/{code}": 1, "synthesis/unrepaired": 1}
    stuck = ledger(tmp_path).read(DecisionRecord, code="unrepaired")
    assert [(record.draw, record.repair) for record in stuck] == [(0, 1)]
    assert f"the rejected answer again ({code})" in str(stuck[0].payload["evidence"])


def test_another_unreadable_answer_is_asked_for_once_more(tmp_path: Path) -> None:
    said = ["Here you go!", "Here it is.", "Here you go!"]
    with ModelServer(lambda body, n: says(said[n]) if n < 3 else answers("new")) as server:
        result = go(tmp_path, server, settings(server, size=1, draws=2, in_flight=1))
    assert result.rejections == {"synthesis/answer-no-files": 2, "synthesis/unrepaired": 1}
    assert [(a.draw, a.repair) for a in ledger(tmp_path).read(AttemptRecord)][:3] == [(0, 0), (0, 1), (0, 2)]


@pytest.mark.parametrize(
    ("reply", "code", "repaired"),
    [
        (says("Here you go!"), "answer-no-files", True),
        (says("I'm sorry, but I can't help with that."), "answer-refused", False),
        (says("", finish="content_filter"), "answer-refused", False),
        (says("", usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}), "answer-empty", False),
        (says("@@ FILE tests/a\nx", finish="length"), "answer-cut", True),
        (says("", message={"reasoning_content": "hm " * 9}, finish="length"), "answer-cut", True),
        (says("@@ FILE instruction.md\nOnly this.\n@@ END\n"), "answer-part-missing", True),
    ],
)
def test_every_kind_of_answer_has_its_code_and_only_some_are_repaired(
    tmp_path: Path, reply: Any, code: str, repaired: bool
) -> None:
    with ModelServer(lambda body, n: reply if n == 0 else answers("good")) as server:
        result = go(tmp_path, server, settings(server, size=1))
    assert (result.state, result.rejections) == ("done", {f"synthesis/{code}": 1})
    assert "was rejected" in messages(server.requests[1])[-1]["content"] or not repaired
    (_, second) = ledger(tmp_path).read(AttemptRecord)
    assert (second.draw, second.repair) == ((0, 1) if repaired else (1, 0))


def test_the_audit_comes_before_verification_and_feeds_repair(tmp_path: Path) -> None:
    class Strict:
        def check(self, parent: Bundle, candidate: Bundle, assignment: Assignment) -> Sequence[Finding]:
            copy = Finding("near-copy-parent", "it says the same as the seed", "I")
            return [copy] if "copy" in candidate.instruction else []

        def accept(self, candidate: Bundle) -> None:
            pass

    world = World()
    with ModelServer(lambda body, n: answers("copy" if n == 0 else "good")) as server:
        config = settings(server, size=1)
        result = go(tmp_path, server, config, world=world, change=lambda p: replace(p, make_auditor=lambda _: Strict()))
    assert result.rejections == {"audit/near-copy-parent": 1}
    assert [key for key in world.calls if key.startswith("verify")] == ["verify 000-p0-d0-r1"]
    assert "it says the same as the seed" in messages(server.requests[1])[-1]["content"]


@pytest.mark.parametrize(
    ("budget", "asked"),
    [({"calls": 3}, 3), ({"calls": 0}, 0), ({"tokens": 0}, 0), ({"usd": 0}, 0), ({"minutes": 0}, 0)],
)
def test_a_cap_is_kept_to_the_call_and_a_resume_with_a_higher_one_goes_on(
    tmp_path: Path, budget: dict[str, float], asked: int
) -> None:
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        result = go(tmp_path, server, settings(server, size=4, budget=budget))
        assert (result.state, result.accepted, len(server.requests)) == ("short", asked, asked)
        assert "could exceed the cap of" in result.synthesis.stopped_by
        result = go(tmp_path, server, settings(server, size=4))
        assert (result.state, result.accepted, len(server.requests)) == ("done", 4, 4)


def test_a_cap_on_tokens_waits_for_those_under_way_and_is_never_exceeded(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 2000, "completion_tokens": 900, "total_tokens": 2900}
    with ModelServer(lambda body, n: answers(f"new-{n}", usage=usage, delay_s=0.05)) as server:
        result = go(tmp_path, server, settings(server, size=4, budget={"tokens": 14_000}))
    assert 1 < len(server.requests) < 4
    assert result.totals.tokens["generator"].tokens == 2900 * len(server.requests) <= 14_000


def test_lost_requests_count_at_their_worst_and_are_no_zero(tmp_path: Path) -> None:
    script = [drops(), answers("new")]
    with ModelServer(lambda body, n: script[min(n, 1)]) as server:
        result = go(tmp_path, server, settings(server, size=1))
    used = result.totals.tokens["generator"]
    assert (used.calls, used.lost) == (1, 1)
    assert used.lost_tokens > 1000


def test_a_refused_request_costs_nothing(tmp_path: Path) -> None:
    script = [fails(429, retry_after="0"), answers("new")]
    with ModelServer(lambda body, n: script[min(n, 1)]) as server:
        result = go(tmp_path, server, settings(server, size=1, budget={"calls": 1}))
    used = result.totals.tokens["generator"]
    assert (result.state, used.calls, used.lost) == ("done", 1, 0)


def test_an_answer_without_usage_is_unknown_and_not_free(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers("new", usage=None)) as server:
        result = go(tmp_path, server, settings(server, size=1))
    used = result.totals.tokens["generator"]
    assert (result.state, used.calls, used.tokens, used.lost) == ("done", 0, 0, 1)


def test_a_dead_endpoint_ends_the_run_and_a_resume_goes_on(tmp_path: Path) -> None:
    with ModelServer([fails(401)]) as server, pytest.raises(InfrastructureError, match="401"):
        go(tmp_path, server, settings(server, size=2))
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        assert go(tmp_path, server, settings(server, size=2)).state == "done"


def test_a_wrong_key_is_not_tried_at_every_place(tmp_path: Path) -> None:
    with ModelServer([fails(401)]) as server, pytest.raises(InfrastructureError, match="401"):
        go(tmp_path, server, settings(server, size=6, in_flight=1), seeds=6)
    assert len(server.requests) == 1
    assert "generator" not in read_result(RunDirectory(tmp_path / "run")).totals.tokens


def test_an_endpoint_that_stays_silent_is_asked_no_further_and_nothing_else_is_lost(tmp_path: Path) -> None:
    def script(body: Any, n: int) -> Any:
        return answers(f"new-{n}") if n < 2 else fails(503)

    with ModelServer(script) as server:
        patience = {"endpoint": {"base_url": server.url, "retries": 0}}
        config = settings(server, size=9, in_flight=1, retries=0, writer=patience)
        with pytest.raises(InfrastructureError, match="503"):
            go(tmp_path, server, config, seeds=9)
    assert len(server.requests) == 2 + 3
    assert read_result(RunDirectory(tmp_path / "run")).accepted == 2


def test_a_paid_answer_is_read_again_and_not_paid_again(tmp_path: Path) -> None:
    class KilledError(BaseException):
        pass

    def kill(kind: str) -> None:
        raise KilledError

    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        with pytest.raises(KilledError):
            go(
                tmp_path,
                server,
                settings(server, in_flight=1),
                world=World(after=lambda k: kill(k) if k == "verify" else None),
            )
        first = len(server.requests)
        for made in (tmp_path / "run" / "candidates").rglob("made.json"):
            made.rename(made.with_suffix(".gone"))
        paid = ledger(tmp_path).read(ModelAnswerRecord)
        assert first == len(paid)
        result = go(tmp_path, server, settings(server, in_flight=1))
    assert result.state == "done"
    assert len(server.requests) == 2
    assert len(ledger(tmp_path).read(ModelCallRecord, role="generator")) == 2


def test_a_cap_of_an_earlier_session_is_not_what_ended_a_later_one(tmp_path: Path) -> None:
    stop = threading.Event()

    def crash(kind: str) -> None:
        if kind == "verify":
            stop.set()

    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        capped = go(tmp_path, server, settings(server, size=3, in_flight=1, budget={"calls": 1}))
        assert (capped.state, "1 calls" in capped.synthesis.stopped_by) == ("short", True)
        config = settings(server, size=3, in_flight=1, budget={"calls": 1000})
        with pytest.raises(InterruptedRunError):
            go(tmp_path, server, config, world=World(after=crash), stop=stop)
        broken_off = read_result(RunDirectory(tmp_path / "run"))
        assert (broken_off.state, broken_off.synthesis.stopped_by) == ("open", "")
        done = go(tmp_path, server, config)
        assert (done.state, done.synthesis.stopped_by) == ("done", "")


def test_a_stop_ends_everything_and_keeps_what_was_paid(tmp_path: Path) -> None:
    stop, verified = threading.Event(), threading.Event()

    def pull(server: ModelServer) -> None:
        verified.wait(60)
        while len(server.requests) < 4:
            time.sleep(0.01)
        stop.set()

    world = World(after=lambda kind: verified.set() if kind == "verify" else None)
    with ModelServer(lambda body, n: answers("new") if n == 0 else hangs()) as server:
        threading.Thread(target=pull, args=(server,), daemon=True).start()
        config = settings(server, size=4, writer={"endpoint": {"base_url": server.url}})
        with pytest.raises(InterruptedRunError):
            go(tmp_path, server, config, world=world, stop=stop)
    found = read_result(RunDirectory(tmp_path / "run"))
    assert (found.state, found.totals.tokens["generator"].calls) == ("open", 1)
    assert found.totals.tokens["generator"].lost == 3


def test_a_secret_in_an_answer_reaches_no_file_and_stays_a_fault_when_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-value")
    with ModelServer(lambda body, n: answers("sk-very-secret-value" if n == 0 else f"new-{n}")) as server:
        config = settings(server, size=1)
        assert go(tmp_path, server, config).rejections == {"synthesis/answer-secret": 1}
    kept = ledger(tmp_path).read(ModelAnswerRecord)[0].payload["text"]
    assert "[SOME_API_KEY redacted]" in kept
    told = outcome(Answer(kind=AnswerKind.ANSWER, text=kept), bundle("x", "y"), asked())
    assert isinstance(told, Rejection)
    assert told.code == "answer-secret"
    files = [path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert not [data for data in files if b"very-secret" in data]


def test_the_model_is_in_the_provenance_of_what_it_wrote(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        result = go(tmp_path, server, settings(server, size=1))
    written = read_bundle(tmp_path / "run" / "export" / "tasks" / result.environments[0].id)
    assert (written.provenance["generator"], written.provenance["generator_model"]) == ("llm", "served")


def assigned() -> Assignment:
    figures = {"pass_rate": 0.5, "k": 1.0, "n": 2, "predicted": 0.5, "frontier_score": 1.0}
    return Assignment(slot=0, draw=0, seed_id="s", seed_hash="h", action=ACTIONS[0], recipe="forge", **figures)


def asked() -> Contract:
    return Contract((), 0, 0, 0, ())
