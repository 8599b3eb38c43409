"""Which band a difference between two scores is to be read against, and why: the item sets decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaltui.core.format import count
from evaltui.decide.item_sets import ItemHashes, item_sets

Kind = Literal["same-item", "sampling"]


@dataclass(frozen=True, slots=True)
class BandChoice:
    """``kind`` of the band that applies, and ``why`` in words.

    ``n_baseline`` and ``n_candidate`` count the items of either set, ``shared`` those that both hold unchanged.
    """

    kind: Kind
    why: str
    n_baseline: int
    n_candidate: int
    shared: int


def which_band(baseline: ItemHashes, candidate: ItemHashes) -> BandChoice:
    """The band for two scores from these item sets.

    The same-item band (how far a score moves from run to run) where both sets hold exactly the same items; the
    sampling band (which items happened to be in the set) everywhere else. An id with another input or gold is not the
    same item. Raises ValueError where a set is empty.
    """
    if not baseline or not candidate:
        raise ValueError("a band needs items on both sides, and one of the sets is empty")
    sets = item_sets(baseline, candidate)
    shared = len(sets.unchanged)
    sizes = len(baseline), len(candidate)
    if sets.same:
        why = (
            f"the same-item band: both scores are over the same {count(shared, 'item')}, so which items were drawn "
            "cancels, and only movement from run to run is left"
        )
        return BandChoice("same-item", why, *sizes, shared)
    changed = len(set(sets.input_changed) | set(sets.gold_changed))
    how = ", ".join(
        f"{number:,} {word}"
        for number, word in ((len(sets.added), "added"), (len(sets.removed), "removed"), (changed, "changed"))
        if number
    )
    advice = (
        f"; on the {count(shared, 'item')} that both hold unchanged the two can be compared item by item, which is "
        "sharper"
        if shared
        else ""
    )
    why = (
        f"the sampling band: the item sets differ ({how}), so which items happened to be in either set moves the "
        f"scores too, and usually more than runs do{advice}"
    )
    return BandChoice("sampling", why, *sizes, shared)
