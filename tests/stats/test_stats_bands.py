"""Bands and prediction limits, against the worked examples of the field and scipy."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.stats

from evaltui.stats.bands import (
    band,
    bartlett,
    brown_forsythe,
    new_run_limit,
    pool,
    project,
    rubric_band,
    sampling_band,
    two_run_limit,
    two_set_band,
)

TEN_RUNS = [0.8120, 0.8070, 0.8190, 0.8090, 0.8150, 0.8040, 0.8110, 0.8180, 0.8060, 0.8130]


def test_the_ten_run_example():
    result = band(TEN_RUNS)
    assert (result.k, result.measured, result.z) == (10, True, 2.0)
    assert result.mean == pytest.approx(0.8114, abs=1e-12)
    assert result.sd == pytest.approx(0.00502, abs=5e-6)
    assert result.band == pytest.approx(0.01003, abs=5e-6)
    assert result.range == pytest.approx(0.0150, abs=1e-12)
    assert result.quoted == 0.01
    assert result.scores == tuple(TEN_RUNS)


def test_the_sd_has_a_chi_square_interval():
    result = band(TEN_RUNS, level=0.9)
    quantiles = scipy.stats.chi2.ppf([0.95, 0.05], 9)
    expected = np.std(TEN_RUNS, ddof=1) * np.sqrt(9 / quantiles)
    assert (result.sd_low, result.sd_high) == pytest.approx(tuple(expected), rel=1e-9)


@pytest.mark.parametrize(("k", "percent"), [(5, 35.4), (10, 23.6), (20, 16.2)])
def test_relative_uncertainty_of_the_sd(k, percent):
    assert band(np.arange(k) / 100).relative_uncertainty == pytest.approx(percent / 100, abs=5e-4)


def test_three_runs_lead_with_their_range():
    result = band([71.2, 72.8, 70.9])
    assert result.mean == pytest.approx(71.63, abs=0.005)
    assert result.range == pytest.approx(1.9)
    assert "the range leads" in result.note


def test_five_runs():
    assert band([81, 84, 79, 83, 82]).mean == pytest.approx(81.8)


@pytest.mark.parametrize(
    ("sd", "quoted"),
    [(0.0051, 0.01), (0.0064, 0.01), (0.0066, 0.015), (0.0123, 0.02), (0.0004, 0.005)],
)
def test_the_quoted_band_has_one_figure_of_the_sd_and_half_points(sd, quoted):
    # Two runs d apart have the sd d / sqrt(2).
    assert band([0.5, 0.5 + sd * np.sqrt(2)]).quoted == quoted


@pytest.mark.parametrize(("k", "word"), [(2, "guess"), (3, "unstable"), (7, "vague"), (10, ""), (13, "adds little")])
def test_the_number_of_runs_is_judged(k, word):
    note = band(np.arange(k) / 100).note
    assert word in note
    assert bool(note) is bool(word)


@pytest.mark.parametrize(
    ("scores", "note"),
    [([], "there are none"), ([0.8], "there is 1"), ([0.8, 0.8, 0.1 + 0.7], "all 3 runs have the same score")],
)
def test_a_band_that_was_not_measured_is_never_zero(scores, note):
    result = band(scores)
    assert (result.measured, result.band, result.sd, result.quoted) == (False, None, None, None)
    assert note in result.note
    assert (result.mean is None) is (not scores)


def test_runs_that_are_not_repeats_measure_no_band():
    result = band([0.8, 0.81, 0.8], not_repeats="a cold cache")
    assert (result.measured, result.band, result.note) == (False, None, "a cold cache")
    assert result.range == pytest.approx(0.01)


def test_a_missing_run_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"run_scores\[1\] is nan"):
        band([0.8, float("nan")])


@pytest.mark.parametrize(
    ("p", "n", "expected"),
    [(0.81, 2000, 0.0088), (0.81, 500, 0.0175), (0.81, 200, 0.0277), (14 / 307, 307, 0.0119)],
)
def test_sampling_band(p, n, expected):
    assert sampling_band(p, n) == pytest.approx(expected, abs=5e-5)


def test_which_claims_made_it_into_a_rubric_of_sixty():
    assert rubric_band(0.5, 60) == pytest.approx(3.87, abs=0.005)


def test_two_sets_take_the_root_of_the_sum():
    assert two_set_band(0.81, 2000, 0.81, 500) == pytest.approx(np.hypot(0.0088, 0.0175), abs=1e-4)


@pytest.mark.parametrize(("p", "n"), [(1.1, 10), (-0.1, 10), (0.5, 0), (float("nan"), 10)])
def test_a_sampling_band_of_nonsense_is_refused(p, n):
    with pytest.raises(ValueError, match="must"):
        sampling_band(p, n)


@pytest.mark.parametrize("k", [3, 10])
def test_a_prediction_limit_gives_five_percent_false_alarms_where_two_sd_give_far_more(k):
    rng = np.random.default_rng(30)
    runs, new = rng.normal(size=(40_000, k)), rng.normal(size=40_000)
    distance = np.abs(new - runs.mean(axis=1)) / runs.std(axis=1, ddof=1)
    assert (distance > new_run_limit(k, 1.0).width).mean() == pytest.approx(0.05, abs=0.005)
    assert (distance > 2).mean() == pytest.approx({3: 0.23, 10: 0.08}[k], abs=0.01)


def test_new_run_limit_formula():
    assert new_run_limit(5, 0.01).width == pytest.approx(2.7764451051977987 * 0.01 * np.sqrt(1.2), rel=1e-12)


def test_two_run_limit_formula():
    assert two_run_limit(0.01, level=0.9).width == pytest.approx(np.sqrt(2) * 1.6448536269514722 * 0.01, rel=1e-12)


def test_without_a_measured_sd_there_is_no_limit():
    for limit in (new_run_limit(1, 0.01), new_run_limit(10, None), two_run_limit(None)):
        assert limit.width is None
        assert "not been measured" in limit.note


@pytest.mark.parametrize("sd", [0.0, -0.1, float("nan"), float("inf")])
def test_an_sd_that_is_none_is_refused(sd):
    with pytest.raises(ValueError, match="positive number"):
        two_run_limit(sd)


def test_only_the_independent_part_shrinks_with_more_items():
    """Section 6: sd 0.00502 on 2,000 items of which independent flips of 30 to 40 items explain 0.0021."""
    projected = project(0.00502, 0.0021, 2000, to_n=500)
    shared = np.sqrt(0.00502**2 - 0.0021**2)
    assert (projected.independent, projected.shared) == pytest.approx((0.0042, shared), rel=1e-12)
    assert projected.sd == pytest.approx(np.hypot(0.0042, shared), rel=1e-12)
    assert project(0.00502, 0.0021, 2000, to_n=10**9).sd == pytest.approx(shared, rel=1e-5)


def test_more_runs_lessen_both_parts():
    projected = project(0.00502, 0.0021, 2000, to_k=4)
    assert projected.sd == pytest.approx(0.00251, rel=1e-12)
    assert projected.relative_uncertainty == pytest.approx(1 / np.sqrt(6))


def test_runs_that_spread_no_more_than_flips_share_nothing():
    projected = project(0.004, 0.005, 2000, to_n=8000)
    assert (projected.sd, projected.shared) == (pytest.approx(0.002), 0)
    assert "no part" in projected.note


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sizes", [(5, 5), (10, 3, 7), (10, 10, 10, 4)])
def test_equal_variance_tests_against_scipy(seed, sizes):
    rng = np.random.default_rng(seed)
    groups = [0.8 + rng.normal(scale=0.01, size=size) for size in sizes]
    for ours, theirs in ((bartlett, scipy.stats.bartlett), (brown_forsythe, scipy.stats.levene)):
        result, expected = ours(groups), theirs(*groups)
        assert (result.statistic, result.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)
        assert result.n == sum(sizes)


def test_pooled_bands_weigh_by_their_degrees_of_freedom():
    first, second = band(TEN_RUNS), band([0.812, 0.806, 0.815])
    result = pool([first, band([0.8]), second])
    expected = np.sqrt((9 * first.sd**2 + 2 * second.sd**2) / 11)
    assert (result.sd, result.df) == (pytest.approx(expected, rel=1e-12), 11)
    assert result.history == (first.sd, None, second.sd)
    limits = expected * np.sqrt(11 / scipy.stats.chi2.ppf([0.975, 0.025], 11))
    assert (result.sd_low, result.sd_high) == pytest.approx(tuple(limits), rel=1e-9)


def test_bands_that_differ_are_not_pooled():
    result = pool([band(TEN_RUNS), band(0.8 + 10 * (np.array(TEN_RUNS) - 0.8))])
    assert (result.sd, result.sd_low) == (None, None)
    assert "floor has moved" in result.note


def test_too_few_bands_to_pool_are_said():
    assert "no band" in pool([band([0.8])]).note
    alone = pool([band(TEN_RUNS)])
    assert alone.sd == pytest.approx(band(TEN_RUNS).sd)
    assert "one band only" in alone.note
    assert bartlett([TEN_RUNS, [0.8]]).p is None
    assert brown_forsythe([[0.1, 0.2], [0.1, 0.3]]).p is None


NO_NUMBER = [math.nan, math.inf, -math.inf, -1.0, 1e61]
NO_COUNT = [math.nan, math.inf, 2.5, -1, True]
PAIR = [band(TEN_RUNS), band([0.812, 0.806, 0.815])]


@pytest.mark.parametrize(
    ("call", "given", "name"),
    [
        (band, {"run_scores": TEN_RUNS}, "z"),
        (band, {"run_scores": TEN_RUNS}, "level"),
        (sampling_band, {"n": 10}, "p"),
        (two_set_band, {"p": 0.5, "n": 10, "m": 10}, "q"),
        (rubric_band, {"claims": 10}, "p"),
        (new_run_limit, {"k": 5}, "sd"),
        (new_run_limit, {"k": 1}, "sd"),
        (new_run_limit, {"k": 5, "sd": 1}, "level"),
        (two_run_limit, {}, "sd"),
        (two_run_limit, {"sd": 1}, "level"),
        (project, {"independent_sd": 0.1, "n": 10}, "sd"),
        (project, {"sd": 0.1, "n": 10}, "independent_sd"),
        (pool, {"bands": PAIR}, "alpha"),
        (pool, {"bands": PAIR}, "level"),
    ],
)
@pytest.mark.parametrize("value", NO_NUMBER, ids=str)
def test_what_is_no_number_is_refused_by_name(call, given, name, value):
    with pytest.raises(ValueError, match=rf"{name} must .*{re.escape(str(value))}"):
        call(**(given | {name: value}))


@pytest.mark.parametrize(
    ("call", "given", "name"),
    [
        (sampling_band, {"p": 0.5}, "n"),
        (two_set_band, {"p": 0.5, "n": 10, "q": 0.5}, "m"),
        (rubric_band, {"p": 0.5}, "claims"),
        (new_run_limit, {"sd": 0.1}, "k"),
        (project, {"sd": 0.1, "independent_sd": 0.05}, "n"),
        (project, {"sd": 0.1, "independent_sd": 0.05, "n": 9}, "to_n"),
        (project, {"sd": 0.1, "independent_sd": 0.05, "n": 9}, "to_k"),
    ],
)
@pytest.mark.parametrize("value", NO_COUNT, ids=str)
def test_what_is_no_count_is_refused_by_name(call, given, name, value):
    with pytest.raises(ValueError, match=rf"{name} must be .*{value}"):
        call(**(given | {name: value}))


CLOSEST = 1 - 2**-53


@pytest.mark.parametrize("level", [0.999999, 1 - 1e-12, CLOSEST])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_limits_at_a_level_next_to_one(k, level):
    """The quantile is found from the distribution's own tail: the probability below it is half of what is left."""
    tail, result = (1 - level) / 2, band(TEN_RUNS[:k], level=level)
    for end, share in ((result.sd_high, scipy.stats.chi2.cdf), (result.sd_low, scipy.stats.chi2.sf)):
        assert share((k - 1) * (result.sd / end) ** 2, k - 1) == pytest.approx(tail, rel=1e-6)
    assert pool([result], level=level).sd_high == pytest.approx(result.sd_high)
    new = new_run_limit(k, 1.0, level=level).width / np.sqrt(1 + 1 / k)
    assert scipy.stats.t.sf(new, k - 1) == pytest.approx(tail, rel=1e-6)
    assert scipy.stats.norm.sf(two_run_limit(1.0, level=level).width / np.sqrt(2)) == pytest.approx(tail, rel=1e-6)


def test_the_farthest_numbers_stay_finite():
    for sd in (1e-60, 1e60):
        assert 0 < new_run_limit(2, sd, level=CLOSEST).width < math.inf
        far = project(sd, 1e60, 1, to_n=2**53, to_k=2**53)
        assert 0 < far.sd < math.inf
    wide = band([-1e60, 1e60], z=1e60, level=CLOSEST)
    assert all(math.isfinite(number) for number in (wide.sd_low, wide.sd_high, wide.band, wide.quoted))
    assert 0 < sampling_band(0.5, 2**53) < rubric_band(0.5, 2**53) < math.inf
