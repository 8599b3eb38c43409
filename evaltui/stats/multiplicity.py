"""p-values adjusted for having looked at many."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm (1979) step-down adjusted p-values, in the order given: valid whatever the dependence between the tests.

    None (a test that could not be made) stays None and does not count as one of the family. Raises ValueError for
    anything outside 0 to 1, with the index.
    """
    known = _known(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(sorted(known)):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg (1995) step-up adjusted p-values, in the order given.

    Calling what lies at or below q a finding keeps the expected share of false findings at q, where the tests are
    independent or positively dependent. It is weaker than ``holm`` and finds more. None stays None and does not count
    as one of the family. Raises ValueError for anything outside 0 to 1, with the index.
    """
    known = _known(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 1.0
    for rank, (p, place) in reversed(list(enumerate(sorted(known), start=1))):
        smallest = min(smallest, len(known) * p / rank)
        adjusted[place] = smallest
    return adjusted


def _known(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    known: list[tuple[float, int]] = []
    for place, p in enumerate(p_values):
        if p is None:
            continue
        if not 0 <= p <= 1:
            raise ValueError(f"p_values[{place}] is {p}; a p-value lies between 0 and 1")
        known.append((p, place))
    return known
