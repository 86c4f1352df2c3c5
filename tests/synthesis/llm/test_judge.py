from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envs_forge.config import JudgeSettings
from envs_forge.errors import UserError
from envs_forge.ledger.records import DecisionRecord
from envs_forge.models.faults import EndpointError
from envs_forge.models.settings import EndpointSettings
from envs_forge.run.parts import Parts
from envs_forge.synthesis.llm.judge import UNREADABLE, ModelJudge, Opinion, read_opinion
from models.server import ModelServer, Reply, fails, says

from .writing import answers, go, ledger, settings

DENIES = '{"matches": false, "clear": true, "realised": true, "reason": "the test wants a header"}'


@pytest.mark.parametrize(
    ("text", "opinion", "code"),
    [
        (DENIES, Opinion(matches=False, clear=True, realised=True, reason="the test wants a header"), "judge-mismatch"),
        ('Well {"x": 1}. {"clear": false}', Opinion(clear=False), "judge-unclear"),
        ('{"realised": false, "clear": "no"}', Opinion(realised=False), "judge-not-realised"),
        ('{"matches": true}', Opinion(matches=True), ""),
        (
            '{"matches": false, "realised": false, "reason": "bad", "details": {"matches": "the tests check a file"}}',
            Opinion(matches=False, realised=False, reason="bad"),
            "judge-mismatch",
        ),
        ('{"matches": false, "details": {"matches": true}}', Opinion(matches=False), "judge-mismatch"),
        ('{"matches": false} then {"x": {"matches": true}}', Opinion(matches=False), "judge-mismatch"),
        ('{"matches": false} then {"matches": "as I said"}', Opinion(matches=False), "judge-mismatch"),
        ('e.g. {"matches": true|false}: [{"clear": false}]', Opinion(clear=False), "judge-unclear"),
        ('The set {"a", {"b"}} is odd. {"clear": false}', Opinion(clear=False), "judge-unclear"),
        ('{"matches": false, "details": {"matches": true},}', Opinion(reason=UNREADABLE), ""),
        ('{"matches": false, "details": {"matches": true}', Opinion(reason=UNREADABLE), ""),
        ('{"clear": false} {"matches": ' + "9" * 5000 + "}", Opinion(clear=False), "judge-unclear"),
        ('It has {" in it. {"clear": false}', Opinion(clear=False), "judge-unclear"),
        (
            '{"clear": false, "reason": "' + "x" * 60_000 + '"}',
            Opinion(clear=False, reason="x" * 1000),
            "judge-unclear",
        ),
        ('{"a":' * 10_000, Opinion(reason=UNREADABLE), ""),
        ("I like it.", Opinion(reason=UNREADABLE), ""),
        ("{" * 60_000, Opinion(reason=UNREADABLE), ""),
        ('{"matches": ' + "[" * 50_000, Opinion(reason=UNREADABLE), ""),
    ],
)
def test_opinions_are_read_and_silence_denies_nothing(text: str, opinion: Opinion, code: str) -> None:
    assert read_opinion(text) == opinion
    assert opinion.code == code


def with_judge(server: ModelServer, *, rejects: bool) -> Any:
    def change(parts: Parts) -> Parts:
        endpoint = EndpointSettings(base_url=server.url, timeout_s=30.0)
        return replace(parts, judge=ModelJudge(JudgeSettings(model="judge", endpoint=endpoint, rejects=rejects)))

    return change


def script(body: Any, number: int) -> Any:
    judged = "You review" in body["messages"][0]["content"]
    if judged:
        return says(DENIES if "draw-0" in body["messages"][1]["content"] else '{"matches": true}')
    return answers("draw-0" if len(body["messages"]) == 2 else "draw-1")


def test_an_opinion_is_recorded_and_rejects_only_where_it_may(tmp_path: Path) -> None:
    with ModelServer(script) as server:
        result = go(tmp_path / "a", server, settings(server, size=1), change=with_judge(server, rejects=False))
        assert (result.state, result.rejections) == ("done", {})
        (accepted,) = ledger(tmp_path / "a").read(DecisionRecord)
        assert accepted.payload["judge"]["matches"] is False
        assert result.totals.tokens["judge"].calls == 1
        result = go(tmp_path / "b", server, settings(server, size=1), change=with_judge(server, rejects=True))
    assert (result.state, result.rejections) == ("done", {"judge/judge-mismatch": 1})
    assert (result.synthesis.rows[0].mended, result.totals.tokens["judge"].calls) == (1, 2)
    assert result.synthesis.tokens == result.totals.tokens["judge"].tokens + result.totals.tokens["generator"].tokens


FILTERED = fails(400, "content management policy", code="content_filter")


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [(FILTERED, "the judge declined: content man"), (fails(400, "too many tokens"), "no opinion: the endpoint")],
)
def test_a_judge_that_only_advises_and_is_refused_for_one_candidate_ends_no_run(
    tmp_path: Path, refusal: Reply, reason: str
) -> None:
    def opinions(body: Any, number: int) -> Reply:
        return refusal if number == 1 else says('{"matches": true}')

    with ModelServer(opinions) as judge, ModelServer(lambda body, number: answers(f"new-{number}")) as server:
        config = settings(server, size=2, in_flight=1)
        result = go(tmp_path / "a", server, config, change=with_judge(judge, rejects=False))
    assert (result.state, result.accepted, len(judge.requests)) == ("done", 2, 2)
    recorded = [record.payload["judge"] for record in ledger(tmp_path / "a").read(DecisionRecord)]
    assert [opinion["matches"] for opinion in recorded] == [True, None]
    assert recorded[1]["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("refusal", "rejects"),
    [(fails(401), False), (fails(404), False), (fails(429, code="insufficient_quota"), False), (fails(400), True)],
)
def test_a_judge_that_cannot_be_asked_at_all_ends_the_run(tmp_path: Path, refusal: Reply, rejects: bool) -> None:
    with (
        ModelServer([refusal]) as judge,
        ModelServer(lambda body, number: answers(f"new-{number}")) as server,
        pytest.raises(EndpointError),
    ):
        go(tmp_path / "a", server, settings(server, size=1), change=with_judge(judge, rejects=rejects))


def test_a_judge_needs_a_model() -> None:
    with pytest.raises(UserError, match="--judge-model"):
        ModelJudge(JudgeSettings())


@pytest.fixture(autouse=True)
def _roots(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
