"""How long one cell waits, and how long everybody waits: patience and the endpoint's gate."""

from __future__ import annotations

import random

import pytest

from evaltui.config import EndpointConfig
from evaltui.core.records import Failure
from evaltui.core.status import Status
from evaltui.engine.gate import Gate
from evaltui.engine.patience import Patience

BROKEN = Failure(Status.SERVER_ERROR, "500", retry=True)
HUNG = Failure(Status.TIMEOUT, "no answer", retry=True)
BAD = Failure(Status.REQUEST_ERROR, "400")


def limited(wait_s: float | None) -> Failure:
    return Failure(Status.RATE_LIMITED, "429", retry=True, wait_s=wait_s)


def patience(**limits: object) -> Patience:
    return Patience(EndpointConfig.model_validate({"kind": "simulator", **limits}))


def test_a_cell_is_asked_again_as_often_as_the_study_file_says() -> None:
    cell = patience(retries=2)
    assert [cell.wait_after(BROKEN) is None for _ in range(3)] == [False, False, True]


def test_waits_double_and_are_jittered_by_up_to_a_half() -> None:
    cell = patience(retries=4)
    for longest in (0.5, 1.0, 2.0, 4.0):
        wait = cell.wait_after(BROKEN)
        assert wait is not None
        assert longest / 2 <= wait <= longest


def test_a_failure_that_would_repeat_itself_is_not_retried() -> None:
    assert patience(retries=3).wait_after(BAD) is None


def test_timeouts_are_retried_only_where_the_study_file_allows_it() -> None:
    assert patience(retries=3).wait_after(HUNG) is not None
    assert patience(retries=3, retry_timeouts=False).wait_after(HUNG) is None


def test_waiting_for_a_rate_limit_uses_no_retry() -> None:
    cell = patience(retries=1)
    for _ in range(20):
        assert cell.wait_after(limited(1.0)) is not None
    assert cell.wait_after(BROKEN) is not None
    assert cell.wait_after(BROKEN) is None


def test_rate_limits_are_waited_for_ten_minutes_in_all() -> None:
    cell = patience()
    assert [cell.wait_after(limited(100.0)) for _ in range(7)] == [100.0] * 6 + [None]


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    assert patience().wait_after(limited(3600.0)) is None
    assert patience().wait_after(Failure(Status.SERVER_ERROR, "503", retry=True, wait_s=3600.0)) is None


def test_a_retry_after_of_nothing_still_backs_off() -> None:
    cell = patience()
    waits = [cell.wait_after(limited(0.0)) or 0.0 for _ in range(8)]
    assert waits[0] >= 0.025
    assert waits[-1] >= 3.2


def test_a_retry_after_is_never_cut_short() -> None:
    assert patience(retries=1).wait_after(Failure(Status.SERVER_ERROR, "503", retry=True, wait_s=20.0)) == 20.0


def test_an_open_gate_lets_everybody_through() -> None:
    assert Gate().delay(5.0) == 0.0


def test_a_held_gate_never_opens_early_and_spreads_the_calls() -> None:
    gate = Gate(random.Random(3))
    gate.hold(4.0, now=10.0)
    delays = [gate.delay(11.0) for _ in range(100)]
    assert min(delays) >= 3.0
    assert max(delays) <= 4.0
    assert len(set(delays)) == 100
    assert gate.delay(14.0) == 0.0


def test_the_longest_hold_counts() -> None:
    gate = Gate(random.Random(3))
    gate.hold(20.0, now=0.0)
    gate.hold(1.0, now=0.0)
    assert gate.delay(0.0) >= 20.0


@pytest.mark.parametrize(
    ("now", "seconds", "told"),
    [
        pytest.param(1.0, 2.0, False, id="still closed"),
        pytest.param(5.0, 2.0, False, id="told a moment ago"),
        pytest.param(5.0, 30.0, True, id="a long wait"),
        pytest.param(15.0, 2.0, True, id="after a while"),
    ],
)
def test_a_storm_is_told_now_and_then_and_not_per_request(now: float, seconds: float, told: bool) -> None:
    gate = Gate()
    assert gate.hold(3.0, now=0.0)
    assert gate.hold(seconds, now=now) is told
