from __future__ import annotations

import numpy as np
import pytest

from evaltui.report.pace import time_left


def test_a_steady_pace_is_carried_on() -> None:
    times = 1000 + 0.5 * np.arange(100)
    assert time_left(times, remaining=40, now=times[-1]) == pytest.approx(20.0)


def test_a_pause_in_the_middle_does_not_change_the_pace() -> None:
    times = 1000 + 0.5 * np.arange(100.0)
    times[50:] += 3600
    assert time_left(times, remaining=40, now=times[-1]) == pytest.approx(20.0)


def test_the_latest_cells_set_the_pace() -> None:
    slow, fast = np.cumsum(np.full(600, 2.0)), np.cumsum(np.full(600, 0.1))
    times = np.concatenate([slow, slow[-1] + fast])
    assert time_left(times, remaining=100, now=times[-1]) == pytest.approx(10.0)


def test_cells_that_finish_in_bursts_are_paced_by_the_burst() -> None:
    times = np.repeat(np.arange(64.0), 16)
    assert time_left(times, remaining=160, now=63.0) == pytest.approx(10.0, rel=0.05)


def test_order_and_pending_cells_do_not_matter() -> None:
    times = 1000 + np.random.default_rng(1).exponential(0.3, 80).cumsum()
    scattered = np.full((2, 60, 1), np.nan)
    scattered.ravel()[np.random.default_rng(2).permutation(120)[:80]] = times
    assert time_left(scattered, 10, times[-1]) == time_left(times, 10, times[-1])


def test_too_few_finished_cells_tell_nothing() -> None:
    assert time_left(np.arange(15.0), remaining=5, now=15.0) is None
    assert time_left(np.arange(16.0), remaining=5, now=16.0) is not None


def test_a_study_that_has_stopped_moving_has_no_time_left_to_tell() -> None:
    assert time_left(np.arange(100.0), remaining=5, now=100.0 + 3600) is None
