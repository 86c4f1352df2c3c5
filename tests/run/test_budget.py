from __future__ import annotations

import threading
import time

import pytest

from envs_forge.config import BudgetSettings
from envs_forge.errors import InfrastructureError, UserError
from envs_forge.models.settings import PriceSettings
from envs_forge.run.budget import Budget, BudgetReachedError, Spend, require_prices, require_time

WORST = Spend(1, 100, 0.5)


@pytest.mark.parametrize(
    ("caps", "cap"),
    [({"calls": 2}, "2 calls"), ({"tokens": 250}, "250 tokens"), ({"usd": 1.2}, r"\$1\.2")],
)
def test_the_worst_case_must_fit_before_a_request(caps: dict[str, float], cap: str) -> None:
    budget = Budget(BudgetSettings(**caps))
    for _ in range(2):
        budget.settle(budget.reserve(WORST, 1.0), WORST)
    with pytest.raises(BudgetReachedError, match=f"the cap of {cap}"):
        budget.reserve(WORST, 1.0)
    assert budget.spent == Spend(2, 200, 1.0)


@pytest.mark.parametrize("caps", [{"calls": 0}, {"tokens": 0}, {"usd": 0.0}, {"minutes": 0.0}])
def test_zero_is_nothing_at_all(caps: dict[str, float]) -> None:
    with pytest.raises(BudgetReachedError):
        Budget(BudgetSettings(**caps)).reserve(WORST, 1.0)


def test_what_turned_out_cheaper_leaves_room() -> None:
    budget = Budget(BudgetSettings(tokens=150))
    budget.settle(budget.reserve(WORST, 1.0), Spend(1, 10, 0.0))
    budget.settle(budget.reserve(WORST, 1.0))
    assert budget.spent.tokens == 10
    budget.lose(budget.reserve(WORST, 1.0))
    assert budget.spent.tokens == 110
    with pytest.raises(BudgetReachedError):
        budget.reserve(WORST, 1.0)


def test_a_request_waits_for_the_reservations_of_others() -> None:
    budget = Budget(BudgetSettings(tokens=150))
    first = budget.reserve(WORST, 1.0)
    got: list[int] = []
    waiter = threading.Thread(target=lambda: got.append(budget.reserve(WORST, 1.0)))
    waiter.start()
    time.sleep(0.05)
    assert not got
    budget.settle(first, Spend(1, 20, 0.0))
    waiter.join(10)
    assert len(got) == 1


def test_nothing_is_reserved_once_the_run_is_over() -> None:
    budget, over = Budget(BudgetSettings(tokens=150)), threading.Event()
    with pytest.raises(InfrastructureError, match="cancelled"):
        budget.reserve(WORST, 1.0, lambda: True)
    budget.reserve(WORST, 1.0)
    threading.Timer(0.05, over.set).start()
    with pytest.raises(InfrastructureError, match="cancelled"):
        budget.reserve(WORST, 1.0, over.is_set)
    assert budget.spent == Spend()


def test_earlier_sessions_count_in_every_cap() -> None:
    for caps in ({"calls": 5}, {"tokens": 500}, {"usd": 2.5}):
        with pytest.raises(BudgetReachedError):
            Budget(BudgetSettings(**caps), Spend(5, 500, 2.5)).reserve(WORST, 1.0)


def test_time_is_kept_with_the_longest_that_a_request_may_take() -> None:
    now = [0.0]
    budget = Budget(BudgetSettings(minutes=2.0), seconds=30.0, clock=lambda: now[0])
    budget.settle(budget.reserve(WORST, 60.0), WORST)
    now[0] = 31.0
    with pytest.raises(BudgetReachedError, match="2 minutes"):
        budget.reserve(WORST, 60.0)
    require_time(BudgetSettings(minutes=1.0), 60.0)
    require_time(BudgetSettings(minutes=0.0), 60.0)
    with pytest.raises(UserError, match="less than one request"):
        require_time(BudgetSettings(minutes=0.5), 60.0)


def test_many_threads_never_exceed_a_cap() -> None:
    budget = Budget(BudgetSettings(calls=20))
    done: list[int] = []

    def work() -> None:
        try:
            while True:
                budget.settle(budget.reserve(WORST, 1.0), WORST)
                done.append(1)
        except BudgetReachedError:
            pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(done) == budget.spent.calls == 20


def test_an_unknown_price_is_refused_with_a_cap_on_money_and_with_no_other() -> None:
    require_prices(BudgetSettings(tokens=5), known=False, role="generator")
    require_prices(BudgetSettings(usd=5), known=True, role="generator")
    for role, flag in (("generator", "--price"), ("judge", "--judge-price")):
        with pytest.raises(UserError, match=flag):
            require_prices(BudgetSettings(usd=0), known=False, role=role)


def test_prices_are_of_a_million_tokens_and_unknown_ones_are_not_free() -> None:
    price = PriceSettings(prompt=2.0, completion=8.0)
    assert price.cost(1_000_000, 500_000) == 6.0
    assert price.cost(1_000_000, 0, cached=1_000_000) == 2.0
    assert PriceSettings(prompt=2.0, cached=0.5, completion=8.0).cost(1_000_000, 0, cached=400_000) == pytest.approx(
        1.4
    )
    assert PriceSettings(prompt=2.0).cost(1, 1) is None
    assert PriceSettings(prompt=0.0, completion=0.0).cost(10, 10) == 0.0
