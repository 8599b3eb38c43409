"""Plans, against statsmodels and the worked figures of the field."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import NormalIndPower, TTestIndPower

from evaltui.stats import plans, power
from evaltui.stats.plans import Prices
from evaltui.stats.power import Noise

SD = 6.4  # of 60 claims, from many earlier runs


@pytest.mark.parametrize(("n", "expected"), [(1, 17.7), (3, 10.2), (10, 5.6)])
def test_half_width_with_a_known_sd(n, expected):
    result = power.half_width(SD, n)
    assert result.value == pytest.approx(expected, abs=0.05)
    assert (result.unit, result.n, result.level) == ("runs", n, 0.95)


def test_half_width_with_the_sd_of_the_runs_themselves():
    assert power.half_width(SD, 3, known=False).value == pytest.approx(14.5, abs=0.05)


def test_three_runs_show_14_6_claims_if_the_sd_is_known():
    assert power.detectable_with_runs(SD, 3).value == pytest.approx(14.6, abs=0.05)


def test_a_gap_of_six_claims_takes_18_runs():
    assert power.runs_needed(6, SD).n == 18


@pytest.mark.parametrize(("difference", "n", "percent"), [(14.64, 3, 56), (6, 18, 78)])
def test_an_estimated_sd_costs_power(difference, n, percent):
    assert power.power_of_runs(difference, SD, n).value == pytest.approx(0.80, abs=0.005)
    assert power.power_of_runs(difference, SD, n, known=False).value == pytest.approx(percent / 100, abs=0.005)


@pytest.mark.parametrize("n", [2, 3, 10, 40])
@pytest.mark.parametrize("effect", [0.0, 0.4, 1.5])
def test_power_is_that_of_statsmodels(n, effect):
    estimated = TTestIndPower().power(effect, n, 0.05)
    known = NormalIndPower().power(effect, n, 0.05)
    assert power.power_of_runs(effect, 1, n, known=False).value == pytest.approx(estimated, abs=1e-9)
    assert power.power_of_runs(-effect, 1, n).value == pytest.approx(known, abs=1e-9)


@pytest.mark.parametrize("known", [True, False])
def test_the_detectable_difference_has_exactly_its_power(known):
    shown = power.detectable_with_runs(SD, 5, power=0.9, level=0.9, known=known).value
    reached = power.power_of_runs(shown, SD, 5, level=0.9, known=known).value
    assert reached == pytest.approx(0.9, abs=1e-12)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("difference", [1, 6, 30])
def test_the_runs_needed_are_enough_and_one_less_is_not(known, difference):
    n = power.runs_needed(difference, SD, known=known).n
    assert power.power_of_runs(difference, SD, n, known=known).value >= 0.8
    fewer = n - 1
    if fewer >= (1 if known else 2):
        assert power.power_of_runs(difference, SD, fewer, known=known).value < 0.8


def test_one_run_does_not_estimate_its_own_sd():
    for result in (power.half_width(SD, 1, known=False), power.detectable_with_runs(SD, 1, known=False)):
        assert result.value is None
        assert "one run per arm" in result.note


def test_no_plan_of_runs_for_next_to_nothing():
    result = power.runs_needed(1e-6, SD)
    assert result.value is None
    assert "no plan" in result.note


NOISE = Noise(0.02, (0.06, 0.08), (0.03, 0.01))


def test_the_variance_of_a_mean_difference_worked_by_hand():
    """g_a + g_b = 0.06 + 0.03 / 2 + 0.08 + 0.01 / 2 = 0.16; (0.02 + 0.16 / 4) / 300 = 0.0002."""
    assert NOISE.of_difference(300, 4, 2) == pytest.approx(0.0002, rel=1e-12)
    expected = 2.8015852 * math.sqrt(0.0002)
    assert power.detectable_with_items(NOISE, 300, 4, 2).value == pytest.approx(expected, rel=1e-5)


def test_items_needed_are_enough_and_one_less_is_not():
    n = power.items_needed(NOISE, 0.02, 3).n
    assert power.detectable_with_items(NOISE, n, 3).value <= 0.02
    assert power.detectable_with_items(NOISE, n - 1, 3).value > 0.02


def test_repeats_needed_are_enough_and_one_less_is_not():
    k = power.repeats_needed(NOISE, 0.03, 500).n
    assert power.detectable_with_items(NOISE, 500, k).value <= 0.03
    assert power.detectable_with_items(NOISE, 500, k - 1).value > 0.03


def test_repeats_have_a_floor_and_it_is_said():
    result = power.repeats_needed(NOISE, 0.01, 500)
    assert result.value is None
    floor = power.detectable_with_items(Noise(0.02, (0, 0)), 500, 1).value
    assert f"{floor:.3g}" in result.note
    assert f"{floor:.3g}" in power.detectable_with_items(NOISE, 500, 10).note


def test_prices_of_the_worked_example():
    judge = plans.call_price(1400, 180, 3, 15)
    generation = plans.call_price(900, 350, 3, 15)
    assert Prices(0, judge).of_study(2000, 1, arms=1) == pytest.approx(13.80)
    assert Prices(generation, judge).of_study(2000, 1, arms=1) == pytest.approx(29.70)
    assert Prices(generation, judge).of_study(2000, 10, arms=1) == pytest.approx(297)
    assert plans.duration(2000, 3.84, 16) / 60 == pytest.approx(8)


variance = st.floats(0.001, 0.2)


@settings(max_examples=25)
@given(variance, variance, variance, st.floats(0.0001, 0.01), st.floats(0.0001, 0.01), st.floats(0, 0.05))
def test_the_cheapest_plan_is_that_of_an_exhaustive_search(true, generation, judge, price, judge_price, item_price):
    noise, prices = Noise(true, (generation,) * 2, (judge,) * 2), Prices(price, judge_price, item_price)
    plan = plans.cheapest_plan(noise, prices, 0.03, most_repeats=5, most_passes=4)
    costs = []
    for k, m in itertools.product(range(1, 6), range(1, 5)):
        n = power.items_needed(noise, 0.03, k, m).n
        costs.append(n * (item_price + 2 * k * (price + m * judge_price)))
    assert plan.cost == pytest.approx(min(costs), rel=1e-12)
    assert plan.detectable <= 0.03 * (1 + 1e-9)


def test_passes_follow_the_root_of_the_price_ratio():
    """One repeat: m = sqrt(judge c_g / ((true + generation) c_j)) = sqrt(0.18 x 1 / (0.02 x 1)) = 3."""
    plan = plans.cheapest_plan(Noise(0.01, (0.005, 0.005), (0.09, 0.09)), Prices(1, 1), 0.001)
    assert (plan.k, plan.m) == (1, 3)


def test_items_that_cost_much_are_repeated():
    cheap = plans.cheapest_plan(NOISE, Prices(0.01), 0.02, most_passes=1)
    dear = plans.cheapest_plan(NOISE, Prices(0.01, item=1), 0.02, most_passes=1)
    assert cheap.k == 1
    assert dear.k > 5
    assert dear.n < cheap.n


def test_too_few_items_for_any_plan_is_said():
    plan = plans.cheapest_plan(NOISE, Prices(0.01), 0.001, most_items=500)
    assert (plan.n, plan.cost) == (None, None)
    assert "500 items show" in plan.note


def test_the_best_plan_within_a_budget_is_affordable_and_the_sharpest():
    prices = Prices(0.01, 0.005, 0.1)
    plan = plans.best_within(NOISE, prices, 100)
    assert plan.cost <= 100
    assert prices.of_study(plan.n + 1, plan.k, plan.m) > 100
    for k, m in itertools.product(range(1, 20), range(1, 6)):
        n = int(100 // prices.of_item(k, m))
        assert plan.detectable <= power.detectable_with_items(NOISE, n, k, m).value * (1 + 1e-12)


def test_arms_are_dropped_before_repeats():
    plan = plans.best_within(NOISE, Prices(0.01), 5, arms=5, fewest_items=50, fewest_repeats=3)
    assert (plan.arms, plan.k) == (3, 3)
    assert "3 of 5 arms" in plan.note


def test_a_budget_that_is_enough_for_nothing_is_said():
    plan = plans.best_within(NOISE, Prices(0.01), 1, fewest_repeats=3)
    assert plan.n is None
    assert "cost 3.00, more than 1.00" in plan.note


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: power.half_width(0, 3),
        lambda: power.half_width(1, 0),
        lambda: power.runs_needed(0, 1),
        lambda: power.detectable_with_runs(1, 3, power=0.04),
        lambda: power.items_needed(NOISE, -1, 3),
        lambda: NOISE.of_difference(10, 0),
        lambda: Noise(-1, (0, 0)),
        lambda: Prices(float("nan")),
        lambda: plans.best_within(NOISE, Prices(0), 5),
        lambda: plans.best_within(NOISE, Prices(1), 5, arms=1),
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"must|price"):
        wrong()


def power_by_integration(effect, n, level):
    """P(|T| > t) from the sd that is found: the normal power given that sd, by adaptive quadrature over its chi."""
    df, shift = 2 * n - 2, effect * np.sqrt(n / 2)
    critical, chi = scipy.stats.t.isf((1 - level) / 2, df), scipy.stats.chi(df)

    def integrand(x):
        limit = critical * x / np.sqrt(df)
        return (scipy.stats.norm.sf(limit - shift) + scipy.stats.norm.cdf(-limit - shift)) * chi.pdf(x)

    edges = sorted({0.0, *np.clip((shift + np.array([-9, 0, 9])) * np.sqrt(df) / critical, 0, 40), 40.0})
    return sum(scipy.integrate.quad(integrand, *pair, epsabs=1e-13, limit=200)[0] for pair in itertools.pairwise(edges))


@pytest.mark.parametrize(
    ("n", "level", "wanted"), [(2, 0.99, 0.8), (2, 0.999, 0.8), (3, 0.999, 0.8), (2, 0.95, 0.95), (2, 0.95, 0.99)]
)
def test_what_few_runs_show_at_a_high_level(n, level, wanted):
    shown = power.detectable_with_runs(1, n, power=wanted, level=level, known=False).value
    assert power_by_integration(shown, n, level) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize(("difference", "level"), [(2, 0.999), (10, 0.99)])
def test_the_fewest_runs_at_a_high_level(difference, level):
    n = power.runs_needed(difference, 1, level=level, known=False).n
    assert power_by_integration(difference, n, level) >= 0.8 > power_by_integration(difference, n - 1, level)


def test_a_difference_far_beyond_the_noise_has_full_power():
    assert power.power_of_runs(3, 1, 18, known=False).value == pytest.approx(
        power_by_integration(3, 18, 0.95), abs=1e-11
    )
    assert power.power_of_runs(1e6, 1, 18, known=False).value == 1


def test_a_level_next_to_one_has_a_limit():
    assert power.half_width(1, 2, level=1 - 2**-53).value == pytest.approx(scipy.stats.norm.isf(2**-54), rel=1e-12)


WORTHLESS = [math.nan, math.inf, -math.inf, -1.0, 1e61]
UNCOUNTABLE = [math.nan, math.inf, 2.5, 3.0, 0, -1, True, 2**53 + 1]
PRICES = Prices(0.01, 0.005, 0.1)
NUMBERS = [
    (power.half_width, {"sd": 1, "n": 3}, ("sd",)),
    (power.power_of_runs, {"difference": 1, "sd": 1, "n": 3}, ("difference", "sd")),
    (power.detectable_with_runs, {"sd": 1, "n": 3}, ("sd", "power")),
    (power.runs_needed, {"difference": 1, "sd": 1}, ("difference", "sd", "power")),
    (Noise, {"true_differences": 1, "generation": (1, 1)}, ("true_differences",)),
    (power.detectable_with_items, {"noise": NOISE, "n": 9, "k": 3}, ("power", "level")),
    (power.items_needed, {"noise": NOISE, "difference": 0.1, "k": 3}, ("difference", "power", "level")),
    (power.repeats_needed, {"noise": NOISE, "difference": 0.1, "n": 9}, ("difference", "power", "level")),
    (Prices, {"generation": 1}, ("generation", "judge", "item")),
    (
        plans.call_price,
        {"tokens_in": 9, "tokens_out": 9, "per_million_in": 9, "per_million_out": 9},
        ("tokens_in", "tokens_out", "per_million_in", "per_million_out"),
    ),
    (plans.duration, {"calls": 9, "seconds_per_call": 1, "concurrency": 2}, ("seconds_per_call",)),
    (plans.cheapest_plan, {"noise": NOISE, "prices": PRICES, "difference": 0.1}, ("difference", "power", "level")),
    (plans.best_within, {"noise": NOISE, "prices": PRICES, "budget": 99}, ("budget", "power", "level")),
]
LIMITS = ("arms", "fewest_items", "most_items", "fewest_repeats", "most_repeats", "most_passes")
COUNTS = [
    (power.half_width, {"sd": 1, "n": 3}, ("n",)),
    (power.power_of_runs, {"difference": 1, "sd": 1, "n": 3}, ("n",)),
    (power.detectable_with_runs, {"sd": 1, "n": 3}, ("n",)),
    (NOISE.per_repeat, {"m": 1}, ("m",)),
    (NOISE.of_difference, {"n": 9, "k": 1, "m": 1}, ("n", "k", "m")),
    (power.detectable_with_items, {"noise": NOISE, "n": 9, "k": 3}, ("n", "k", "m")),
    (power.items_needed, {"noise": NOISE, "difference": 0.1, "k": 3}, ("k", "m")),
    (power.repeats_needed, {"noise": NOISE, "difference": 0.1, "n": 9}, ("n", "m")),
    (PRICES.of_item, {"k": 3}, ("k", "m", "arms")),
    (PRICES.of_study, {"n": 9, "k": 3}, ("n", "k", "m", "arms")),
    (plans.duration, {"calls": 9, "seconds_per_call": 1, "concurrency": 2}, ("concurrency",)),
    (plans.cheapest_plan, {"noise": NOISE, "prices": PRICES, "difference": 0.1}, LIMITS),
    (plans.best_within, {"noise": NOISE, "prices": PRICES, "budget": 99}, LIMITS),
]


def arguments(table):
    return [
        pytest.param(call, given, name, id=f"{call.__name__}-{name}") for call, given, names in table for name in names
    ]


@pytest.mark.parametrize(("call", "given", "name"), arguments(NUMBERS))
@pytest.mark.parametrize("value", WORTHLESS, ids=str)
def test_what_is_no_number_is_refused_by_name(call, given, name, value):
    if (name, value) == ("difference", -1.0) and call is power.power_of_runs:
        assert call(**given).value == call(**(given | {name: value})).value
        return
    with pytest.raises(ValueError, match=rf"{name} must .*{re.escape(str(value))}"):
        call(**(given | {name: value}))


@pytest.mark.parametrize(("call", "given", "name"), arguments(COUNTS))
@pytest.mark.parametrize("value", UNCOUNTABLE, ids=str)
def test_what_is_no_count_is_refused_by_name(call, given, name, value):
    with pytest.raises(ValueError, match=rf"{name} must be .*{value}"):
        call(**(given | {name: value}))


@pytest.mark.parametrize("part", ["generation", "judge"])
@pytest.mark.parametrize("pair", [(0, math.nan), (math.inf, 0), (0, -1), (1,), (1, 1, 1)], ids=str)
def test_each_arm_has_one_variance(part, pair):
    with pytest.raises(ValueError, match=f"{part} must be"):
        Noise(**({"true_differences": 0, "generation": (0, 0)} | {part: pair}))


@pytest.mark.parametrize("plan", [plans.cheapest_plan, plans.best_within])
@pytest.mark.parametrize("what", ["items", "repeats"])
def test_the_most_cannot_be_less_than_the_fewest(plan, what):
    with pytest.raises(ValueError, match=f"most_{what} must be at least fewest_{what}, which is 9, not 8"):
        plan(NOISE, PRICES, 1, **{f"fewest_{what}": 9, f"most_{what}": 8})


TINY, HUGE = 1e-60, 1e60


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("n", [2, 3, 10**6, 2**53])
@pytest.mark.parametrize("sd", [TINY, 1, HUGE])
@pytest.mark.parametrize("level", [0.01, 0.95, 1 - 2**-53])
def test_the_farthest_runs_have_finite_numbers(known, n, sd, level):
    options = {"level": level, "known": known}
    assert 0 <= power.half_width(sd, n, **options).value < math.inf
    for difference in (0, TINY, 1, HUGE):
        assert 0 <= power.power_of_runs(difference, sd, n, **options).value <= 1
    for wanted in (0.995, 1 - 2**-53):
        assert 0 < power.detectable_with_runs(sd, n, power=wanted, **options).value < math.inf


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("difference", "sd", "n"), [(TINY, HUGE, None), (HUGE, TINY, 1), (TINY, TINY, 16)])
def test_runs_for_the_farthest_differences(known, difference, sd, n):
    """d = sd takes 16 runs known (2 x 2.8016^2 = 15.7), 17 estimated: the standard table."""
    expected = n if known or n is None else n + 1
    assert power.runs_needed(difference, sd, known=known).n == expected


def test_items_and_repeats_beyond_counting_are_said():
    noise = Noise(0, (HUGE, HUGE))
    for result in (power.items_needed(noise, TINY, 1), power.repeats_needed(noise, TINY, 1)):
        assert (result.value, result.n) == (None, None)
        assert "no " in result.note
    assert power.items_needed(Noise(TINY, (0, 0)), HUGE, 1).n == 1
    assert power.repeats_needed(Noise(0, (TINY, TINY)), HUGE, 1).n == 1
    assert power.items_needed(Noise(0, (0, 0)), 1, 1).n == 1


def test_a_power_next_to_the_level_is_no_crash():
    least = math.nextafter(1 - 0.95, 1)
    assert power.repeats_needed(NOISE, 1e-3, 500, power=least).n == 1
    assert power.items_needed(NOISE, HUGE, 1, power=least).n == 1


def test_plans_of_the_farthest_numbers():
    beyond = plans.cheapest_plan(Noise(HUGE, (HUGE, HUGE)), PRICES, TINY)
    assert beyond.n is None
    assert "items show" in beyond.note
    assert plans.cheapest_plan(NOISE, Prices(HUGE, HUGE, HUGE), 0.1).cost < math.inf
    rich = plans.best_within(NOISE, Prices(5e-324), HUGE, most_repeats=2, most_passes=2)
    assert rich.n == 2**53
    assert 0 < rich.detectable < math.inf
    assert plans.best_within(NOISE, PRICES, 0).n is None
