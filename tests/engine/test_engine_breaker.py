"""When an endpoint counts as failing, and when the money is gone."""

from __future__ import annotations

import pytest

from evaltui.engine.breaker import Breaker


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
