"""Sequences valid at every look: formula by hand, another implementation of the bets, and what they may not do."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from evaltui.stats.sequence import betting, confidence_sequence, over_passes, pass_differences

RNG = np.random.default_rng(41)
VALUES = RNG.integers(-5, 6, 300) / 5


def by_hand(values, planned, alpha):
    """Bounds at one look, from the formula in the paper."""
    t, sd = len(values), np.std(values, ddof=1)
    r2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha)) + 1) / planned
    reach = sd * math.sqrt(2 * (t * r2 + 1) / (t**2 * r2) * math.log(math.sqrt(t * r2 + 1) / alpha))
    return np.mean(values) - reach, np.mean(values) + reach


def test_the_sequence_is_the_intersection_of_the_formula_over_looks():
    looks = [by_hand(VALUES[:t], 400, 0.05) for t in range(20, 301)]
    result = confidence_sequence(VALUES, planned=400)
    assert (result.low, result.high) == pytest.approx((max(a for a, _ in looks), min(b for _, b in looks)), abs=1e-12)
    assert (result.n, result.unit, result.level) == (300, "items", 0.95)
    assert result.estimate == pytest.approx(VALUES.mean(), abs=1e-15)


def test_at_the_planned_number_it_is_about_1_55_times_the_fixed_interval():
    values = np.tile([-1.0, 1.0], 1000)
    result = confidence_sequence(values, planned=2000, first_look=2000)
    assert result.half_width / (1.959964 * values.std(ddof=1) / math.sqrt(2000)) == pytest.approx(1.549, abs=0.001)


@pytest.mark.parametrize(
    "interval",
    [
        lambda values: confidence_sequence(values, planned=300),
        lambda values: betting(values, planned=300, bounds=(-1, 1)),
    ],
)
class TestEither:
    def test_never_widens_while_items_arrive(self, interval):
        seen = [interval(VALUES[:t]) for t in range(20, 301, 20)]
        assert all(a.low <= b.low and b.high <= a.high for a, b in itertools.pairwise(seen))

    def test_changes_sign_with_the_values(self, interval):
        one, other = interval(VALUES), interval(-VALUES)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)

    def test_nan_is_named_by_its_index(self, interval):
        with pytest.raises(ValueError, match=r"values\[1\] is nan"):
            interval([0.0, math.nan])

    def test_contains_the_sequence_of_a_lower_level(self, interval):
        wide = over_passes([VALUES], planned=300, planned_passes=3)
        assert wide.low <= over_passes([VALUES], planned=300, planned_passes=1).low


def capital(values, m, planned, alpha):
    """Hedged capital, item by item, with plain floats."""
    up = down = 0.0
    total, squares, variance, most = 0.5, 0.25, 0.25, 0.0
    for t, x in enumerate(values, start=1):
        bet = math.sqrt(2 * math.log(2 / alpha) / (planned * variance))
        up += math.log(1 + min(bet, 0.5 / m) * (x - m))
        down += math.log(1 - min(bet, 0.5 / (1 - m)) * (x - m))
        total += x
        squares += (x - total / (t + 1)) ** 2
        variance = squares / (t + 1)
        most = max(most, up, down)
    return math.exp(most) / 2


def test_betting_bounds_are_where_the_capital_reaches_one_over_alpha():
    unit = (VALUES[:120] + 1) / 2
    result = betting(VALUES[:120], planned=200, bounds=(-1, 1))
    for bound, outwards in ((result.low, -1), (result.high, 1)):
        m = (bound + 1) / 2
        assert capital(unit, m + outwards * 1e-6, 200, 0.05) > 20
        assert capital(unit, m - outwards * 1e-6, 200, 0.05) < 20


def test_betting_says_something_of_items_that_are_all_the_same():
    result = betting(np.zeros(200), planned=200, bounds=(-1, 1))
    assert -0.2 < result.low < 0 < result.high < 0.2


def test_betting_refuses_what_lies_outside_the_bounds():
    with pytest.raises(ValueError, match=r"values\[1\] is 1\.5, outside the bounds -1 to 1"):
        betting([0.0, 1.5], planned=10, bounds=(-1, 1))


@pytest.mark.parametrize(
    ("values", "note"),
    [([], "there are 0"), ([0.5], "there is 1"), (VALUES[:19], "there are 19"), (np.zeros(50), "all 50 items")],
)
def test_the_asymptotic_sequence_says_what_cannot_be_known(values, note):
    result = confidence_sequence(values, planned=100)
    assert not result.known
    assert note in result.note


def test_passes_are_intersected_at_a_share_of_alpha():
    passes = [VALUES, VALUES[::-1][:200]]
    each = [confidence_sequence(d, planned=300, level=1 - 0.05 / 4) for d in passes]
    result = over_passes(passes, planned=300, planned_passes=4)
    assert (result.low, result.high) == (max(each[0].low, each[1].low), min(each[0].high, each[1].high))
    assert (result.level, result.n) == (0.95, 300)
    assert result.estimate == each[1].estimate


def test_a_pass_that_has_hardly_begun_does_not_take_anything_away():
    whole = over_passes([VALUES], planned=300, planned_passes=3)
    begun = over_passes([VALUES, VALUES[:5], []], planned=300, planned_passes=3)
    assert (begun.low, begun.high) == (whole.low, whole.high)


def test_passes_that_contradict_each_other_say_so():
    result = over_passes([VALUES, VALUES + 3], planned=300, planned_passes=2)
    assert not result.known
    assert "whole runs that move" in result.note


def test_no_pass_at_all_is_unknown():
    assert "no item is counted" in over_passes([], planned=300, planned_passes=3).note
    assert "no item is counted" in over_passes([[], []], planned=300, planned_passes=3).note


def test_more_passes_than_planned_are_refused():
    with pytest.raises(ValueError, match="2 passes do not fit 1 planned"):
        over_passes([VALUES, VALUES], planned=300, planned_passes=1)


def test_differences_of_a_pass_are_over_all_repeats_up_to_it():
    baseline = [[1, 0, 0], [0, np.nan, 1], [np.nan, 1, 1], [1, 1, np.nan]]
    candidate = [[1, 1, 1], [1, 1, 1], [1, 0, 1], [0, 1, 1]]
    first, second, third = pass_differences(baseline, candidate, [4, 3, 1])
    assert first.tolist() == [0, 1, -1]
    assert second.tolist() == [0.5, 1, -0.5]
    assert third.tolist() == pytest.approx([2 / 3])


def test_a_pass_reaches_only_as_far_as_the_repeats_before_it():
    ones = np.ones((5, 3))
    assert [len(d) for d in pass_differences(ones, ones, [5, 2, 4])] == [5, 2, 2]
