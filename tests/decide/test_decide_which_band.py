"""The item sets decide which of the two bands applies."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from evaltui.decide.which_band import at_size, which_band
from evaltui.stats.excess import Excess

ITEMS = {f"q{place}": (f"ask {place}".encode(), b"gold") for place in range(10)}


def test_the_same_items_take_the_same_item_band():
    choice = which_band(ITEMS, dict(reversed(ITEMS.items())))
    assert (choice.kind, choice.shared, choice.n_baseline, choice.n_candidate) == ("same-item", 10, 10, 10)
    assert choice.why.startswith("the same-item band: both scores are over the same 10 items")


def test_other_items_take_the_sampling_band():
    choice = which_band(ITEMS, {"x": (b"ask x", b"gold")})
    assert (choice.kind, choice.shared) == ("sampling", 0)
    assert "1 added, 10 removed" in choice.why
    assert "item by item" not in choice.why


def test_sets_that_overlap_take_the_sampling_band_and_say_what_can_be_paired():
    choice = which_band(ITEMS, {**ITEMS, "x": (b"ask x", b"gold")})
    assert (choice.kind, choice.shared, choice.n_candidate) == ("sampling", 10, 11)
    assert "1 added)" in choice.why
    assert "on the 10 items that both hold unchanged" in choice.why


@pytest.mark.parametrize("changed", [(b"ask anew", b"gold"), (b"ask 0", b"gold anew"), (b"ask anew", b"gold anew")])
def test_an_item_whose_input_or_gold_changed_is_not_the_same_item(changed):
    choice = which_band(ITEMS, {**ITEMS, "q0": changed})
    assert (choice.kind, choice.shared) == ("sampling", 9)
    assert "(1 changed)" in choice.why


def test_an_empty_set_has_no_band():
    with pytest.raises(ValueError, match="empty"):
        which_band(ITEMS, {})


SAME = which_band(ITEMS, ITEMS)
OTHER = which_band(ITEMS, {"x": (b"ask x", b"gold")})
SPREAD = Excess(4.0, 0.01, "Cochran's Q", sd=0.010, independent_sd=0.006, n=500, k=10, left_out=0)


def test_only_the_independent_part_of_the_same_item_band_shrinks_with_more_items():
    here, there = at_size(SAME, 500, spread=SPREAD), at_size(SAME, 2000, spread=SPREAD)
    assert here.sd == pytest.approx(0.010)
    assert there.sd == pytest.approx(math.hypot(0.008, 0.006 / 2))
    assert there.band == pytest.approx(2 * there.sd)


def test_without_a_measured_spread_there_is_no_same_item_band():
    for spread in (None, replace(SPREAD, sd=None, independent_sd=None)):
        band = at_size(SAME, 500, spread=spread)
        assert (band.sd, band.band) == (None, None)
        assert "not been measured" in band.note


@pytest.mark.parametrize(("n", "sd"), [(2000, 0.0088), (500, 0.0175), (200, 0.0277)])
def test_the_sampling_band_comes_from_the_pass_rate(n, sd):
    band = at_size(OTHER, n, pass_rate=0.81)
    assert band.sd == pytest.approx(sd, abs=5e-5)
    assert "not in it" in band.note


def test_the_sampling_band_takes_in_what_whole_runs_move():
    assert at_size(OTHER, 500, pass_rate=0.81, spread=SPREAD).sd == pytest.approx(
        math.hypot(0.0175442, 0.008), abs=1e-6
    )


def test_a_pass_rate_of_all_has_no_band_of_zero():
    assert at_size(OTHER, 500, pass_rate=1.0).band is None


@pytest.mark.parametrize("choice", [SAME, OTHER])
@pytest.mark.parametrize("n", [0, -1, 2.5, math.nan, math.inf, True])
def test_a_size_that_is_no_count_is_refused(choice, n):
    with pytest.raises(ValueError, match=f"n must be .*{n}"):
        at_size(choice, n, spread=SPREAD, pass_rate=0.8)


@pytest.mark.parametrize("choice", [SAME, OTHER])
@pytest.mark.parametrize(
    ("name", "value"),
    [("z", bad) for bad in (math.nan, math.inf, 0, -2)]
    + [("pass_rate", bad) for bad in (math.nan, math.inf, -0.1, 81)],
)
def test_what_is_no_number_of_its_kind_is_refused_by_name(choice, name, value):
    for spread in (SPREAD, None):
        with pytest.raises(ValueError, match=f"{name} must .*{value}"):
            at_size(choice, 500, **({"spread": spread, "pass_rate": 0.8} | {name: value}))


@pytest.mark.parametrize("change", [{"sd": math.nan}, {"sd": -1.0}, {"independent_sd": math.nan}, {"n": 0}])
def test_a_spread_of_nonsense_is_refused(change):
    with pytest.raises(ValueError, match=f"{next(iter(change))} must "):
        at_size(SAME, 500, spread=replace(SPREAD, **change))
