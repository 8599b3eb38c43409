"""Intervals for a proportion and McNemar's test, against scipy and statsmodels."""

from __future__ import annotations

import math

import pytest
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar

from evaltui.stats.intervals import clopper_pearson, mcnemar_exact, wilson

COUNTS = [(0, 307), (14, 307), (307, 307), (1, 1), (0, 1), (3, 10), (1319, 2000)]


@pytest.mark.parametrize(("successes", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("function", "method"), [(wilson, "wilson"), (clopper_pearson, "exact")])
def test_agrees_with_scipy(function, method, successes, n, level):
    expected = scipy.stats.binomtest(successes, n).proportion_ci(level, method)
    result = function(successes, n, level=level)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_none_of_307_is_below_1_2_percent():
    result = clopper_pearson(0, 307)
    assert result.low == 0
    assert 0.0119 < result.high < 0.012


def test_no_item_is_no_interval():
    for function in (wilson, clopper_pearson):
        assert not function(0, 0).known


@pytest.mark.parametrize("function", [wilson, clopper_pearson])
@pytest.mark.parametrize("successes", [-1, 6, math.nan, math.inf])
def test_impossible_successes_are_refused(function, successes):
    with pytest.raises(ValueError, match=f"successes must .*{successes}"):
        function(successes, 5)


@pytest.mark.parametrize("function", [wilson, clopper_pearson])
def test_counts_are_whole_and_levels_numbers(function):
    for n in (2.5, math.nan, math.inf, -1, True):
        with pytest.raises(ValueError, match=f"n must be .*{n}"):
            function(0, n)
    for level in (math.nan, 0, 1, -1, math.inf):
        with pytest.raises(ValueError, match=f"level must .*{level}"):
            function(1, 5, level=level)


def test_only_an_expected_count_may_have_a_fraction():
    with pytest.raises(ValueError, match=r"successes must be a whole .*, not 2\.5"):
        clopper_pearson(2.5, 10)
    assert 0 < wilson(2.5, 10).low < 0.25 < wilson(2.5, 10).high < 1


@pytest.mark.parametrize("level", [1 - 1e-9, 1 - 1e-13])
def test_limits_at_a_level_next_to_one(level):
    """Exact limits leave half of it in each binomial tail; at Wilson's the score is the normal quantile."""
    tail, n, successes = (1 - level) / 2, 40, 30
    exact, score = clopper_pearson(successes, n, level=level), wilson(successes, n, level=level)
    assert scipy.stats.binom.cdf(successes, n, exact.high) == pytest.approx(tail, rel=1e-3)
    assert scipy.stats.binom.sf(successes - 1, n, exact.low) == pytest.approx(tail, rel=1e-3)
    for p in (score.low, score.high):
        assert abs(successes / n - p) / math.sqrt(p * (1 - p) / n) == pytest.approx(
            scipy.stats.norm.isf(tail), rel=1e-6
        )


@pytest.mark.parametrize("n", [1, 10, 10**6, 2**53])
@pytest.mark.parametrize("level", [1e-300, 0.95, 1 - 2**-53])
def test_the_farthest_counts_have_limits(n, level):
    for function in (wilson, clopper_pearson):
        for successes in {0, 1, n // 2, n - 1, n}:
            result = function(successes, n, level=level)
            assert 0 <= result.low <= successes / n <= result.high <= 1


@pytest.mark.parametrize(("gained", "lost"), [(12, 16), (0, 5), (1, 0), (7, 7), (300, 250)])
def test_mcnemar_agrees_with_statsmodels(gained, lost):
    expected = mcnemar([[100, gained], [lost, 100]], exact=True)
    assert mcnemar_exact(gained, lost).p == pytest.approx(expected.pvalue, rel=1e-9)


def test_mcnemar_of_nothing_is_unknown():
    result = mcnemar_exact(0, 0)
    assert (result.p, result.n) == (None, 0)
    assert "no item changed" in result.note


@pytest.mark.parametrize("wrong", [-1, 2.5, math.nan, math.inf, True])
def test_mcnemar_takes_counts_only(wrong):
    with pytest.raises(ValueError, match=f"gained must be .*{wrong}"):
        mcnemar_exact(wrong, 3)
    with pytest.raises(ValueError, match=f"lost must be .*{wrong}"):
        mcnemar_exact(3, wrong)


@pytest.mark.parametrize("n", [10**6, 2**40, 2**52])
def test_mcnemar_of_the_farthest_counts(n):
    """sqrt(n) apart, at n changed items: about one sd of the normal limit on either side."""
    apart = math.isqrt(n) // 2
    found = mcnemar_exact(n // 2 - apart, n - n // 2 + apart).p
    assert found == pytest.approx(2 * scipy.stats.norm.sf(1), abs=2e-3)
    assert mcnemar_exact(0, n).p == 0
