from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from batches import Row, cell_batch, make_design
from hypothesis import given
from hypothesis import strategies as st

from evaltui.core.errors import StoreError
from evaltui.core.grid import Grid
from evaltui.core.status import OK_CODE, STATUS_CODES, Status

N_ITEMS, REPEATS = 150, 3


def grid_of(*batches: list[Row], n_items: int = N_ITEMS, repeats: int = REPEATS) -> Grid:
    grid = Grid(make_design(n_items, repeats))
    for rows in batches:
        grid.apply(cell_batch(rows))
    return grid


def same_cells(a: Grid, b: Grid) -> bool:
    """Equal in everything but the numbers given to labels."""
    names = [[*grid.labels, None] for grid in (a, b)]
    labels = [[held[code] for code in grid.label.ravel()] for grid, held in zip((a, b), names, strict=True)]
    columns = ("status", "score", "text", "attempts", "latency", "finished", "revision", "_counts", "_prefix")
    return labels[0] == labels[1] and all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in columns
    )


cells = st.tuples(st.integers(0, 1), st.integers(1, REPEATS), st.integers(0, N_ITEMS - 1))


@st.composite
def arrivals(draw: st.DrawFn) -> list[Row]:
    """Rows with several revisions of some cells and some rows twice, each (cell, revision) saying one thing."""
    keys = draw(st.lists(st.tuples(cells, st.integers(0, 3)), max_size=60, unique=True))
    rows = [
        Row(
            *cell,
            score=draw(st.sampled_from([0.0, 1.0])),
            revision=revision,
            status=draw(st.sampled_from([Status.OK, Status.TIMEOUT])),
            label=draw(st.sampled_from([None, "yes", "No ", "no"])),
        )
        for cell, revision in keys
    ]
    return rows + (draw(st.lists(st.sampled_from(rows), max_size=5)) if rows else [])


@given(arrivals(), st.data())
def test_the_order_and_the_batches_of_arrival_change_nothing(rows: list[Row], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    cut = data.draw(st.integers(0, len(rows)))
    assert same_cells(grid_of(rows), grid_of(shuffled[:cut], shuffled[cut:]))


@given(arrivals())
def test_a_cell_is_what_its_highest_revision_says(rows: list[Row]) -> None:
    grid = grid_of(rows)
    current: dict[tuple[int, int, int], Row] = {}
    for row in sorted(rows, key=lambda row: row.revision):
        current[row.arm, row.position, row.repeat - 1] = row
    assert np.count_nonzero(grid.status) == len(current)
    for place, row in current.items():
        assert grid.status[place] == STATUS_CODES[row.status]
        assert grid.revision[place] == row.revision


def brute_force_frontier(grid: Grid) -> list[int]:
    both = (grid.status[0] > 0) & (grid.status[1] > 0)
    return [next((p for p in range(N_ITEMS) if not both[p, r]), N_ITEMS) for r in range(REPEATS)]


@given(st.lists(st.lists(cells, max_size=40), max_size=6), st.integers(0, N_ITEMS))
def test_the_frontier_is_the_longest_prefix_terminal_in_both_arms(
    batches: list[list[tuple[int, int, int]]], dense: int
) -> None:
    grid = grid_of([Row(arm, 1, position, 1.0) for arm in (0, 1) for position in range(dense)])
    for keys in batches:
        grid.apply(cell_batch(Row(*key, 1.0) for key in keys))
        assert grid.frontier(0, 1).tolist() == brute_force_frontier(grid)


def test_the_frontier_waits_for_the_slower_arm_and_counts_what_lies_below_it() -> None:
    grid = grid_of(
        [Row(0, 1, position, 1.0) for position in (0, 1, 2, 4)] + [Row(1, 1, position, 0.0) for position in (0, 1, 3)]
    )
    assert grid.prefix(0).tolist() == [3, 0, 0]
    assert grid.prefix(1).tolist() == [2, 0, 0]
    assert grid.frontier(0, 1).tolist() == [2, 0, 0]
    assert np.argwhere(grid.counted(0, 1)).tolist() == [[0, 0], [1, 0]]


def test_the_frontier_reaches_the_end_of_an_order_longer_than_one_look() -> None:
    grid = grid_of([Row(0, 2, position, 1.0) for position in range(1000)], n_items=1000)
    assert grid.prefix(0).tolist() == [0, 1000, 0]


def test_a_failed_cell_run_again_moves_from_one_count_to_the_other() -> None:
    grid = grid_of([Row(0, 1, 0, None, Status.TIMEOUT)], [Row(0, 1, 0, 1.0, revision=1)])
    assert grid.counts(0, 1)[[OK_CODE, STATUS_CODES[Status.TIMEOUT]]].tolist() == [1, 0]
    assert grid.done(0, 1) == 1
    assert grid.score[0, 0, 0] == 1.0


def test_a_late_lower_revision_is_ignored() -> None:
    grid = grid_of([Row(0, 1, 0, 1.0, revision=1)], [Row(0, 1, 0, None, Status.TIMEOUT)])
    assert grid.status[0, 0, 0] == OK_CODE


def test_labels_are_compared_with_white_space_and_case_folded() -> None:
    grid = grid_of(
        [
            Row(0, 1, place, 1.0, label=label)
            for place, label in enumerate(["Yes", " yes\n", "YES  ok", "straße", "STRASSE", None])
        ]
    )
    codes = grid.label[0, :6, 0]
    assert codes[0] == codes[1] != codes[2]
    assert codes[3] == codes[4]
    assert codes[5] == -1
    assert grid.labels == ["yes", "yes ok", "strasse"]


def test_a_run_is_complete_when_every_item_is_terminal() -> None:
    rows = [Row(0, 1, position, None, Status.REFUSED) for position in range(N_ITEMS)]
    grid = grid_of(rows, [Row(0, 2, 0, 1.0)])
    assert grid.complete(0).tolist() == [True, False, False]
    assert not grid.complete(1).any()


def test_growing_keeps_what_is_there_and_makes_room_for_more() -> None:
    grid = grid_of([Row(1, REPEATS, 7, 0.5, label="b", latency=2.0)])
    grid.grow(REPEATS + 2)
    grid.apply(cell_batch([Row(1, REPEATS + 2, 0, 1.0)]))
    assert grid.status.shape == (2, N_ITEMS, REPEATS + 2)
    assert grid.score[1, 7, REPEATS - 1] == 0.5
    assert grid.latency[1, 7, REPEATS - 1] == 2.0
    assert grid.prefix(1).tolist() == [0, 0, 0, 0, 1]
    assert np.isnan(grid.score[0]).all()


def test_growing_to_fewer_repeats_changes_nothing() -> None:
    grid = grid_of([Row(0, REPEATS, 0, 1.0)])
    grid.grow(1)
    assert grid.repeats == REPEATS


def test_an_empty_batch_changes_nothing() -> None:
    assert same_cells(grid_of([]), grid_of())


@pytest.mark.parametrize("wrong", [{"arm": 2}, {"repeat": 0}, {"repeat": REPEATS + 1}, {"position": N_ITEMS}])
def test_a_cell_outside_the_design_is_refused_before_anything_changes(wrong: dict[str, int]) -> None:
    grid = grid_of()
    good = Row(0, 1, 0, 1.0)
    with pytest.raises(StoreError, match=next(iter(wrong)).replace("position", "item")):
        grid.apply(cell_batch([good, replace(good, **wrong)]))
    assert same_cells(grid, grid_of())
