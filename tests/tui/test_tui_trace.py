"""The trace of the interval, and the history it is drawn from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest
from screen_world import Workspace

from evaltui import store
from evaltui.core.delta import Delta
from evaltui.report.live import Live
from evaltui.report.summary import Summary
from evaltui.tui.history import MOST_POINTS, SLICES, History, TracePoint, in_slices
from evaltui.tui.trace import LEAST_SPAN, columns, scale


def point(done: int, low: float | None = -0.1, high: float | None = 0.1) -> TracePoint:
    return TracePoint(done, 0.0, low, high)


def test_each_column_shows_the_last_point_that_had_arrived() -> None:
    points = [point(10), point(20), point(60)]
    shown = columns(points, 10, 100)
    assert [each.done if each else None for each in shown] == [10, 20, 20, 20, 20, 60, None, None, None, None]


def test_columns_before_the_first_point_are_empty() -> None:
    assert columns([point(50)], 4, 100)[0] is None


@pytest.mark.parametrize("width", [1, 2, 7, 300])
def test_a_finished_study_fills_the_width(width: int) -> None:
    points = [point(done) for done in range(1, 101)]
    assert columns(points, width, 100)[-1] is points[-1]


def test_what_came_early_does_not_set_the_scale() -> None:
    assert scale([point(5, -0.9, 0.9), point(100, -0.2, 0.3)]) == 0.3


def test_the_scale_never_collapses() -> None:
    assert scale([point(100, 0.0, 0.0)]) == LEAST_SPAN


def test_a_point_without_an_interval_scales_by_its_difference() -> None:
    assert scale([TracePoint(100, -0.25, None, None)]) == 0.25


@pytest.fixture
def everything(workspace: Callable[..., Workspace]) -> tuple[Workspace, Delta]:
    made = workspace(share=0.5)
    with closing(store.Follower(made.path, made.study_id)) as follower:
        delta = follower.poll()
    assert delta is not None
    return made, delta


def test_slices_hold_every_cell_once_and_in_order(everything: tuple[Workspace, Delta]) -> None:
    _, delta = everything
    parts = list(in_slices(delta))
    assert len(parts) == SLICES // 2
    positions = [position for part in parts for position in part.cells.position.tolist()]
    assert positions == delta.cells.position.tolist()


def test_calls_and_events_come_with_the_last_slice(everything: tuple[Workspace, Delta]) -> None:
    _, delta = everything
    parts = list(in_slices(delta))
    assert [len(part.attempts) for part in parts] == [0] * (SLICES // 2 - 1) + [len(delta.attempts)]
    assert [part.events for part in parts[:-1]] == [()] * (SLICES // 2 - 1)
    assert parts[-1].events == delta.events


def test_what_comes_in_a_quarter_of_a_second_stays_whole(workspace: Callable[..., Workspace]) -> None:
    made = workspace(share=0.5)
    with closing(store.Follower(made.path, made.study_id)) as follower:
        follower.poll()
        made.run_to(0.52)
        delta = follower.poll()
    assert delta is not None
    assert [len(part.cells) for part in in_slices(delta)] == [len(delta.cells)] == [19]


def test_a_late_comer_ends_at_the_same_interval_as_who_watched(everything: tuple[Workspace, Delta]) -> None:
    made, delta = everything
    info = store.resolve(made.path, made.study_id)
    at_once, watched = Live(info, made.plan.items), Live(info, made.plan.items)
    at_once.apply(delta)
    history = History()
    for part in in_slices(delta):
        watched.apply(part)
        history.add(watched.summary(0.0))
    headline = at_once.summary(0.0).comparisons[0].headline
    assert headline is not None
    last = history.points()[0][-1]
    assert (last.low, last.high) == (headline.low, headline.high)
    assert len(history.points()[0]) == SLICES // 2


def test_a_long_history_is_thinned_and_keeps_its_ends(everything: tuple[Workspace, Delta]) -> None:
    made, delta = everything
    live = Live(store.resolve(made.path, made.study_id), made.plan.items)
    live.apply(delta)
    summary = live.summary(0.0)
    history = History()
    for done in range(1, 3 * MOST_POINTS):
        history.add(_with_done(summary, done))
    kept = history.points()[0]
    assert len(kept) <= MOST_POINTS
    assert (kept[0].done, kept[-1].done) == (1, 3 * MOST_POINTS - 1)


def _with_done(summary: Summary, done: int) -> Summary:
    return replace(summary, progress=replace(summary.progress, done=done))
