"""The arrays behind the heatmap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from screen_world import plan_of

from evaltui.core.delta import CellBatch
from evaltui.core.grid import Grid
from evaltui.core.status import STATUS_CODES, Status
from evaltui.tui import heat
from evaltui.tui.heat import Heat, HeatFrame, Order, ordered

Row = tuple[int, int, int, Status, float, str | None, float]


def batch(rows: list[Row]) -> CellBatch:
    """Cells as (arm, repeat, position, status, score, label, finished)."""
    n = len(rows)
    arm, repeat, position, status, score, label, finished = zip(*rows, strict=True) if rows else ((),) * 7
    return CellBatch(
        arm=np.array(arm, dtype=np.int16),
        repeat=np.array(repeat, dtype=np.int16),
        position=np.array(position, dtype=np.int32),
        revision=np.zeros(n, dtype=np.int16),
        status=np.array([STATUS_CODES[each] for each in status], dtype=np.uint8),
        score=np.array(score, dtype=np.float64),
        label=list(label),
        text=np.full(n, -1, dtype=np.int64),
        attempts=np.ones(n, dtype=np.int16),
        latency=np.ones(n, dtype=np.float32),
        finished=np.array(finished, dtype=np.float64),
    )


def passes(pattern: str, *, position: int = 0, arm: int = 0) -> list[Row]:
    """``+`` passed, ``-`` failed, ``T`` timed out, blank pending; one run a character, finished in that order."""
    rows: list[Row] = []
    for place, mark in enumerate(pattern):
        if mark == "T":
            rows.append((arm, place + 1, position, Status.TIMEOUT, np.nan, None, float(place)))
        elif mark != " ":
            rows.append((arm, place + 1, position, Status.OK, float(mark == "+"), mark, float(place)))
    return rows


def frame_of(
    rows: list[Row], *, items: int = 1, repeats: int = 4, categories: list[str | None] | None = None
) -> HeatFrame:
    grid = Grid(plan_of(items, repeats=repeats).design)
    cells = batch(rows)
    grid.apply(cells)
    made = Heat(categories or [None] * items, (0.0, 1.0))
    made.update(grid, cells.position)
    return made.frame()


def test_the_odd_verdict_out_is_marked_as_a_flip() -> None:
    shade = frame_of(passes("+++-")).shade[0]
    assert shade.tolist()[:4] == [heat.PASS, heat.PASS, heat.PASS, heat.FAIL + heat.FLIPPED]


def test_a_wrong_answer_unlike_the_usual_wrong_one_is_a_flip_with_a_mark_of_its_own() -> None:
    rows = passes("---+")
    rows[1] = (*rows[1][:5], "another wrong answer", rows[1][6])
    shade = frame_of(rows).shade[0, :4]
    assert shade.tolist() == [heat.FAIL, heat.FAILS_OTHERWISE, heat.FAIL, heat.PASS + heat.FLIPPED]


def test_a_cell_that_ended_without_a_score_is_told_by_its_status_and_never_flips() -> None:
    frame = frame_of(passes("+T+ "))
    timeout = heat.WITHOUT_SCORE + STATUS_CODES[Status.TIMEOUT]
    assert frame.shade[0].tolist()[:4] == [heat.PASS, timeout, heat.PASS, heat.PENDING]
    assert frame.flip[0] == 0


def test_a_score_between_the_ends_is_partial() -> None:
    frame = frame_of([(0, 1, 0, Status.OK, 0.5, "half", 0.0)])
    assert frame.shade[0, 0] == heat.PARTIAL


@pytest.mark.parametrize(
    ("baseline", "candidate", "rate"),
    [
        ("++++", "", 0.0),
        ("+-+-", "", 4 / 6),  # four of the six pairs differ
        ("+-", "++", 1 / 2),  # one of the two pairs differs
        ("++++", "----", 0.0),  # arms are never compared with each other here
        ("+", "", np.nan),
        ("", "", np.nan),
    ],
)
def test_the_flip_rate_is_the_share_of_differing_pairs_within_the_arms(
    baseline: str, candidate: str, rate: float
) -> None:
    frame = frame_of(passes(baseline) + passes(candidate, arm=1))
    np.testing.assert_allclose(frame.flip[0], rate)


def test_the_last_change_is_when_a_verdict_last_differed_from_the_one_before_it_in_time() -> None:
    late = [
        (0, 1, 0, Status.OK, 1.0, "+", 9.0),
        (0, 2, 0, Status.OK, 0.0, "-", 5.0),
        (0, 3, 0, Status.OK, 0.0, "-", 7.0),
    ]
    assert frame_of(late).change[0] == 9.0


def test_an_item_that_never_changed_has_no_last_change() -> None:
    assert frame_of(passes("++++")).change[0] == 0


@pytest.mark.parametrize(
    ("order", "positions"),
    [
        (Order.PLANNED, [0, 1, 2, 3]),
        (Order.FLIP, [2, 1, 0, 3]),
        (Order.CATEGORY, [2, 0, 1, 3]),
        (Order.CHANGE, [1, 2, 0, 3]),
    ],
)
def test_rows_are_sorted(order: Order, positions: list[int]) -> None:
    rows = passes("++++") + passes("+++-", position=1) + passes("+-+ ", position=2)
    frame = frame_of(rows, items=4, categories=["a", "b", "a", None])
    assert ordered(frame, order).tolist() == positions


def test_the_orders_follow_one_another_in_a_circle() -> None:
    seen = [Order.FLIP]
    while (following := seen[-1].next) not in seen:
        seen.append(following)
    assert set(seen) == set(Order)


cells = st.tuples(st.integers(0, 1), st.integers(1, 4), st.integers(0, 7), st.sampled_from("+-T"))


@given(st.lists(cells, unique_by=lambda cell: cell[:3], max_size=60), st.integers(0, 60))
def test_looking_twice_is_the_same_as_looking_once(drawn: list[tuple[int, int, int, str]], cut: int) -> None:
    rows = [row for arm, repeat, position, mark in drawn for row in _cell(arm, repeat, position, mark)]
    grid, made = Grid(plan_of(8).design), Heat([None] * 8, (0.0, 1.0))
    for part in (rows[:cut], rows[cut:]):
        news = batch(part)
        grid.apply(news)
        made.update(grid, news.position)
    whole = Heat([None] * 8, (0.0, 1.0))
    whole.update(grid, np.arange(8, dtype=np.int32))
    for name in ("shade", "flip", "change"):
        np.testing.assert_array_equal(getattr(made.frame(), name), getattr(whole.frame(), name))


def _cell(arm: int, repeat: int, position: int, mark: str) -> list[Row]:
    finished = float(repeat * 10 + position)
    if mark == "T":
        return [(arm, repeat, position, Status.TIMEOUT, np.nan, None, finished)]
    return [(arm, repeat, position, Status.OK, float(mark == "+"), mark, finished)]


def test_repeats_that_are_added_get_their_columns() -> None:
    grid, made = Grid(plan_of(2, repeats=2).design), Heat([None] * 2, (0.0, 1.0))
    news = batch(passes("+-"))
    grid.apply(news)
    made.update(grid, news.position)
    grid.grow(3)
    made.update(grid, np.array([], dtype=np.int32))
    assert made.frame().shade.shape == (2, 6)
    assert made.frame().shade[0, :3].tolist() == [heat.PASS, heat.FAIL + heat.FLIPPED, heat.PENDING]


def test_a_frame_does_not_change_any_more() -> None:
    grid, made = Grid(plan_of(1).design), Heat([None], (0.0, 1.0))
    before = made.frame()
    news = batch(passes("++"))
    grid.apply(news)
    made.update(grid, news.position)
    assert before.shade.size == 0
