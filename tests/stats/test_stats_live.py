"""The live comparison: whatever the order and the batches, the numbers of a computation from scratch."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltui.stats.bootstrap import mean_interval
from evaltui.stats.exact import ExactSums, weighted_sum
from evaltui.stats.forecast import forecast
from evaltui.stats.intervals import fixed_items_interval, item_interval
from evaltui.stats.live import LivePair
from evaltui.stats.live_flips import LiveFlips

any_study = settings(max_examples=60, deadline=None, derandomize=True)

CONTRIBUTIONS = {
    "0/1": lambda rng, size: rng.integers(0, 2, size).astype(float),
    "letters": lambda rng, size: rng.choice([0.0, 0.25, 0.7, 1.0], size),
    "real": lambda rng, size: rng.normal(size=size),
    "alike": lambda rng, size: np.ones(size),
}


def from_scratch(added, arrived):
    """Means, differences and frontier by the definition: (2, n, k) contributions and which cells are there."""
    _, n, k = added.shape
    frontier = np.array(
        [next((i for i in range(n) if not arrived[:, i, r].all()), n) for r in range(k)], dtype=np.int64
    )
    counted = np.where(np.arange(n)[:, None] < frontier, added, np.nan)
    means = np.full((2, n), np.nan)
    for arm in (0, 1):
        for item in range(n):
            values = counted[arm, item][~np.isnan(counted[arm, item])]
            if len(values):
                means[arm, item] = np.where(np.isnan(counted[arm, item]), 0.0, counted[arm, item]).sum() / len(values)
    return frontier, counted, means, means[1] - means[0]


def assert_is_from_scratch(live, added, arrived):
    frontier, counted, means, difference = from_scratch(added, arrived)
    paired = ~np.isnan(difference)
    np.testing.assert_array_equal(live.frontier, frontier)
    np.testing.assert_array_equal(live.difference, difference)
    assert live.paired == paired.sum()
    assert live.n_in_flight == arrived.sum() - 2 * frontier.sum()
    assert live.n_left_out == frontier.max() - paired.sum()
    assert live.gained == (difference[paired] > 1e-12).sum()
    assert live.lost == (difference[paired] < -1e-12).sum()
    assert live.interval() == mean_interval(difference[paired])
    assert live.interval(level=0.8) == mean_interval(difference[paired], level=0.8)
    assert live.item_interval() == item_interval(difference[paired])
    assert live.fixed_items_interval() == fixed_items_interval(counted[0][paired], counted[1][paired])
    for together in (True, False):
        assert live.forecast(paired=together) == forecast(*counted, frontier, paired=together)
    if paired.any():
        assert live.means == tuple(math.fsum(means[arm, paired]) / paired.sum() for arm in (0, 1))
    else:
        assert live.means is None
    for column in np.flatnonzero(frontier == added.shape[1]).tolist():
        both = ~np.isnan(added[:, :, column]).any(axis=0)
        expected = tuple(math.fsum(added[arm, both, column]) / both.sum() for arm in (0, 1)) if both.any() else None
        assert live.run_means(column + 1) == expected


@any_study
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 90),
    k=st.integers(1, 11),
    kind=st.sampled_from(sorted(CONTRIBUTIONS)),
    missing=st.sampled_from([0.0, 0.05, 0.5]),
    share=st.sampled_from([0.3, 0.9, 1.0]),
    batches=st.integers(1, 6),
    local=st.booleans(),
)
def test_any_order_batching_and_revision_gives_the_numbers_from_scratch(
    seed, n, k, kind, missing, share, batches, local
):
    rng = np.random.default_rng(seed)
    cells = np.argwhere(np.ones((2, n, k), dtype=bool))
    rank = rng.random(len(cells)) + (cells[:, 1] / n * 4 if local else 0)
    cells = cells[np.argsort(rank)][: int(share * len(cells))]
    cells = np.concatenate((cells, rng.permutation(cells)[: len(cells) // 4]))
    values = CONTRIBUTIONS[kind](rng, len(cells))
    values[rng.random(len(cells)) < missing] = np.nan
    live, added, arrived = LivePair(n, k), np.full((2, n, k), np.nan), np.zeros((2, n, k), dtype=bool)
    for rows in np.array_split(np.arange(len(cells)), batches):
        arm, position, column = cells[rows].T
        live.update(arm, position, column + 1, values[rows])
        for (a, i, r), value in zip(cells[rows].tolist(), values[rows].tolist(), strict=True):
            added[a, i, r], arrived[a, i, r] = value, True
        assert_is_from_scratch(live, added, arrived)


def test_repeats_that_are_added_make_room_and_change_nothing():
    rng = np.random.default_rng(5)
    added = rng.normal(size=(2, 60, 3))
    live = LivePair(60, 3)
    live.update(*fully(added))
    before = live.interval()
    live.grow(10)
    assert live.interval() == before
    more = np.concatenate((added, rng.normal(size=(2, 60, 7))), axis=2)
    live.update(*fully(more))
    assert_is_from_scratch(live, more, np.ones(more.shape, dtype=bool))


def test_many_distinct_differences_are_no_longer_kept_as_a_histogram_and_give_the_same_interval():
    added = np.random.default_rng(6).normal(size=(2, 5000, 1))
    live = LivePair(5000, 1)
    live.update(*fully(added))
    assert live.interval() == mean_interval((added[1] - added[0])[:, 0])


def test_a_cell_that_does_not_exist_is_named():
    live = LivePair(3, 2)
    with pytest.raises(ValueError, match=r"repeat\[0\] is 3; there are 1 to 2"):
        live.update(np.array([0]), np.array([0]), np.array([3]), np.array([1.0]))
    with pytest.raises(ValueError, match=r"position\[0\] is 3; there are 0 to 2"):
        live.update(np.array([0]), np.array([3]), np.array([1]), np.array([1.0]))
    with pytest.raises(ValueError, match=r"contribution\[0\] is inf"):
        live.update(np.array([0]), np.array([0]), np.array([1]), np.array([math.inf]))


ONE = [np.array([0]), np.array([0]), np.array([1]), np.array([1.0])]


@pytest.mark.parametrize(
    ("place", "wrong", "why"),
    [
        (0, np.array([2]), r"arm\[0\] is 2"),
        (1, np.array([-1]), r"position\[0\] is -1"),
        (1, np.array([0, 1]), r"position has the shape \(2,\), but arm has \(1,\)"),
        (1, np.array([0.0]), "position must be whole numbers, not of type float64"),
        (2, np.array([0]), r"repeat\[0\] is 0; there are 1 to 2"),
        (2, np.array([[1]]), "repeat must have one dimension"),
        (3, np.array([1.0, 1.0]), "contribution has the shape"),
        (3, np.array(["1"]), "contribution must be real numbers"),
        (3, np.ma.masked_array([1.0], [True]), "contribution must not be a masked array"),
        (3, np.array([1e80]), r"contribution\[0\] is 1e\+80"),
    ],
)
def test_nothing_of_a_batch_that_is_refused_is_taken_in(place, wrong, why):
    live = LivePair(3, 2)
    live.update(*fully(np.random.default_rng(1).random((2, 3, 2))))
    before = pickle.dumps(live)
    with pytest.raises(ValueError, match=why):
        live.update(*(wrong if each == place else column for each, column in enumerate(ONE)))
    assert pickle.dumps(live) == before


@pytest.mark.parametrize(
    ("rows", "codes", "why"),
    [
        ([3], [[0, 0]], r"rows\[0\] is 3; there are 0 to 2"),
        ([-1], [[0, 0]], r"rows\[0\] is -1"),
        ([1, 0, 1], [[0, 0]] * 3, "each item once"),
        ([0], [[0, 0, 0]], r"codes must have the shape \(1, 2\), not \(1, 3\)"),
        ([0, 1], [[0, 0]], r"codes must have the shape \(2, 2\), not \(1, 2\)"),
        ([0], [[0, -2]], r"codes\[0, 1\] is -2"),
        ([0], [[0, 0.5]], "codes must be integer codes"),
    ],
)
def test_no_flips_of_a_batch_that_is_refused_are_taken_in(rows, codes, why):
    live = LiveFlips(3, 2)
    live.update(np.array([0, 2]), np.array([[0, 1], [1, -1]]))
    before = pickle.dumps(live)
    with pytest.raises(ValueError, match=why):
        live.update(np.array(rows), np.array(codes))
    assert pickle.dumps(live) == before


@pytest.mark.parametrize("size", [-1, 2.5, math.nan, True])
def test_a_live_study_has_counts_of_items_and_repeats(size):
    for made in (LivePair, LiveFlips):
        with pytest.raises(ValueError, match="n_items must be "):
            made(size, 2)
        with pytest.raises(ValueError, match="repeats must be "):
            made(2, size)


def test_run_means_of_an_unfinished_repeat_are_refused():
    with pytest.raises(ValueError, match="repeat 1 is not complete"):
        LivePair(3, 2).run_means(1)


@any_study
@given(st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=40), st.integers(0, 39))
def test_exact_sums_are_those_of_fsum_after_taking_some_away(values, cut):
    array = np.array(values)[:, None]
    sums = ExactSums(1)
    sums.add(array)
    assert sums.total(0) == math.fsum(values)
    sums.replace(array[:cut], np.empty((0, 1)))
    assert sums.total(0) == math.fsum(values[cut:])
    assert sums.total(0, extra=0.1, times=3) == math.fsum([*values[cut:], 0.1, 0.1, 0.1])


@any_study
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(1, 50)), min_size=1, max_size=20))
def test_a_weighted_sum_is_that_of_the_listed_values(pairs):
    values, counts = np.array([v for v, _ in pairs]), np.array([c for _, c in pairs])
    assert weighted_sum(values, counts) == math.fsum(np.repeat(values, counts).tolist())


def fully(added):
    arm, position, column = (axis.ravel() for axis in np.indices(added.shape))
    return arm, position, column + 1, added.ravel()
