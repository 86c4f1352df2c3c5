"""A summary of how the seeds' rollouts failed: asked once for each seed, paid like everything, never in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envs_forge.ledger.records import ModelCallRecord
from envs_forge.models.answer import Answer, AnswerKind
from envs_forge.plan.model import ACTIONS
from envs_forge.synthesis.llm.contract import DIGEST_CHARS, SUMMARY_CHARS
from envs_forge.synthesis.llm.digested import ROLE, read_summary
from envs_forge.synthesis.llm.eligibility import ASSIGNMENT_TOKENS
from models.server import ModelServer, fails, says

from .test_contract import asked, assignment
from .writing import answers, go, ledger, settings

WANTED = {"digest_summary": True}
SAID = "It sorted\nthe wrong \x1b[1mfile."
LINE = "In a model's words: It sorted the wrong [1mfile."


def is_summary(body: Any) -> bool:
    return "how attempts at one programming task failed" in body["messages"][0]["content"]


def written(server: ModelServer) -> list[str]:
    """The first user message of every request for a bundle."""
    return [body["messages"][1]["content"] for body in server.requests if not is_summary(body)]


def test_each_seed_is_summed_up_once_before_its_digest(tmp_path: Path) -> None:
    def script(body: Any, number: int) -> Any:
        if is_summary(body):
            return says(SAID)
        return answers(f"new-{number}") if len(body["messages"]) > 2 else answers("bad oracle-failed")

    with ModelServer(script) as server:
        result = go(tmp_path, server, settings(server, size=3, writer=WANTED))
    assert result.state == "done"
    told = [text for text in written(server) if "failing tries on the seed failed" in text]
    assert told
    assert all(text.index(LINE) < text.index("rollouts passed") for text in told)
    asked = [body for body in server.requests if is_summary(body)]
    assert {body["max_tokens"] for body in asked} == {400}
    used = result.totals.tokens
    seeds = {call.subject for call in ledger(tmp_path).read(ModelCallRecord, role=ROLE)}
    assert used[ROLE].calls == len(asked) == len(seeds) > 1
    assert result.synthesis.tokens == used[ROLE].tokens + used["generator"].tokens


def test_without_the_key_nothing_of_the_kind_is_asked(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: answers(f"new-{n}")) as server:
        result = go(tmp_path, server, settings(server, size=3))
    assert not [body for body in server.requests if is_summary(body)]
    assert ROLE not in result.totals.tokens
    assert not [text for text in written(server) if "In a model's words" in text]


def test_a_summary_that_the_provider_filters_is_left_out(tmp_path: Path) -> None:
    def script(body: Any, number: int) -> Any:
        return fails(400, code="content_filter") if is_summary(body) else answers(f"new-{number}")

    with ModelServer(script) as server:
        result = go(tmp_path, server, settings(server, size=3, writer=WANTED))
    assert (result.state, result.rejections) == ("done", {})
    assert [body for body in server.requests if is_summary(body)]
    assert not [text for text in written(server) if "In a model's words" in text]


def test_a_cap_counts_summaries_too(tmp_path: Path) -> None:
    with ModelServer(lambda body, n: says(SAID) if is_summary(body) else answers(f"new-{n}")) as server:
        config = settings(server, size=3, writer=WANTED, budget={"calls": 1}, in_flight=1)
        result = go(tmp_path, server, config)
    assert result.state == "short"
    assert len(server.requests) == 1


def test_an_endpoint_that_fails_for_a_moment_costs_another_try_and_no_attempt(tmp_path: Path) -> None:
    failed: list[int] = []

    def script(body: Any, number: int) -> Any:
        if is_summary(body) and not failed:
            failed.append(number)
            return fails(500)
        return says(SAID) if is_summary(body) else answers(f"new-{number}")

    with ModelServer(script) as server:
        result = go(tmp_path, server, settings(server, size=3, writer=WANTED))
    assert (result.state, result.totals.attempts, len(failed)) == ("done", 3, 1)


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("", AnswerKind.EMPTY, ""),
        ("I cannot.", AnswerKind.REFUSED, ""),
        ("It lost", AnswerKind.CUT, "It lost"),
        (" a\t\x07b ", AnswerKind.ANSWER, "a b"),
    ],
)
def test_what_is_read_of_an_answer(text: str, kind: AnswerKind, line: str) -> None:
    assert read_summary(Answer(kind=kind, text=text)) == line


def test_a_summary_is_bounded() -> None:
    line = read_summary(Answer(kind=AnswerKind.ANSWER, text="word " * 1000))
    assert len("In a model's words: " + line) < SUMMARY_CHARS
    assert line.endswith("…")


def test_what_is_set_aside_holds_the_longest_digest_and_summary() -> None:
    digest = "3 of 8 wrote 'total.csv' without its header; " * 40
    found = [asked(assignment(action, digest=digest)) for action in ACTIONS]
    assert digest[: SUMMARY_CHARS + DIGEST_CHARS] in found[0].messages[1]["content"]
    assert max(one.tokens - one.shared_tokens - one.seed_tokens for one in found) <= ASSIGNMENT_TOKENS
