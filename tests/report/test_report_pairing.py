from __future__ import annotations

import numpy as np
import pytest
from batches import Row, cell_batch, make_design
from definition import item_means, pair

from evaltui.core.grid import Grid
from evaltui.core.score import contributions
from evaltui.core.status import Status
from evaltui.core.study import MissingPolicy


def paired(rows: list[Row], *, n_items: int = 4, repeats: int = 2, missing: MissingPolicy | None = None):
    grid = Grid(make_design(n_items, repeats))
    grid.apply(cell_batch(rows))
    added = contributions(grid.status, grid.score, missing or MissingPolicy(), (0.0, 1.0))
    return pair(grid, added, 0, 1)


def run(arm: int, repeat: int, *outcomes: float | Status) -> list[Row]:
    return [
        Row(arm, repeat, place, None, outcome) if isinstance(outcome, Status) else Row(arm, repeat, place, outcome)
        for place, outcome in enumerate(outcomes)
    ]


def test_repeats_are_averaged_within_an_item_before_the_arms_are_subtracted() -> None:
    result = paired([*run(0, 1, 1, 1, 0, 0), *run(0, 2, 1, 0, 0, 1), *run(1, 1, 1, 0, 1, 1), *run(1, 2, 0, 0, 1, 0)])
    np.testing.assert_allclose(result.baseline, [1, 0.5, 0, 0.5])
    np.testing.assert_allclose(result.candidate, [0.5, 0, 1, 0.5])
    np.testing.assert_allclose(result.difference, [-0.5, -0.5, 1, 0])
    assert (result.gained, result.lost, result.n_items) == (1, 2, 4)
    assert (result.n_in_flight, result.n_left_out) == (0, 0)


def test_cells_beyond_the_frontier_are_in_flight_and_do_not_count() -> None:
    result = paired([*run(0, 1, 1, 1, 1, 1), *run(1, 1, 0, 0), Row(1, 1, 3, 0.0), Row(0, 2, 0, 0.0)])
    np.testing.assert_allclose(result.difference, [-1, -1, np.nan, np.nan])
    assert result.n_items == 2
    assert result.n_in_flight == 2 + 1 + 1
    assert result.n_left_out == 0


def test_an_item_without_a_scored_verdict_in_one_arm_is_left_out_of_both() -> None:
    result = paired([*run(0, 1, 1, Status.TIMEOUT, 1, 0), *run(1, 1, 1, 1, 0, Status.EMPTY)])
    np.testing.assert_allclose(result.difference, [0, np.nan, -1, np.nan])
    assert (result.n_items, result.n_left_out) == (2, 2)


def test_an_item_with_one_missing_repeat_counts_with_the_other() -> None:
    result = paired([*run(0, 1, 1), *run(0, 2, Status.TIMEOUT), *run(1, 1, 0), *run(1, 2, 1)])
    assert result.difference[0] == pytest.approx(0.5 - 1)


def test_a_status_that_counts_as_failed_is_paired_at_the_low_end() -> None:
    result = paired(
        [*run(0, 1, 1, 1), *run(1, 1, 1, Status.PARSE_FAILURE)],
        missing=MissingPolicy(by_status={Status.PARSE_FAILURE: "fail"}),
    )
    np.testing.assert_allclose(result.difference, [0, -1, np.nan, np.nan])
    assert result.n_left_out == 0


def test_rounding_in_a_mean_is_neither_gained_nor_lost() -> None:
    low, high = (0.1, 0.2, 0.3), (0.3, 0.2, 0.1)
    assert sum(low) != sum(high)
    rows = [Row(arm, r + 1, 0, score) for arm, scores in enumerate((low, high)) for r, score in enumerate(scores)]
    result = paired(rows, repeats=3)
    assert (result.gained, result.lost, result.n_items) == (0, 0, 1)


def test_nothing_counted_is_nothing_paired() -> None:
    result = paired(run(0, 1, 1, 1))
    assert (result.n_items, result.n_in_flight, result.n_left_out) == (0, 2, 0)


def test_item_means_are_those_of_a_masked_mean() -> None:
    rng = np.random.default_rng(3)
    added = np.where(rng.random((50, 6)) < 0.3, np.nan, rng.random((50, 6)))
    counted = np.arange(50)[:, None] < rng.integers(0, 51, 6)[None, :]
    expected = np.ma.masked_where(~counted | np.isnan(added), added).mean(axis=1).filled(np.nan)
    np.testing.assert_allclose(item_means(added, counted), expected, rtol=1e-14)
