from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.stats

from evaltui.stats.bootstrap import mean_interval
from evaltui.stats.interval import Interval
from evaltui.stats.intervals import cluster_sem, cluster_t, fixed_items_interval, item_sem, item_t, run_interval
from evaltui.stats.proportions import wilson
from evaltui.stats.t_test import t_test


def test_it_is_the_one_sample_t_test_of_the_items() -> None:
    values = np.random.default_rng(4).normal(0.1, 1, 40)
    expected = scipy.stats.ttest_1samp(values, 0)
    result = t_test(item_t(values))
    assert (result.p, result.statistic, result.df) == pytest.approx((expected.pvalue, expected.statistic, 39), rel=1e-9)


def test_it_is_the_paired_t_test_of_runs() -> None:
    a, b = [0.81, 0.79, 0.80, 0.83], [0.78, 0.79, 0.77, 0.79]
    expected = scipy.stats.ttest_rel(b, a).pvalue
    assert t_test(run_interval(a, b, paired=True)).p == pytest.approx(expected, rel=1e-9)


def test_equal_clusters_are_tested_by_their_means() -> None:
    values = np.random.default_rng(5).normal(0.2, 1, 60)
    expected = scipy.stats.ttest_1samp(values.reshape(12, 5).mean(axis=1), 0).pvalue
    result = t_test(cluster_t(values, np.repeat(np.arange(12), 5)))
    assert result.p == pytest.approx(expected, rel=1e-9)


def test_the_level_of_the_interval_does_not_matter() -> None:
    values = np.random.default_rng(6).normal(0.3, 1, 15)
    assert t_test(item_t(values, level=0.5)).p == pytest.approx(t_test(item_t(values, level=0.99)).p, rel=1e-9)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5, 0.5]])
def test_where_there_is_no_interval_there_is_no_p_and_the_reason_is_kept(values: list[float]) -> None:
    interval = item_t(values)
    result = t_test(interval)
    assert result.p is None
    assert result.note == interval.note != ""


VALUES = np.random.default_rng(7).normal(0.3, 1, 60)
SCORES = np.random.default_rng(8).integers(0, 2, (2, 20, 4))


@pytest.mark.parametrize(
    "interval",
    [
        run_interval(VALUES[:5], VALUES[5:12], paired=False),
        run_interval([0.5], [0.6, 0.7], paired=False),
        mean_interval(VALUES),
        mean_interval(VALUES, method="bca"),
        item_sem(VALUES),
        cluster_sem(VALUES, np.repeat(np.arange(12), 5)),
        fixed_items_interval(*SCORES),
        wilson(7, 20),
    ],
    ids=lambda interval: interval.method,
)
def test_an_interval_that_is_no_t_interval_is_refused(interval: Interval) -> None:
    with pytest.raises(ValueError, match=f"t over items.*, not {re.escape(interval.method)}"):
        t_test(interval)
