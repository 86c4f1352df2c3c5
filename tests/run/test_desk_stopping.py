"""What requests cost, over real HTTP and a real ledger, when a run is stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from envs_forge.cli.funnel import usage
from envs_forge.config import BudgetSettings
from envs_forge.errors import InfrastructureError
from envs_forge.ledger.store import Ledger
from envs_forge.ledger.totals import totals
from envs_forge.models.settings import PriceSettings
from envs_forge.run.budget import BudgetReachedError, Spend
from envs_forge.run.desk import ModelDesk, spent_before
from envs_forge.run.workers import run_jobs
from models.clients import HELLO, client
from models.server import ModelServer, drops, hangs, says
from waiting import eventually

PLACES = 20


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.mark.parametrize("calls", [1, 3])
def test_what_waits_for_the_budget_when_a_run_is_stopped_is_neither_sent_nor_paid(ledger: Ledger, calls: int) -> None:
    stop = threading.Event()
    desk = ModelDesk(ledger, 1, BudgetSettings(calls=calls), stop)
    with ModelServer(lambda body, number: hangs()) as server:
        asker = client(server, retries=0)

        def work(number: int) -> None:
            with pytest.raises(InfrastructureError):
                desk.ask(asker, PriceSettings(), "generator", f"{number:03d}-p0-d0", HELLO)

        def pull() -> None:
            assert eventually(lambda: len(server.requests) == calls)
            stop.set()

        threading.Thread(target=pull, daemon=True).start()
        jobs = [partial(work, number) for number in range(PLACES)]
        run_jobs(jobs, workers=PLACES, stop=stop, abandon=asker.cancel)
        assert eventually(lambda: desk.budget.spent.calls == calls)
    assert len(server.requests) == calls
    lost = totals(ledger).tokens["generator"]
    assert (lost.calls, lost.lost) == (0, calls)
    assert spent_before(ledger).calls == calls


def test_a_stop_before_anything_is_sent_costs_nothing(ledger: Ledger) -> None:
    stop = threading.Event()
    stop.set()
    desk = ModelDesk(ledger, 1, BudgetSettings(calls=0), stop)
    with ModelServer([says("hi")]) as server, pytest.raises(InfrastructureError, match="cancelled"):
        desk.ask(client(server), PriceSettings(), "generator", "000-p0-d0", HELLO)
    assert (server.requests, spent_before(ledger)) == ([], Spend())


def test_what_was_perhaps_paid_has_a_price_only_where_one_is_known(ledger: Ledger) -> None:
    desk = ModelDesk(ledger, 1, BudgetSettings(), threading.Event())
    known = PriceSettings(prompt=1.0, completion=2.0)
    with ModelServer([drops()]) as server:
        for role, price in (("generator", PriceSettings()), ("judge", known)):
            with pytest.raises(InfrastructureError):
                desk.ask(client(server, retries=0), price, role, "000-p0-d0", HELLO)
    found = totals(ledger).tokens
    assert (found["generator"].lost, found["generator"].lost_usd) == (1, None)
    worst = found["judge"].lost_usd
    assert worst is not None
    assert 0 < worst < 0.1
    assert usage(found["generator"]).endswith("1 not counted (cost not known)")
    assert usage(found["judge"], in_use=True).endswith(f"1 under way or not counted (at most ${worst:.4f})")


def test_a_cap_that_is_used_up_by_what_was_lost_stays_used_up(ledger: Ledger) -> None:
    first = ModelDesk(ledger, 1, BudgetSettings(calls=1), threading.Event())
    with ModelServer([drops()]) as server:
        asker = client(server, retries=0)
        with pytest.raises(InfrastructureError):
            first.ask(asker, PriceSettings(), "generator", "000-p0-d0", HELLO)
        second = ModelDesk(ledger, 2, BudgetSettings(calls=1), threading.Event())
        with pytest.raises(BudgetReachedError):
            second.ask(asker, PriceSettings(), "generator", "000-p0-d0", HELLO)
    assert len(server.requests) == 1
