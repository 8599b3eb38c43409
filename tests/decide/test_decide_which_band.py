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


def test_a_size_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        at_size(SAME, 0, spread=SPREAD)
