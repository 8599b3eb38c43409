"""The forecast: its limits, its symmetry, what it may look at, and one closed form. bench/coverage.py calibrates it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from evaltui.stats.forecast import forecast
from evaltui.stats.intervals import fixed_items_interval, headline, item_interval, run_interval
from evaltui.stats.sequence import pass_differences

N, K = 400, 3


def arms(effect, seed=0, n=N, k=K):
    """Scores of 0 and 1 whose pass probability differs by ``effect``."""
    rng = np.random.default_rng(seed)
    p = rng.beta(4, 1.2, n)[:, None] * (1 - abs(effect))
    return tuple((rng.random((n, k)) < p + shift).astype(float) for shift in (0.0, effect))


def whole(k=K, n=N):
    return np.full(k, n)


def test_a_large_effect_is_all_but_certain_and_none_at_the_end_is_as_good_as_decided():
    assert forecast(*arms(0.3), [N, 200, 0]).probability > 0.9
    baseline, _ = arms(0.0)
    assert forecast(baseline, np.roll(baseline, 1, axis=1), [N, N, 390]).probability < 0.01


def test_before_much_is_counted_it_is_what_the_beliefs_alone_say():
    # Half of all studies have no effect; of the others a part is large enough to be found.
    probability = forecast(*arms(0.0), [10, 0, 0]).probability
    assert 0.0 < probability < 0.5


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("effect", [0.0, 0.05])
def test_of_a_finished_study_it_is_what_the_headline_says(seed, effect):
    baseline, candidate = arms(effect, seed)
    result = headline(
        item_interval((candidate - baseline).mean(axis=1)),
        run_interval(baseline.mean(axis=0), candidate.mean(axis=0), paired=True),
        k=K,
        noise=fixed_items_interval(baseline, candidate),
    )
    assert forecast(baseline, candidate, whole()).probability == result.interval.excludes(0.0)


def test_one_repeat_by_the_closed_form():
    # With k = 1 the finished difference is D ~ N(0, v + 0, 0.02^2 or 0.1^2), now observed with error.
    baseline, candidate = arms(0.02, n=2000, k=1)
    d = (candidate - baseline)[:800, 0]
    v, now = d.var(ddof=1) / 2000, d.var(ddof=1) / 800
    weights, outcomes = [], []
    for effect, belief in ((0.0, 0.5), (0.02**2, 0.48), (0.1**2, 0.02)):
        weights.append(belief * scipy.stats.norm.pdf(d.mean(), 0, np.sqrt(effect + now)))
        share = (effect + v) / (effect + now)
        finished = scipy.stats.norm(share * d.mean(), np.sqrt(share * (now - v)))
        edge = 1.959964 * np.sqrt(v)
        outcomes.append(finished.sf(edge) + finished.cdf(-edge))
    expected = np.average(outcomes, weights=weights)
    assert forecast(baseline, candidate, [800]).probability == pytest.approx(expected, abs=0.003)


def test_exchanging_the_arms_changes_nothing():
    baseline, candidate = arms(0.04, seed=3)
    for paired in (True, False):
        one = forecast(baseline, candidate, [N, N, 100], paired=paired).probability
        other = forecast(candidate, baseline, [N, N, 100], paired=paired).probability
        assert one == pytest.approx(other, abs=1e-12)


def test_what_lies_beyond_the_frontier_is_not_looked_at():
    baseline, candidate = arms(0.04, seed=4)
    blinded = candidate.copy()
    blinded[150:, 1], blinded[:, 2] = 0.0, np.nan
    frontier = [N, 150, 0]
    assert forecast(baseline, candidate, frontier) == forecast(baseline, blinded, frontier)


def test_runs_that_move_make_a_difference_less_certain():
    baseline, candidate = arms(0.08, seed=5, k=5)
    moved = candidate.copy()
    moved[:60, 0], moved[-60:, 1] = 0.0, 1.0
    frontier = [N, N, N, 0, 0]
    assert forecast(baseline, moved, frontier).probability < forecast(baseline, candidate, frontier).probability - 0.1


def test_one_repeat_says_what_it_had_to_assume():
    assert "taken for noise" in forecast(*arms(0.0), [N, 0, 0]).note
    assert not forecast(*arms(0.0), [N, N, 0]).note


def test_items_without_a_score_in_one_arm_are_left_out():
    baseline, candidate = arms(0.04, seed=6)
    candidate[::4] = np.nan
    result = forecast(baseline, candidate, [N, N, 0])
    assert result.n == 300
    assert 0 <= result.probability <= 1


@pytest.mark.parametrize(
    ("scores", "frontier", "note"),
    [
        (np.empty((0, 3)), [0, 0, 0], "10 items at least, there are 0"),
        (np.ones((9, 1)), [9], "10 items at least, there are 9"),
        (np.ones((50, 2)), [50, 50], "all items differ by the same"),
        (np.full((50, 2), np.nan), [50, 50], "there are 0"),
        (np.empty((50, 0)), [], "there are 0"),
    ],
)
def test_it_says_what_cannot_be_known(scores, frontier, note):
    result = forecast(scores, scores, frontier)
    assert result.probability is None
    assert note in result.note


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="same items and repeats"):
        forecast(np.ones((20, 3)), np.ones((20, 2)), [20, 20, 20])


@pytest.mark.parametrize(
    ("frontier", "why"),
    [
        ([20, -1, 0], r"frontier\[1\] is -1; there are 0 to 20"),
        ([20, 21, 0], r"frontier\[1\] is 21; there are 0 to 20"),
        ([20, 20], "one number for each of the 3 repeats, not 2"),
        ([20, 2.5, 0], "whole numbers, not of type float64"),
        ([[20, 20, 20]], "one dimension"),
    ],
)
def test_a_frontier_lies_among_the_items(frontier, why):
    table = np.ones((20, 3))
    for asked in (forecast, pass_differences):
        with pytest.raises(ValueError, match=why):
            asked(table, table, frontier)
