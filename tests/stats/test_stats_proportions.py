"""Intervals for a proportion and McNemar's test, against scipy and statsmodels."""

from __future__ import annotations

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


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5)])
def test_impossible_counts_are_refused(successes, n):
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(successes, n)


@pytest.mark.parametrize(("gained", "lost"), [(12, 16), (0, 5), (1, 0), (7, 7), (300, 250)])
def test_mcnemar_agrees_with_statsmodels(gained, lost):
    expected = mcnemar([[100, gained], [lost, 100]], exact=True)
    assert mcnemar_exact(gained, lost).p == pytest.approx(expected.pvalue, rel=1e-9)


def test_mcnemar_of_nothing_is_unknown():
    result = mcnemar_exact(0, 0)
    assert (result.p, result.n) == (None, 0)
    assert "no item changed" in result.note


def test_mcnemar_refuses_negative_counts():
    with pytest.raises(ValueError, match="counts"):
        mcnemar_exact(-1, 3)
