"""Gate rules, against worked examples, scipy's studentized range and simulated runs."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltui.stats import rules
from evaltui.stats.interval import Interval


@pytest.mark.parametrize(("candidate", "drop", "margin", "blocked"), [(75.9, 2.5, 0.7, False), (74.6, 3.8, -0.6, True)])
def test_twice_the_range_on_the_worked_gate(candidate, drop, margin, blocked):
    verdict = rules.twice_the_range(78.4, candidate, 1.6, k=3)
    assert (verdict.value, verdict.limit, verdict.margin) == pytest.approx((drop, 3.2, margin))
    assert verdict.blocked is blocked


@pytest.mark.parametrize(("threshold", "limit"), [(2, 3.2), (5, 5)])
def test_a_practical_threshold_only_raises_the_bar(threshold, limit):
    verdict = rules.range_or_threshold(78.4, 74.6, 1.6, k=3, threshold=threshold)
    assert verdict.limit == pytest.approx(limit)
    assert verdict.blocked is (limit < 3.8)


def test_a_drop_equal_to_its_limit_passes():
    assert rules.twice_the_range(78.4, 75.2, 1.6, k=3).blocked is False


def test_a_rise_is_never_blocked():
    assert rules.twice_the_range(78.4, 90, 1.6, k=3).blocked is False
    assert rules.two_sd_band(78.4, 90, 1.6, k=3).blocked is False


@pytest.mark.parametrize(("high", "blocked"), [(-0.001, True), (0.0, False), (0.01, False)])
def test_an_interval_blocks_when_all_of_it_is_below_zero(high, blocked):
    interval = Interval(-0.08, high, -0.03, 0.95, "t", "items", 200, "items like these")
    verdict = rules.interval_below_zero(interval)
    assert (verdict.blocked, verdict.unit, verdict.limit) == (blocked, "items", 0)


def test_an_interval_without_bounds_decides_nothing():
    unknown = Interval(None, None, 0.1, 0.95, "t", "items", 3, "items like these", "needs more")
    verdict = rules.interval_below_zero(unknown)
    assert (verdict.blocked, verdict.margin, verdict.note) == (None, None, "needs more")


def test_the_prediction_limit_of_one_run_and_of_several():
    one = rules.prediction_limit(0.8, 0.7, 0.02, k=5)
    three = rules.prediction_limit(0.8, 0.7, 0.02, k=5, candidate_runs=3)
    t = scipy.stats.t.ppf(0.975, 4) * 0.02
    assert (one.limit, three.limit) == pytest.approx((t * np.sqrt(1 + 1 / 5), t * np.sqrt(1 / 3 + 1 / 5)), rel=1e-12)


def test_a_spread_that_was_not_measured_decides_nothing():
    for verdict in (
        rules.twice_the_range(0.8, 0.7, None, k=1),
        rules.range_or_threshold(0.8, 0.7, None, k=1, threshold=0.02),
        rules.prediction_limit(0.8, 0.7, None, k=1),
        rules.two_sd_band(0.8, 0.7, None, k=1),
    ):
        assert (verdict.blocked, verdict.limit) == (None, None)
        assert "not been measured" in verdict.note
        assert verdict.value == pytest.approx(0.1)


@pytest.mark.parametrize("k", [2, 3, 5, 10, 30])
def test_the_range_has_the_distribution_of_scipy(k):
    for w in (0.7, 2.0, 4.5):
        nodes, weights = np.polynomial.legendre.leggauss(100)
        below = w / 2 * weights @ rules.range_density(w / 2 * (nodes + 1), k)
        assert below == pytest.approx(scipy.stats.studentized_range.cdf(w, k, np.inf), abs=1e-9)


@pytest.mark.parametrize(("drop", "percent"), [(0, 2), (1, 10), (2, 26), (3, 46), (4, 65), (5, 80)])
def test_what_twice_the_range_stops_with_three_runs_against_three(drop, percent):
    assert rules.detection_rate("twice_range", drop, k=3) == pytest.approx(percent / 100, abs=0.005)


@pytest.mark.parametrize(("k", "percent"), [(3, 22.5), (10, 8.9)])
def test_false_alarms_of_two_sd_on_one_new_run(k, percent):
    """P(|t(k-1)| > 2 / sqrt(1 + 1/k)), from a table of t."""
    rate = rules.false_alarm_rate("two_sd", k=k, candidate_runs=1, either_side=True)
    assert rate == pytest.approx(percent / 100, abs=0.0005)
    assert rate == pytest.approx(2 * scipy.stats.t.sf(2 / np.sqrt(1 + 1 / k), k - 1), abs=1e-12)


def test_prediction_limits_keep_their_level():
    for k in (2, 3, 10):
        assert rules.false_alarm_rate("prediction", k=k, either_side=True) == pytest.approx(0.05, abs=1e-9)
        assert rules.false_alarm_rate("interval", k=k) == pytest.approx(0.025, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5, 10])
@pytest.mark.parametrize("candidate_runs", [1, 4])
def test_every_rule_against_simulated_runs(k, candidate_runs):
    rng = np.random.default_rng(7)
    base = rng.normal(size=(200_000, k))
    drop = 1.5 + base.mean(axis=1) + rng.normal(size=200_000) / np.sqrt(candidate_runs)
    spread, sd = np.ptp(base, axis=1), base.std(axis=1, ddof=1)
    t = scipy.stats.t.ppf(0.975, k - 1) * np.sqrt(1 / k + 1 / candidate_runs)
    shared = {"k": k, "candidate_runs": candidate_runs}
    found = {
        "twice_range": (drop > 2 * spread).mean(),
        "range_or_threshold": (drop > np.maximum(2 * spread, 2.5)).mean(),
        "two_sd": (drop > 2 * sd).mean(),
        "prediction": (drop > t * sd).mean(),
    }
    for rule, share in found.items():
        assert rules.detection_rate(rule, 1.5, threshold=2.5, **shared) == pytest.approx(share, abs=0.005)


def test_the_paired_interval_has_the_power_of_a_paired_t_test():
    nct = scipy.stats.nct(9, 1.2 * np.sqrt(10) / np.sqrt(2))
    assert rules.detection_rate("interval", 1.2, k=10) == pytest.approx(nct.sf(scipy.stats.t.ppf(0.975, 9)), abs=1e-9)


@pytest.mark.parametrize(("k", "candidate_runs"), [(2, 2), (3, 3), (10, 10), (3, 5), (8, 2)])
def test_the_unpaired_interval_against_simulated_welch_tests(k, candidate_runs):
    rng = np.random.default_rng(19)
    studies = 200_000
    base, candidate = rng.normal(size=(k, studies)), rng.normal(size=(candidate_runs, studies))
    for drop in (0.0, 1.2, 3.0):
        test = scipy.stats.ttest_ind(base, candidate - drop, equal_var=False)
        stopped, either = ((test.pvalue < 0.05) & (test.statistic > 0)).mean(), (test.pvalue < 0.05).mean()
        options = {"k": k, "candidate_runs": candidate_runs, "paired": False}
        for share, rate in (
            (stopped, rules.detection_rate("interval", drop, **options)),
            (either, rules.detection_rate("interval", drop, either_side=True, **options)),
        ):
            assert rate == pytest.approx(share, abs=4 * np.sqrt(rate * (1 - rate) / studies))


def test_the_unpaired_interval_is_the_double_integral_over_both_variances():
    """Behrens and Fisher's case by brute force: P(drop over its error beyond Welch's limit), variances independent."""
    k, runs, drop = 4, 6, 1.5
    spread = np.sqrt(1 / k + 1 / runs)

    def stopped(first, second):
        a, b = first / k, second / runs
        limit = scipy.stats.t.ppf(0.975, (a + b) ** 2 / (a * a / (k - 1) + b * b / (runs - 1))) * np.sqrt(a + b)
        return scipy.stats.norm.sf((limit - drop) / spread)

    nodes, weights = np.polynomial.legendre.leggauss(200)
    q, w = (nodes + 1) / 2, weights / 2
    first, second = (scipy.stats.chi2.ppf(q, m - 1) / (m - 1) for m in (k, runs))
    expected = w @ stopped(first[:, None], second) @ w
    found = rules.detection_rate("interval", drop, k=k, candidate_runs=runs, paired=False)
    assert found == pytest.approx(expected, abs=1e-5)


def test_many_unpaired_runs_have_the_power_of_a_normal_test():
    found = rules.detection_rate("interval", 0.05, k=5000, paired=False)
    assert found == pytest.approx(scipy.stats.norm.sf(1.959964 - 0.05 * np.sqrt(2500)), abs=1e-3)


def test_pairs_are_nothing_to_the_other_rules():
    for rule in ("twice_range", "two_sd", "prediction"):
        assert rules.detection_rate(rule, 2, k=4, paired=False) == rules.detection_rate(rule, 2, k=4)


def test_welch_takes_two_runs_in_each_arm():
    assert rules.false_alarm_rate("interval", k=5, candidate_runs=1, paired=False) is None
    assert rules.false_alarm_rate("interval", k=1, candidate_runs=5, paired=False) is None


def test_the_integral_with_a_threshold_is_that_of_adaptive_quadrature():
    def integrand(w):
        limit = max(2 * w, 3.0)
        return float(rules.range_density(np.array([w]), 4)[0]) * scipy.stats.norm.cdf((2 - limit) / np.sqrt(1 / 2))

    expected = scipy.integrate.quad(integrand, 0, 18, points=[1.5], epsabs=1e-12, limit=200)[0]
    assert rules.detection_rate("range_or_threshold", 2, k=4, threshold=3) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["twice_range", "two_sd", "prediction"]), st.integers(2, 20), st.floats(0, 6))
def test_a_larger_drop_is_stopped_more_often(rule, k, drop):
    smaller, larger = (rules.detection_rate(rule, d, k=k) for d in (drop, drop + 0.5))
    assert -1e-12 <= smaller < larger + 1e-9 <= 1 + 2e-9


def test_one_baseline_run_has_no_range():
    assert rules.detection_rate("twice_range", 1, k=1) is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: rules.detection_rate("twice", 1, k=3),
        lambda: rules.detection_rate("twice_range", 1, k=0),
        lambda: rules.detection_rate("interval", 1, k=3, candidate_runs=2),
        lambda: rules.detection_rate("twice_range", 1, k=3, factor=-1),
        lambda: rules.range_or_threshold(1, 1, 1, k=3, threshold=-1),
        lambda: rules.range_density(np.array([1.0]), 1),
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"must|need|at least"):
        wrong()


WRONG = [float("nan"), float("inf"), float("-inf")]


@pytest.mark.parametrize("value", [*WRONG, -1.0], ids=["nan", "inf", "-inf", "-1"])
@pytest.mark.parametrize(
    ("rule", "name"),
    [
        *((rules.twice_the_range, name) for name in ("baseline", "candidate", "spread", "factor")),
        *((rules.range_or_threshold, name) for name in ("baseline", "candidate", "spread", "factor", "threshold")),
        *((rules.two_sd_band, name) for name in ("baseline", "candidate", "sd", "factor")),
        *((rules.prediction_limit, name) for name in ("baseline", "candidate", "sd", "level")),
        *((rules.detection_rate, name) for name in ("drop", "factor", "threshold", "level")),
    ],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_no_rule_decides_on_what_is_not_a_number(rule, name, value):
    given = {"baseline": 0.8, "candidate": 0.7, "k": 5}
    given |= {"threshold": 0.02} if rule is rules.range_or_threshold else {}
    given |= {"sd": 0.02} if rule in (rules.two_sd_band, rules.prediction_limit) else {"spread": 0.02}
    if rule is rules.detection_rate:
        given = {"rule": "twice_range", "drop": 1.0, "k": 5}
    if value == -1 and name in ("baseline", "candidate", "drop"):
        rule(**(given | {name: value}))
        return
    with pytest.raises(ValueError, match=rf"{name} must .*{value}"):
        rule(**(given | {name: value}))


@pytest.mark.parametrize("k", [2.5, float("nan"), 0], ids=["2.5", "nan", "0"])
def test_runs_are_counted_in_whole_numbers(k):
    for rule in (rules.twice_the_range, rules.two_sd_band, rules.prediction_limit):
        with pytest.raises(ValueError, match=f"k must be .*{k}"):
            rule(0.8, 0.7, 0.02, k=k)
    with pytest.raises(ValueError, match=f"candidate_runs must be .*{k}"):
        rules.detection_rate("two_sd", 1, k=3, candidate_runs=k)


@pytest.mark.parametrize("rule", ["twice_range", "range_or_threshold", "two_sd", "prediction", "interval"])
@pytest.mark.parametrize("drop", [-1e50, -40, 0, 40, 1e50])
def test_a_rate_is_never_outside_0_to_1(rule, drop):
    for either_side in (False, True):
        for factor in (0, 2):
            rate = rules.detection_rate(rule, drop, k=4, factor=factor, either_side=either_side)
            assert 0 <= rate <= 1
            if abs(drop) > 1:
                assert rate == pytest.approx(float(drop > 0 or either_side), abs=1e-9)


def test_a_large_drop_is_stopped_in_the_far_tail_too():
    """18 runs, 9 standard errors: scipy's distribution has no value here."""
    assert rules.detection_rate("interval", 9 / np.sqrt(18 / 2), k=18) > 0.5
    assert rules.detection_rate("interval", 20, k=18, paired=False) == pytest.approx(1, abs=1e-12)


MANY = [10**4, 10**5, 10**6, 10**9, 2**53]


@pytest.mark.parametrize("k", MANY)
@pytest.mark.parametrize("errors", [0, 2, 4])
def test_very_many_unpaired_runs_have_the_power_of_a_z_test(k, errors):
    """t and z limits differ by an order of 1 / k."""
    found = rules.detection_rate("interval", errors * np.sqrt(2 / k), k=k, paired=False)
    assert found == pytest.approx(scipy.stats.norm.sf(scipy.stats.norm.isf(0.025) - errors), abs=2 / k + 1e-12)


@pytest.mark.parametrize("k", MANY)
def test_against_very_many_runs_only_the_few_of_the_other_arm_count(k):
    """Welch's test is then that of one sample with the degrees of freedom of the few."""
    for options in ({"k": k, "candidate_runs": 5}, {"k": 5, "candidate_runs": k}):
        found = rules.detection_rate("interval", 2 * np.sqrt(1 / 5 + 1 / k), paired=False, **options)
        expected = scipy.stats.nct.sf(scipy.stats.t.isf(0.025, 4), 4, 2)
        assert found == pytest.approx(expected, abs=10 / k + 1e-8)


@pytest.mark.parametrize("k", [10, 10**3, *MANY])
@pytest.mark.parametrize("factor", [0.5, 2])
def test_the_range_of_very_many_runs_against_simulation(k, factor):
    """The extremes of k uniforms are E1 / S and 1 - E2 / S, S the sum of both exponentials and of a gamma of k - 1."""
    rng, studies = np.random.default_rng(5), 200_000
    first, last, rest = rng.exponential(size=studies), rng.exponential(size=studies), rng.gamma(k - 1, size=studies)
    spread = -sum(scipy.stats.norm.ppf(end / (first + last + rest)) for end in (first, last))
    noise = rng.normal(size=studies) * np.sqrt(2 / k)
    for drop in factor * 2 * scipy.stats.norm.isf(np.array([2, 0.7, 0.3]) / k):
        share = (drop + noise > factor * spread).mean()
        rate = rules.detection_rate("twice_range", drop, k=k, factor=factor)
        assert rate == pytest.approx(share, abs=4 * np.sqrt(rate * (1 - rate) / studies))


@pytest.mark.parametrize("k", [2, 3, 10**5, 2**53])
@pytest.mark.parametrize("factor", [0, 1e-60, 1, 1e60])
def test_a_threshold_alone_is_a_normal_test(k, factor):
    """Half of all means lie above a drop equal to the threshold, and fewer where the range counts too."""
    rate = rules.detection_rate("range_or_threshold", 1, k=k, factor=factor, threshold=1)
    assert rate == pytest.approx(0.5, abs=1e-8) if factor < 1 else 0 <= rate < 0.5


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.1, 1e61])
def test_a_range_is_a_number_of_at_least_zero(wrong):
    with pytest.raises(ValueError, match=rf"w must be .*{re.escape(str(wrong))}"):
        rules.range_density(np.array([1.0, wrong]), 3)


@pytest.mark.parametrize("wrong", [np.nan, 2.5, 1, True])
def test_a_range_has_two_values_at_least(wrong):
    with pytest.raises(ValueError, match=f"k must be .*{wrong}"):
        rules.range_density(np.array([1.0]), wrong)


def test_no_range_at_all_has_the_density_of_equal_values():
    """Two values: the density of |N(0, 2)| at 0, 1 / sqrt(pi)."""
    assert rules.range_density(np.array([0.0]), 2) == pytest.approx(1 / np.sqrt(np.pi))
    assert rules.range_density(np.array([0.0]), 3) == 0
