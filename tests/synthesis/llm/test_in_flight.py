"""Many places at once against a slow server: nobody starves, nothing is asked twice, sandboxes stay few."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envs_forge.bundle.model import Bundle
from envs_forge.gold.verdict import Verdict
from envs_forge.pipeline import InterruptedRunError
from envs_forge.run.directory import RunDirectory
from envs_forge.run.parts import Parts
from envs_forge.run.stored import read_result
from models.server import ModelServer, hangs

from .writing import answers, go, settings


def patient(server: ModelServer) -> dict[str, Any]:
    return {"endpoint": {"base_url": server.url, "timeout_s": 60.0, "retries": 0}}


@pytest.mark.parametrize("places", [16, pytest.param(200, marks=pytest.mark.slow)])
def test_all_places_are_asked_for_at_once_and_verified_by_few(tmp_path: Path, places: int) -> None:
    inside: list[int] = []
    lock = threading.Lock()
    now = [0]

    def watched(parts: Parts) -> Parts:
        def verify(one: Bundle) -> Verdict:
            with lock:
                now[0] += 1
                inside.append(now[0])
            try:
                return parts.verify(one)
            finally:
                with lock:
                    now[0] -= 1

        return replace(parts, verify=verify)

    together = threading.Barrier(places)

    def script(body: Any, number: int) -> Any:
        if number < places:
            together.wait(60)
        return answers(f"new-{number}" if len(body["messages"]) > 2 else f"bad weak-{number}")

    with ModelServer(script) as server:
        config = settings(server, size=places, in_flight=places, writer=patient(server), rollouts=1)
        result = go(tmp_path, server, config, seeds=places, change=watched)
        asked = Counter(body["seed"] for body in server.requests)
    assert (result.state, result.accepted) == ("done", places)
    assert server.most_busy == places
    assert set(asked.values()) == {1}
    assert max(inside) <= 2
    assert {row.repairs for row in result.environments} == {1}


def test_a_stop_with_all_in_flight_keeps_the_run_whole(tmp_path: Path) -> None:
    stop = threading.Event()

    def script(body: Any, number: int) -> Any:
        if number == 19:
            stop.set()
        return hangs()

    with ModelServer(script) as server:
        config = settings(server, size=20, in_flight=20, writer=patient(server), rollouts=1)
        with pytest.raises(InterruptedRunError):
            go(tmp_path, server, config, seeds=20, stop=stop)
    found = read_result(RunDirectory(tmp_path / "run"))
    assert (found.state, found.totals.attempts) == ("open", 0)
    assert found.totals.tokens["generator"].lost == len(server.requests) == 20
