"""Generators of other packages in a run: one that hangs, one that fails, one that pays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envs_forge.config import make_config
from envs_forge.errors import UserError
from envs_forge.ledger.records import AttemptRecord, ModelCallRecord
from envs_forge.ledger.store import Ledger
from envs_forge.models.answer import Request
from envs_forge.models.client import ModelClient
from envs_forge.models.settings import PriceSettings
from envs_forge.pipeline import InterruptedRunError, run
from envs_forge.plan.model import ACTIONS, CandidateSkills
from envs_forge.run.directory import RunDirectory
from envs_forge.run.parts import remembered_options
from envs_forge.run.result import RunResult
from envs_forge.run.seeds import load_seeds
from envs_forge.synthesis import plugin
from envs_forge.synthesis.desk import Desk
from envs_forge.synthesis.generator import Assignment, Candidate
from envs_forge.synthesis.plugin import PlugIn, held
from models.clients import client
from models.server import ModelServer, says

from .fakes import World, bundle, seeds

LABEL = "the generator 'toy' (toys 1.0, toys:make)"


class Toy:
    name = "toy"

    def __init__(self, write: Callable[[Assignment], Any]) -> None:
        self.write = write

    def options(self, bundle: object) -> Mapping[str, CandidateSkills]:
        return {str(action): CandidateSkills() for action in ACTIONS}

    def generate(self, assignment: Assignment, parent: object) -> Any:
        return self.write(assignment)


class Paying(Toy):
    """As docs/synthesis.md has it; its candidates leave their tokens out."""

    desk: Desk

    def __init__(self, asked: ModelClient, stated: int | None) -> None:
        super().__init__(self._ask)
        self.asked, self.stated = asked, stated

    def attach(self, desk: Desk) -> None:
        self.desk = desk

    def cancel(self) -> None:
        self.asked.cancel()

    def _ask(self, assignment: Assignment) -> Candidate:
        request = Request(messages=[{"role": "user", "content": assignment.name}])
        answers = [
            self.desk.ask(self.asked, PriceSettings(), "generator", assignment.name, request, number)
            for number in range(2)
        ]
        return Candidate(bundle=bundle("x", f"{answers[0].text} {assignment.name}"), prompt_tokens=self.stated)


def go(root: Path, inner: Toy, *, stop: threading.Event | None = None, size: int = 1) -> RunResult:
    directory = RunDirectory(root / "run")
    directory.root.mkdir(exist_ok=True)
    pool = root / "pool"
    found = load_seeds(sorted(pool.iterdir())) if pool.exists() else seeds(pool, 4)
    made, world = held(inner, LABEL), World()
    assert isinstance(made, PlugIn)

    def close() -> None:
        world.close()
        made.abandon()

    parts = replace(
        world.parts(), generator=made, options=remembered_options(made), close=close, verify=Gold(world.parts().verify)
    )
    config = make_config({"plan": {"size": size}, "rollouts": 2, "retries": 0}, where="test")
    return run(directory, config, found, parts, stop=stop)


class Gold:
    """Every text is gold: the fake verifier reads fates of its own generator."""

    def __init__(self, verify: Any) -> None:
        self.verify = verify

    def __call__(self, one: Any) -> Any:
        return self.verify(bundle(one.id, "gold")).model_copy(update={"bundle_hash": one.id})


def test_one_that_hangs_does_not_hold_a_run_that_is_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "PATIENCE_S", 0.2)
    stop, never = threading.Event(), threading.Event()

    def hang(assignment: Assignment) -> None:
        stop.set()
        never.wait(60)

    with pytest.raises(InterruptedRunError) as caught:
        go(tmp_path, Toy(hang), stop=stop, size=3)
    assert str(caught.value) == f"interrupted, {LABEL} did not stop within 0.2 s"
    assert caught.value.exit_code == 130
    never.set()


def test_one_that_fails_ends_the_run_with_a_line_that_names_it(tmp_path: Path) -> None:
    def fail(assignment: Assignment) -> None:
        raise RuntimeError("boom")

    for _ in range(2):
        with pytest.raises(UserError, match=r"the generator 'toy' .* failed in generate\(\): RuntimeError: boom"):
            go(tmp_path, Toy(fail), size=2)


@pytest.mark.parametrize("stated", [None, 3])
def test_what_one_paid_at_the_desk_is_what_its_attempts_took(tmp_path: Path, stated: int | None) -> None:
    with ModelServer(lambda body, number: says(f"text {number}")) as server:
        result = go(tmp_path, Paying(client(server), stated))
        again = go(tmp_path, Paying(client(server), stated))
    with Ledger.open(tmp_path / "run" / "ledger.sqlite", read_only=True) as ledger:
        calls = ledger.read(ModelCallRecord, role="generator")
        (attempt,) = ledger.read(AttemptRecord)
    assert len(calls) == 2
    paid = (sum(call.prompt_tokens for call in calls), sum(call.completion_tokens for call in calls))
    assert (attempt.payload["prompt_tokens"], attempt.payload["completion_tokens"]) == paid
    assert result.synthesis.tokens == again.synthesis.tokens == sum(paid)
    assert (result.state, again.state) == ("done", "done")
