"""When an endpoint counts as failing, and when the money is gone."""

from __future__ import annotations

import pytest

from evaltui.config import Price
from evaltui.core.records import Usage
from evaltui.engine.breaker import Breaker
from evaltui.engine.budget import Budget, call_cost


def test_ten_errors_in_a_row_trip_the_default_share() -> None:
    breaker = Breaker(0.2)
    assert [breaker.record(True) for _ in range(10)] == [False] * 9 + [True]


def test_one_error_in_six_never_trips_it() -> None:
    breaker = Breaker(0.2)
    assert not any(breaker.record(call % 6 == 0) for call in range(600))


def test_one_error_in_four_does() -> None:
    breaker = Breaker(0.2)
    assert [breaker.record(call % 4 == 0) for call in range(40)].index(True) == 36


def test_errors_are_forgotten_after_fifty_calls() -> None:
    breaker = Breaker(0.2)
    for _ in range(9):
        breaker.record(True)
    for _ in range(50):
        breaker.record(False)
    assert breaker.errors == 0
    assert not breaker.record(True)


@pytest.mark.parametrize(("share", "errors"), [(0.001, 1), (0.02, 1), (0.07, 4), (0.56, 28), (1.0, 50)])
def test_a_share_of_fifty_calls_as_a_number_of_errors(share: float, errors: int) -> None:
    assert Breaker(share).limit == errors


def test_a_call_costs_its_tokens_at_prices_per_million() -> None:
    usage = Usage(prompt_tokens=2000, completion_tokens=500)
    assert call_cost(Price(input=3.0, output=15.0), usage) == pytest.approx(0.0135)


def test_without_prices_or_token_counts_a_call_costs_nothing() -> None:
    assert call_cost(None, Usage(10, 10)) == 0.0
    assert call_cost(Price(input=3.0, output=15.0), Usage()) == 0.0


def test_calls_in_flight_are_reckoned_at_the_mean_cost() -> None:
    budget = Budget(10.0)
    budget.add(1.0)
    budget.add(3.0)
    assert budget.allows(in_flight=2)
    assert not budget.allows(in_flight=3)


def test_what_earlier_sessions_spent_counts() -> None:
    assert not Budget(10.0, spent=10.0).allows(in_flight=0)
    assert Budget(None, spent=1e9).allows(in_flight=0)
