"""The item sets decide which of the two bands applies."""

from __future__ import annotations

import pytest

from evaltui.decide.which_band import which_band

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
