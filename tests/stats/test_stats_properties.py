"""What holds for any data: order, sign, scale, nesting of levels, and no NaN or infinity out."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltui.stats.bands import band
from evaltui.stats.bootstrap import mean_interval
from evaltui.stats.excess import excess_spread
from evaltui.stats.flips import flips
from evaltui.stats.intervals import cluster_t, fixed_items_interval, item_interval, item_sem, item_t, run_interval

any_data = settings(max_examples=80, deadline=None, derandomize=True)


def samples(value):
    """Lists of ``value``, as often long enough for every interval as not."""
    return st.one_of(st.lists(value, max_size=12), st.lists(value, min_size=14, max_size=70))


LATTICE = st.integers(1, 10).flatmap(lambda k: samples(st.integers(-k, k).map(lambda count: count / k)))
REAL = samples(st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False))
SCORES = st.one_of(LATTICE, REAL)
METHODS = st.sampled_from(["percentile", "bca"])
ESTIMATORS = [
    mean_interval,
    lambda values, **options: mean_interval(values, method="bca", **options),
    lambda values, **options: mean_interval(values, clusters=[place % 13 for place in range(len(values))], **options),
    lambda values, **options: cluster_t(values, [place % 7 for place in range(len(values))], **options),
    item_interval,
    item_sem,
    item_t,
    lambda values, **options: run_interval(values, values[::-1], paired=True, **options),
    lambda values, **options: run_interval(values, values[1:], paired=False, **options),
]


def numbers(result):
    """Every number in a result, nested results included."""
    for field in fields(result):
        value = getattr(result, field.name)
        if hasattr(value, "__dataclass_fields__"):
            yield from numbers(value)
        elif isinstance(value, tuple):
            yield from value
        elif isinstance(value, float):
            yield value


@pytest.mark.parametrize("estimator", ESTIMATORS)
@any_data
@given(values=SCORES, level=st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_no_nan_or_infinity_comes_out_and_an_unknown_interval_says_why(estimator, values, level):
    result = estimator(values, level=level)
    assert all(math.isfinite(number) for number in numbers(result))
    if result.known:
        assert result.low <= result.high
    else:
        assert result.note


@pytest.mark.parametrize("estimator", [*ESTIMATORS, band])
@pytest.mark.filterwarnings("error")
@any_data
@given(values=samples(st.sampled_from([0.0, -0.0, 5e-324, 1e-308, 1e-60, 0.5, 1.0, -1e60, 1e60])))
def test_numbers_of_any_size_give_numbers(estimator, values):
    assert all(math.isfinite(number) for number in numbers(estimator(values)))


@pytest.mark.parametrize("estimator", [*ESTIMATORS, band])
@pytest.mark.parametrize("value", [1.1e60, -1e308], ids=["just beyond", "largest"])
def test_a_number_too_large_to_be_squared_is_refused_with_its_place(estimator, value):
    with pytest.raises(ValueError, match=r"\[\d+\] is .*beyond 1e\+60"):
        estimator([0.0, 1.0, value, 1.0])


@pytest.mark.parametrize("estimator", ESTIMATORS)
@any_data
@given(values=SCORES)
def test_a_wider_level_contains_the_narrower_one(estimator, values):
    narrow, wide = estimator(values, level=0.8), estimator(values, level=0.95)
    if narrow.known:
        assert wide.low <= narrow.low
        assert narrow.high <= wide.high


@any_data
@given(values=SCORES, method=METHODS, seed=st.integers(0, 2**32 - 1))
def test_the_order_of_the_items_is_of_no_account(values, method, seed):
    order = np.random.default_rng(seed).permutation(len(values))
    assert mean_interval(np.array(values)[order], method=method) == mean_interval(values, method=method)
    assert item_t(np.array(values)[order]) == item_t(values)


@any_data
@given(values=LATTICE, method=METHODS)
def test_swapping_the_arms_mirrors_the_interval(values, method):
    result, mirrored = mean_interval(values, method=method), mean_interval(np.negative(values), method=method)
    if result.known:
        assert (mirrored.low, mirrored.high) == pytest.approx((-result.high, -result.low), abs=1e-12)


@any_data
@given(values=LATTICE, method=METHODS, scale=st.sampled_from([0.5, 3.0, 100.0, math.pi, 1e-3]))
def test_another_unit_of_the_score_scales_the_interval(values, method, scale):
    result, scaled = mean_interval(values, method=method), mean_interval(np.multiply(values, scale), method=method)
    assert scaled.known is result.known
    if result.known:
        assert (scaled.low, scaled.high) == pytest.approx((scale * result.low, scale * result.high), rel=1e-9, abs=1e-9)


@any_data
@given(values=LATTICE, shift=st.sampled_from([1.0, -0.25, math.e]))
def test_adding_a_constant_moves_the_interval(values, shift):
    result, moved = mean_interval(values), mean_interval(np.add(values, shift))
    if result.known:
        assert (moved.low, moved.high) == pytest.approx((result.low + shift, result.high + shift), abs=1e-9)


@any_data
@given(values=SCORES)
def test_a_band_has_no_nan_and_no_zero(values):
    result = band(values)
    assert all(math.isfinite(number) for number in numbers(result))
    assert result.measured is (result.band is not None)
    assert result.band is None or result.band > 0


TABLES = st.tuples(st.integers(0, 12), st.integers(0, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-1, 3), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    ).map(lambda rows: np.array(rows, dtype=int).reshape(shape))
)


@any_data
@given(labels=TABLES, seed=st.integers(0, 2**32 - 1))
def test_flips_depend_neither_on_order_nor_on_names(labels, seed):
    rng = np.random.default_rng(seed)
    renamed = np.append(rng.permutation(100)[:4], -1)[labels]
    shuffled = renamed[rng.permutation(len(labels))][:, rng.permutation(labels.shape[1])]
    assert flips(shuffled) == flips(labels)
    assert all(math.isfinite(number) for number in numbers(flips(labels)))


@any_data
@given(labels=TABLES)
def test_tables_with_holes_give_no_nan(labels):
    scores = np.where(labels < 0, np.nan, labels / 3)
    for result in (excess_spread(scores, resamples=50), fixed_items_interval(scores, scores[:, ::-1])):
        assert all(math.isfinite(number) for number in numbers(result))
