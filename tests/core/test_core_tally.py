from __future__ import annotations

import pytest
from batches import Call, attempt_batch, make_design
from hypothesis import given
from hypothesis import strategies as st

from evaltui.core.status import Status
from evaltui.core.tally import Tally


def tally_of(*batches: list[Call]) -> Tally:
    tally = Tally(make_design(10, 2))
    for calls in batches:
        tally.apply(attempt_batch(calls))
    return tally


def test_calls_of_a_run_are_counted_by_status() -> None:
    tally = tally_of(
        [Call(0, 1, 1, Status.RATE_LIMITED), Call(0, 1, 2, Status.TIMEOUT), Call(0, 1, 3)], [Call(0, 1), Call(1, 2)]
    )
    assert tally.attempts(0, 1) == {"ok": 2, "timeout": 1, "rate_limited": 1}
    assert (tally.calls(0, 1), tally.calls(0, 2), tally.calls(1, 1)) == (4, 0, 0)
    assert tally.attempts(1, 1) == {}
    assert tally.requests == 5


def test_tokens_and_cost_are_summed_per_run_and_over_the_study() -> None:
    call = Call(1, 2, prompt_tokens=100, completion_tokens=20, cached_tokens=64, cost=0.00013)
    tally = tally_of([call, call], [call, Call(0, 1, cost=0.5)])
    assert (tally.prompt_tokens(1, 2), tally.completion_tokens(1, 2), tally.cached_tokens(1, 2)) == (300, 60, 192)
    assert tally.cost(1, 2) == pytest.approx(0.00039, abs=1e-12)
    assert tally.total_cost == pytest.approx(0.50039, abs=1e-12)


def test_queue_wait_is_the_mean_over_calls_and_started_the_first_of_them() -> None:
    tally = tally_of([Call(0, 2, started=50.0, queue_wait=0.2)], [Call(0, 2, started=40.0, queue_wait=0.4)])
    assert tally.queue_wait(0, 2) == pytest.approx(0.3, abs=1e-6)
    assert tally.started(0, 2) == 40.0


def test_a_run_without_calls_has_no_wait_and_no_start() -> None:
    tally = tally_of([])
    assert (tally.queue_wait(0, 1), tally.started(0, 1), tally.cost(0, 1)) == (None, None, 0.0)
    assert tally.in_flight(0, 1) is None


def test_calls_in_flight_are_the_mean_over_those_that_tell() -> None:
    tally = tally_of([Call(0, 1, in_flight=4), Call(0, 1)], [Call(0, 1, in_flight=7), Call(1, 3, in_flight=2)])
    assert tally.in_flight(0, 1) == 5.5
    assert tally.in_flight(1, 3) == 2.0


@given(
    st.lists(st.builds(Call, st.just(0), st.just(1), cost=st.floats(0, 1), queue_wait=st.floats(0, 9)), max_size=20),
    st.data(),
)
def test_sums_do_not_depend_on_the_order_or_the_batches(calls: list[Call], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(calls))
    cut = data.draw(st.integers(0, len(calls)))
    a, b = tally_of(calls), tally_of(shuffled[:cut], shuffled[cut:])
    assert a.cost(0, 1) == b.cost(0, 1)
    assert a.queue_wait(0, 1) == b.queue_wait(0, 1)


def test_repeats_added_later_are_counted_too() -> None:
    tally = tally_of([Call(0, 1)], [Call(1, 4, started=9.0)])
    assert tally.attempts(1, 4) == {"ok": 1}
    assert tally.started(1, 4) == 9.0
    assert tally.started(1, 3) is None
