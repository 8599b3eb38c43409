"""Which band a difference between two scores is to be read against, and why: the item sets decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from evaltui.core.format import count
from evaltui.decide.item_sets import ItemHashes, item_sets
from evaltui.stats import checks
from evaltui.stats.bands import project, sampling_band
from evaltui.stats.excess import Excess

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


@dataclass(frozen=True, slots=True)
class BandAtSize:
    """The band that applies, carried to ``n`` items: z sd of one score, in the unit of the scores.

    ``sd`` and ``band`` are None where they are not known; ``note`` says why, or what is in them.
    """

    kind: Kind
    sd: float | None
    band: float | None
    n: int
    z: float
    note: str


def at_size(
    choice: BandChoice, n: int, *, spread: Excess | None = None, pass_rate: float | None = None, z: float = 2.0
) -> BandAtSize:
    """The chosen band for a score over ``n`` items.

    Same-item: from the measured ``spread`` of an arm's runs, of which only the part in which items flip on their own
    shrinks with n. Sampling: from ``pass_rate``, widened by what whole runs move where ``spread`` is given. Raises
    ValueError unless n is a whole number of at least 1, z > 0 and the rate lies between 0 and 1.
    """
    checks.count("n", n)
    checks.positive("z", z)
    if pass_rate is not None:
        checks.share("pass_rate", pass_rate)
    measured = None
    if spread is not None and spread.sd and spread.independent_sd is not None:
        measured = project(spread.sd, spread.independent_sd, spread.n, to_n=n)
    if choice.kind == "same-item":
        if measured is None:
            return BandAtSize(choice.kind, None, None, n, z, "the spread of runs has not been measured")
        return BandAtSize(choice.kind, measured.sd, z * measured.sd, n, z, measured.note or _SHARED)
    if pass_rate is None:
        return BandAtSize(choice.kind, None, None, n, z, "the sampling band needs a pass rate")
    sd = math.hypot(sampling_band(pass_rate, n), measured.shared if measured is not None else 0.0)
    if not sd:
        note = "none or all of the items passed: the exact interval of the rate says what that leaves possible"
        return BandAtSize(choice.kind, None, None, n, z, note)
    note = _SHARED if measured is not None else "movement of whole runs is not in it: it has not been measured"
    return BandAtSize(choice.kind, sd, z * sd, n, z, note)


_SHARED = "the part in which whole runs move does not shrink with more items"
