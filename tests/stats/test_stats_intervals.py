"""Intervals by formula, against scipy, statsmodels and published figures; and which of them leads."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm

from evaltui.stats.interval import Interval
from evaltui.stats.intervals import (
    cluster_sem,
    cluster_t,
    fixed_items_interval,
    headline,
    item_interval,
    item_sem,
    item_t,
    run_interval,
)

RNG = np.random.default_rng(20)
VALUES = RNG.normal(0.02, 0.4, 75)
BASELINE = np.array([0.812, 0.807, 0.819, 0.809, 0.815])
CANDIDATE = np.array([0.801, 0.804, 0.797, 0.811, 0.806])


def bounds(interval):
    return pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)


def test_item_t_is_students():
    expected = scipy.stats.ttest_1samp(VALUES, 0).confidence_interval(0.9)
    assert (expected.low, expected.high) == bounds(item_t(VALUES, level=0.9))


def test_item_sem_is_1_96_standard_errors():
    result = item_sem(VALUES)
    assert result.half_width == pytest.approx(1.959963984540054 * scipy.stats.sem(VALUES), rel=1e-12)


def test_five_runs_of_81_84_79_83_82_with_a_sem_of_1_5_points():
    # 1,000 items of two values whose SEM is 1.5 points around the mean of the five runs.
    spread = 1.5 * np.sqrt(999)
    result = item_sem(np.mean([81, 84, 79, 83, 82]) + spread * np.tile([-1, 1], 500))
    assert (result.estimate, result.low, result.high) == pytest.approx((81.8, 78.86, 84.74), abs=0.005)


def test_cluster_intervals_are_the_cluster_robust_ones():
    clusters = RNG.integers(0, 15, 75)
    fit = sm.OLS(VALUES, np.ones(75)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=False)
    assert tuple(fit.conf_int()[0]) == bounds(cluster_sem(VALUES, clusters))
    groups = len(set(clusters.tolist()))
    reach = scipy.stats.t.ppf(0.975, groups - 1) * fit.bse[0]
    result = cluster_t(VALUES, clusters)
    assert (fit.params[0] - reach, fit.params[0] + reach) == bounds(result)
    assert (result.unit, result.n) == ("clusters", groups)
    assert "only 15 clusters" in result.note


@pytest.mark.parametrize(("groups", "warned"), [(19, True), (20, False)], ids=["19", "20"])
def test_below_twenty_clusters_even_t_is_warned_of(groups, warned):
    assert bool(cluster_t(VALUES, np.arange(75) % groups).note) is warned


def test_clusters_of_one_item_give_the_plain_sem():
    assert cluster_sem(VALUES, range(75)).half_width == pytest.approx(item_sem(VALUES).half_width, rel=1e-12)


def test_paired_runs_are_a_t_test_on_their_differences():
    expected = scipy.stats.ttest_rel(CANDIDATE, BASELINE).confidence_interval(0.95)
    result = run_interval(BASELINE, CANDIDATE, paired=True)
    assert (expected.low, expected.high) == bounds(result)
    assert (result.unit, result.n, result.method) == ("runs", 5, "paired t over runs")


def test_unpaired_runs_are_welch():
    expected = scipy.stats.ttest_ind(CANDIDATE[:3], BASELINE, equal_var=False).confidence_interval(0.95)
    result = run_interval(BASELINE, CANDIDATE[:3], paired=False)
    assert (expected.low, expected.high) == bounds(result)
    assert result.n == 8


def test_welch_lets_one_arm_stand_still():
    result = run_interval([0.8, 0.8, 0.8], CANDIDATE, paired=False)
    expected = scipy.stats.ttest_1samp(CANDIDATE - 0.8, 0).confidence_interval(0.95)
    assert (expected.low, expected.high) == bounds(result)


def test_three_runs_against_three_of_sixty_claims():
    # sd 6.4 of 60 claims from the runs themselves at n = 3: t(4) = 2.776, half-width 14.5.
    runs = np.array([-6.4, 0.0, 6.4])
    assert run_interval(30 + runs, 30 + runs, paired=False).half_width == pytest.approx(14.5, abs=0.05)


@pytest.mark.parametrize(
    ("baseline", "candidate", "paired", "note"),
    [
        ([], [], True, "2 pairs of complete runs at least, there are 0"),
        ([0.8], [0.7], True, "2 pairs of complete runs at least, there is 1"),
        ([0.8, 0.7], [0.7, 0.6], True, "differ by the same amount"),
        ([0.8, 0.7], [0.6], False, "there are 2 and 1"),
        ([0.8, 0.8], [0.6, 0.6], False, "how runs vary cannot be known"),
    ],
)
def test_too_few_runs_say_so(baseline, candidate, paired, note):
    result = run_interval(baseline, candidate, paired=paired)
    assert not result.known
    assert note in result.note


def test_paired_runs_come_in_pairs():
    with pytest.raises(ValueError, match="3 baseline and 2 candidate"):
        run_interval([1, 2, 3], [1, 2], paired=True)


def test_fixed_items_by_hand():
    # Item variances 1/3 and 0 in the baseline, 1/2 (over two repeats) and 0 in the candidate; n = 2.
    baseline = [[1, 0, 0], [1, 1, 1]]
    candidate = [[1, 0, np.nan], [1, 1, 1]]
    result = fixed_items_interval(baseline, candidate)
    assert result.estimate == pytest.approx((0.5 + 1) / 2 - (1 / 3 + 1) / 2)
    error = np.sqrt((1 / 3 / 3) / 4 + (1 / 2 / 2) / 4)
    assert result.half_width == pytest.approx(scipy.stats.norm.ppf(0.975) * error, rel=1e-12)
    assert result.estimand == "exactly these items"


def test_fixed_items_leave_out_what_one_arm_has_not_scored():
    missing = [np.nan, np.nan]
    result = fixed_items_interval([[1, 0], [0, 1], missing], [[1, 1], [0, 1], [1, 1]])
    assert (result.n, result.known) == (2, True)


def test_an_item_scored_once_takes_the_variance_of_the_others():
    once = fixed_items_interval([[1, 0], [1, np.nan]], [[1, 1], [1, 1]])
    # v = 1/2 for both, over 2 repeats and over 1.
    assert once.half_width == pytest.approx(scipy.stats.norm.ppf(0.975) * np.sqrt((0.25 + 0.5) / 4), rel=1e-12)


@pytest.mark.parametrize(
    ("baseline", "candidate", "note"),
    [
        (np.empty((0, 3)), np.empty((0, 3)), "no item has a score in both arms"),
        ([[np.nan, np.nan]], [[1, 0]], "no item has a score in both arms"),
        ([[1], [0]], [[1], [1]], "two scored repeats"),
        ([[1, 1], [0, 0]], [[1, 1], [1, 1]], "no item changed"),
    ],
)
def test_fixed_items_say_what_cannot_be_known(baseline, candidate, note):
    result = fixed_items_interval(baseline, candidate)
    assert not result.known
    assert note in result.note


@pytest.mark.parametrize("function", [item_sem, item_t])
@pytest.mark.parametrize(
    ("values", "note"),
    [([], "there are 0"), ([0.5], "there are 1"), ([0.5] * 40, "all 40 items have the same value")],
)
def test_degenerate_items_say_what_cannot_be_known(function, values, note):
    result = function(values)
    assert not result.known
    assert note in result.note


@pytest.mark.parametrize("function", [cluster_sem, cluster_t])
@pytest.mark.parametrize(
    ("values", "clusters", "note"),
    [
        ([], [], "there are 0"),
        ([0.2, 0.4], ["a", "a"], "there are 1"),
        ([0.2, 0.4, 0.3], ["a", "a", "b"], "all 2 clusters have the same mean"),
    ],
)
def test_degenerate_clusters_say_what_cannot_be_known(function, values, clusters, note):
    result = function(values, clusters)
    assert not result.known
    assert note in result.note


def test_two_items_are_enough_for_t():
    result = item_t([0.0, 1.0])
    assert result.half_width == pytest.approx(12.706204736 * 0.5, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "clusters", "method"),
    [
        (49, None, "t over items"),
        (50, None, "percentile bootstrap"),
        (60, 39, "t over clusters"),
        (60, 40, "percentile bootstrap"),
    ],
)
def test_the_item_interval_is_the_one_valid_at_this_size(n, clusters, method):
    labels = None if clusters is None else np.arange(n) % clusters
    assert item_interval(VALUES[:n], clusters=labels).method == method


def interval(half_width, unit="items", n=200, note=""):
    known = half_width is not None
    low, high = (-half_width, half_width) if known else (None, None)
    return Interval(low, high, 0.0, 0.95, f"over {unit}", unit, n, "", note)


def test_the_headline_is_the_wider_of_the_two():
    item, run = interval(0.02), interval(0.0272, "runs", 5)
    result = headline(item, run, k=5)
    assert result.interval is run
    assert result.why == "The wider of two: over runs it is 1.36 times as wide as over items."
    other = headline(interval(0.034), run, k=5)
    assert other.why == "The wider of two: over items it is 1.25 times as wide as over runs."


def test_items_and_runs_together_by_hand():
    # 3^2 + 6^2 - (1 + 1.25 / 4) 2^2 = 39.75
    result = headline(interval(3.0), interval(6.0, "runs", 5), k=5, noise=interval(2.0))
    assert (result.low, result.high) == pytest.approx((-np.sqrt(39.75), np.sqrt(39.75)))
    assert (result.method, result.interval.unit, result.interval.n) == ("t over items and runs", "items", 200)
    assert result.why == (
        "Items and runs together: with the movement of whole runs it is 2.10 times as wide as over items."
    )


def test_runs_that_move_no_more_than_the_noise_leave_the_item_interval_as_it_is():
    item = interval(3.0)
    result = headline(item, interval(2.2, "runs", 5), k=5, noise=interval(2.0))
    assert result.interval is item
    assert "moved no more than single answers explain" in result.why


def test_noise_above_the_item_interval_counts_as_much_as_that():
    # 3^2 + 6^2 - (1 + 1.25 / 4) 3^2 = 33.1875
    result = headline(interval(3.0), interval(6.0, "runs", 5), k=5, noise=interval(4.0))
    assert result.interval.half_width == pytest.approx(np.sqrt(33.1875))


def test_noise_that_cannot_be_known_leaves_the_wider_of_the_two():
    run = interval(0.0272, "runs", 5)
    assert headline(interval(0.02), run, k=5, noise=interval(None)).interval is run


@pytest.mark.parametrize(("k", "words"), [(0, "no repeat is"), (1, "1 repeat is"), (2, "2 repeats are")])
def test_below_three_repeats_the_headline_is_the_item_interval_and_says_what_is_not_in_it(k, words):
    result = headline(interval(0.02), interval(0.5, "runs", k), k=k)
    assert (result.low, result.high) == (-0.02, 0.02)
    assert words in result.why
    assert "could not be measured" in result.why


def test_a_headline_without_a_run_interval_says_why():
    no_run = interval(None, "runs", 1, note="needs more: 2 pairs")
    assert "needs more: 2 pairs" in headline(interval(0.02), no_run, k=3).why
    assert "there is no interval over runs" in headline(interval(0.02), None, k=3).why


def test_a_headline_without_an_item_interval_falls_to_the_runs():
    result = headline(interval(None, note="all equal"), interval(0.1, "runs", 5), k=5)
    assert result.interval.unit == "runs"
    assert "all equal" in result.why


def test_a_headline_of_nothing_is_unknown():
    assert not headline(interval(None, note="needs more"), None, k=1).interval.known


def test_below_fifty_items_the_headline_says_that_it_is_t():
    assert headline(interval(0.1, n=49), interval(0.05, "runs", 3), k=3).why.endswith("the item interval is t.")


@pytest.mark.parametrize("k", [-1, 2.5, math.nan, True])
def test_a_headline_is_of_a_count_of_repeats(k):
    with pytest.raises(ValueError, match="k must be "):
        headline(item_t([0.0, 1.0, 0.0]), None, k=k)


def test_levels_are_not_mixed():
    with pytest.raises(ValueError, match=r"0\.95 and 0\.9"):
        headline(item_t(VALUES), run_interval(BASELINE, CANDIDATE, paired=True, level=0.9), k=5)


def test_an_interval_never_holds_half_a_bound_or_infinity():
    with pytest.raises(ValueError, match="both bounds or none"):
        Interval(0.0, None, 0.0, 0.95, "t", "items", 3, "")
    with pytest.raises(ValueError, match="high is inf"):
        Interval(0.0, float("inf"), 0.0, 0.95, "t", "items", 3, "")


def test_an_unknown_interval_excludes_nothing():
    assert interval(0.02).excludes(0.03)
    assert not interval(0.02).excludes(0.02)
    assert not interval(None).excludes(1000)


def test_standard_error_over_1319_questions(cases):
    expected = json.loads((cases / "expected.json").read_text())["pair_gsm8k_6bver_vs_175bver"]
    scores = [
        np.array([json.loads(line)["score"] for line in (cases / "gsm8k" / name).read_text().splitlines()])
        for name in ("verdicts_6b_verification.jsonl", "verdicts_175b_verification.jsonl")
    ]
    result = item_sem(scores[1] - scores[0])
    assert result.half_width / 1.959964 == pytest.approx(expected["se_clt"], abs=1e-6)
