"""Excess spread, Cochran's Q, the permutation test, and runs that are not repeats."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import chi2
from statsmodels.stats.contingency_tables import cochrans_q

from evaltui.stats.excess import cochran_q, excess_spread, permutation_test, same_texts
from evaltui.stats.flips import flips


def verdicts(n, k, seed, shift=0.0):
    """0/1 scores whose items flip independently, with runs moved as a whole by ``shift`` of either sign."""
    rng = np.random.default_rng(seed)
    p = rng.beta(4, 1.2, n)[:, None] + shift * rng.choice([-1, 1], k)
    return (rng.random((n, k)) < p).astype(float)


@pytest.mark.parametrize(("n", "k"), [(30, 2), (200, 5), (2000, 10)])
def test_cochrans_q_agrees_with_statsmodels(n, k):
    scores = verdicts(n, k, seed=50)
    expected = cochrans_q(scores)
    result = cochran_q(scores)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert result.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert result.df == k - 1


def test_the_ratio_by_hand():
    # Run means 2/3, 1/3: variance 1/18. Item variances 1/2, 1/2, 1/2 over n^2 = 9: 1/6.
    result = excess_spread([[1, 0], [1, 0], [0, 1]])
    assert result.ratio == pytest.approx((1 / 18) / (1.5 / 9))
    assert (result.sd, result.independent_sd) == pytest.approx((np.sqrt(1 / 18), np.sqrt(1 / 6)))


def test_cochrans_q_is_the_ratio_times_k_minus_1():
    scores = verdicts(300, 6, seed=51)
    assert cochran_q(scores).statistic == pytest.approx(5 * excess_spread(scores).ratio, rel=1e-9)


def test_independent_flips_of_ten_percent_of_2000_items_give_an_sd_of_half_a_point():
    # 200 items that differ between two runs: 2 p (1 - p) = 1 / 2 for 400 items with p = 1/2, none for the others.
    scores = np.ones((2000, 10))
    scores[:400] = np.random.default_rng(52).integers(0, 2, (400, 10))
    assert excess_spread(scores).independent_sd == pytest.approx(0.0050, abs=1e-4)


def test_independent_flips_have_a_ratio_about_1():
    ratios = [excess_spread(verdicts(200, 10, seed)).ratio for seed in range(60)]
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


def test_whole_runs_that_move_are_seen():
    result = excess_spread(verdicts(2000, 8, seed=53, shift=0.03))
    assert result.ratio > 5
    assert result.p < 1e-6


def test_scores_between_0_and_1_take_the_permutation_test():
    rng = np.random.default_rng(54)
    still = rng.integers(0, 3, (80, 5)) / 2
    moved = np.clip(still + 0.3 * (np.arange(5) == 2), 0, 1)
    assert excess_spread(still).p > 0.05
    result = excess_spread(moved)
    assert result.p < 0.01
    assert "permutation" in result.method


def test_the_permutation_test_agrees_with_every_permutation():
    scores = np.array([[0.0, 0.5, 1.0], [0.5, 0.5, 1.0], [0.0, 0.25, 0.25]])
    spread = [np.var(np.sum(rows, axis=0)) for rows in product(*(list(permutations(row)) for row in scores))]
    exact = np.mean(np.array(spread) >= np.var(scores.sum(axis=0)) - 1e-12)
    assert permutation_test(scores, resamples=20_000).p == pytest.approx(exact, abs=0.015)


def test_the_permutation_test_ignores_the_order_of_items_and_runs():
    rng = np.random.default_rng(55)
    scores = rng.integers(0, 5, (40, 4)) / 4
    expected = permutation_test(scores)
    for _ in range(5):
        assert permutation_test(scores[rng.permutation(40)][:, rng.permutation(4)]).p == expected.p


def test_items_with_a_missing_cell_do_not_enter_and_are_counted():
    scores = verdicts(50, 4, seed=56)
    holed = np.vstack([scores, [[1, np.nan, 0, 1], [np.nan] * 4]])
    result = excess_spread(holed)
    assert (result.n, result.left_out) == (50, 2)
    assert result.ratio == excess_spread(scores).ratio
    assert "2 items" in result.note


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        (np.empty((0, 3)), "2 items"),
        (np.empty((3, 0)), "there are none"),
        ([[1], [0]], "there is 1"),
        ([[1, 0]], "2 items"),
        ([[np.nan, np.nan]] * 5, "2 items"),
        ([[1, 1], [0, 0]], "no item changed"),
    ],
)
def test_without_spread_nothing_is_known(scores, note):
    result = excess_spread(scores)
    assert (result.ratio, result.p) == (None, None)
    assert note in result.note


def test_nothing_to_test_is_said():
    assert cochran_q([[1, 1], [0, 0]]).p is None
    assert permutation_test([[0.5, 0.5]]).p is None


def test_the_tests_refuse_what_they_cannot_take():
    with pytest.raises(ValueError, match="0 or 1"):
        cochran_q([[0.5, 1]])
    with pytest.raises(ValueError, match="every cell"):
        permutation_test([[np.nan, 1]])
    with pytest.raises(ValueError, match=r"scores\[0, 1\] is inf"):
        excess_spread([[1, np.inf]])


def test_runs_without_a_differing_text_are_not_repeats():
    result = same_texts([[5, 5, 5], [6, 6, -1], [7, 7, 7]])
    assert (result.genuine, result.distinct) == (False, 1)
    assert "not repeats: 3 runs without a single differing text" in result.note


def test_a_cold_cache_is_named():
    result = same_texts([[5, 6, 6, 6], [7, 7, 7, 7]])
    assert (result.genuine, result.cold_first_run, result.distinct) == (False, True, 2)
    assert "run 1 differs from runs 2 to 4" in result.note


def test_two_differing_runs_are_no_cold_cache():
    assert same_texts([[5, 6], [7, 7]]).genuine


def test_runs_that_differ_are_repeats():
    result = same_texts([[5, 6, 5], [7, 7, 8], [9, 9, 9]])
    assert (result.genuine, result.distinct, result.note) == (True, 3, "")


def test_a_run_given_twice_is_counted_once():
    assert same_texts([[5, 6, 5, 8], [7, 7, 7, 9]]).distinct == 3


@pytest.mark.parametrize("texts", [np.empty((0, 3), int), np.empty((3, 0), int), [[1], [2]], [[1, -1], [-1, 2]]])
def test_one_text_an_item_tells_nothing(texts):
    result = same_texts(texts)
    assert result.genuine is None
    assert "cannot tell" in result.note


def test_a_movement_too_small_to_square_is_no_change():
    for tiny in (1e-162, 1e-170, 5e-324):
        result = excess_spread([[0, tiny], [0, 0.0]])
        assert (result.ratio, result.p) == (None, None)
        assert "no item changed" in result.note


def test_rounding_is_no_movement():
    result = excess_spread([[0.1 + 0.2, 0.3], [0.3, 0.3], [0.3, 0.3]])
    assert (result.ratio, result.p) == (None, None)
    assert "no item changed" in result.note
    assert permutation_test([[0.1 + 0.2, 0.3], [0.3, 0.3]]).p is None


@pytest.mark.parametrize("kind", ["binary", "letters", "real"])
def test_the_order_of_items_and_runs_changes_not_one_bit(kind):
    rng = np.random.default_rng(57)
    for n, k in ((40, 3), (60, 7), (30, 12)):
        scores = {"binary": rng.integers(0, 2, (n, k)), "letters": rng.integers(0, 4, (n, k)) / 3}.get(
            kind, rng.normal(size=(n, k))
        )
        expected = excess_spread(scores)
        for _ in range(5):
            assert excess_spread(scores[rng.permutation(n)][:, rng.permutation(k)]) == expected


def test_many_items_are_drawn_together_and_said_to_be():
    """Run sums of many items are normal: (k - 1) times the ratio is chi-square with k - 1 degrees of freedom."""
    rng = np.random.default_rng(58)
    scores = rng.uniform(size=(9000, 8)) + 0.0075 * np.array([0, 1, 0, 0, 0, 0, 0, 0])
    result = excess_spread(scores, resamples=20_000)
    assert result.p == pytest.approx(chi2.sf(7 * result.ratio, 7), abs=0.012)
    assert 0.01 < result.p < 0.9
    assert "the sum of the others drawn as normal" in result.method
    assert result.method.endswith("draws")
    assert excess_spread(scores[rng.permutation(9000)][:, rng.permutation(8)], resamples=20_000) == result


def test_items_that_move_most_are_permuted_also_among_many():
    """One item of a thousandfold score: the spread is large whichever way it falls, and p is far from chi-square's."""
    rng = np.random.default_rng(59)
    scores = rng.uniform(size=(20_000, 3)) / 1000
    scores[7] = (0, 1, 1)
    draws = np.array([0, 1, 1]) + rng.normal(0, np.sqrt(scores[8:].var(axis=1, ddof=1).sum()), (100_000, 3))
    expected = (draws.var(axis=1) >= scores.sum(axis=0).var()).mean()
    assert excess_spread(scores, resamples=20_000).p == pytest.approx(expected, abs=0.06)


def test_a_spread_of_200000_items_is_computed():
    result = excess_spread(np.random.default_rng(60).uniform(size=(200_000, 12)))
    assert result.ratio == pytest.approx(1, abs=1.5)
    assert 0 < result.p <= 1


@pytest.mark.parametrize("function", [same_texts, flips])
def test_only_minus_one_is_missing(function):
    with pytest.raises(ValueError, match=r"s\[1, 0\] is -2; codes"):
        function([[0, 1], [-2, 1]])
    with pytest.raises(ValueError, match=rf"s\[0, 1\] is {2**63 + 5}; codes"):
        function(np.array([[0, 2**63 + 5]], dtype=np.uint64))
