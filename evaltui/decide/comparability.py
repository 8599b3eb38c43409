"""May two measurements be compared at all: what stops it, and what has to be said wherever the result is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from evaltui.core.format import NOTHING, count
from evaltui.core.pins import differing
from evaltui.core.study import PinValue
from evaltui.decide.item_sets import ItemHashes, ItemSets, item_sets
from evaltui.decide.pin_roles import Role, roles

Scope = Literal["arms", "studies", "runs"]
"""What is laid side by side: two arms of one study, two studies, or two runs as repeats of one configuration."""

Pins = Mapping[str, PinValue]

_NAMED = 5
_DIGITS = 16

_STOPPED_BY = {
    Role.MEASURE: "other_measure",
    Role.DATASET: "other_dataset",
    Role.UNDER_TEST: "other_configuration",
}
_WHY = {
    "other_measure": "the scores do not mean the same",
    "other_dataset": "the items are not known to be the same",
    "other_configuration": "the runs are not repeats of one configuration",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A pin with different values; None where one side has no such pin.

    Equal values are a pin that is not a number on either side: whether it is the same is not known.
    """

    pin: str
    baseline: PinValue
    candidate: PinValue

    @property
    def known(self) -> bool:
        return self.baseline != self.candidate

    def __str__(self) -> str:
        first, second = _shown(self.baseline), _shown(self.candidate)
        if not self.known:
            return f"{self.pin} is {first} on both sides, so that nobody knows whether it is the same"
        if first == second:  # The text "8" and the number 8.
            first, second = repr(self.baseline), repr(self.candidate)
        return f"{self.pin} is {first} in the baseline and {second} in the candidate"


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a comparison stops, or what it is marked with: a stable code, a sentence, and the pin that differs.

    Codes that stop: ``other_measure`` (scorer, rubric, judge), ``other_dataset``, ``other_configuration``,
    ``changed_items``. Codes that mark: ``other_conditions``, ``other_items``, ``different_weeks`` (see ``overlap``),
    ``across_versions``.
    """

    code: str
    text: str
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Comparability:
    """The answer: ``stops`` forbid the comparison, ``marks`` go with it wherever it is shown.

    ``under_test`` is what the comparison is about, ``recorded`` what differs without moving a score. ``items`` says
    how the item sets differ, None where their hashes were not given.
    """

    scope: Scope
    stops: tuple[Finding, ...]
    marks: tuple[Finding, ...]
    under_test: tuple[Difference, ...]
    recorded: tuple[Difference, ...]
    items: ItemSets | None

    @property
    def comparable(self) -> bool:
        return not self.stops

    @property
    def same(self) -> bool:
        """Whether nothing that may move a score differs: what pooling two bands, or trusting an old one, asks for."""
        return not (self.stops or self.marks or self.under_test)

    def marked(self, *more: Finding | None) -> Comparability:
        """This answer with further marks; None adds nothing."""
        return replace(self, marks=self.marks + tuple(mark for mark in more if mark is not None))


def comparability(
    baseline: Pins, candidate: Pins, *, scope: Scope, items: tuple[ItemHashes, ItemHashes] | None = None
) -> Comparability:
    """Which pins keep two measurements from being compared, and which only mark the comparison.

    Scorer, rubric and judge must agree in every scope. Two arms of a study and two runs must have one data set. Two
    studies may have different ones if ``items`` (of baseline and candidate) are given: they are then other samples,
    unless an id stands for another input or another gold. What is under test must agree between repeats only. A pin
    that one side lacks is a pin that differs. One that is NaN on both sides is not known to agree: it stops where it
    must agree and marks elsewhere, under test or not. Raises ValueError for another scope.
    """
    if scope not in get_args(Scope):
        raise ValueError(f"scope must be one of {', '.join(get_args(Scope))}, not {scope}")
    sets = item_sets(*items) if items is not None else None
    role_of = roles(baseline, candidate)
    stops: list[Finding] = []
    marks: list[Finding] = []
    under_test: list[Difference] = []
    recorded: list[Difference] = []
    for pin, first, second in differing(baseline, candidate):
        difference = Difference(pin, _value(first), _value(second))
        role = role_of[pin]
        if role is Role.RECORDED or (role is Role.DATASET and scope == "studies" and sets is not None):
            recorded.append(difference)
        elif role is Role.UNDER_TEST and scope != "runs" and difference.known:
            under_test.append(difference)
        elif role is Role.CONDITION or (role is Role.UNDER_TEST and scope != "runs"):
            why = ", which may move scores" if difference.known else ""
            marks.append(Finding("other_conditions", f"{difference}{why}", difference))
        else:
            code = _STOPPED_BY[role]
            why = f": {_WHY[code]}" if difference.known else ""
            stops.append(Finding(code, f"{difference}{why}", difference))
    if sets is not None and items is not None:
        stops += _changed(sets, items)
        if sets.added or sets.removed:
            marks.append(_other_items(sets))
    return Comparability(scope, tuple(stops), tuple(marks), tuple(under_test), tuple(recorded), sets)


def across_versions(answer: Comparability) -> Comparability:
    """The comparison that was asked for nonetheless: each stop becomes a mark that goes wherever the result goes."""
    carried = tuple(
        Finding("across_versions", f"compared across versions: {stop.text}", stop.difference) for stop in answer.stops
    )
    return replace(answer, stops=(), marks=carried + answer.marks)


def _changed(sets: ItemSets, items: tuple[ItemHashes, ItemHashes]) -> list[Finding]:
    kinds = (("input", 0, sets.input_changed), ("gold", 1, sets.gold_changed))
    return [_changed_items(kind, place, changed, items) for kind, place, changed in kinds if changed]


def _changed_items(kind: str, place: int, changed: Sequence[str], items: tuple[ItemHashes, ItemHashes]) -> Finding:
    first = changed[0]
    values = [side[first][place] for side in items]
    difference = Difference(f"{kind} of {first}", *(None if value is None else value.hex() for value in values))
    have = "has" if len(changed) == 1 else "have"
    text = f"{count(len(changed), 'item')} {have} the same id and another {kind}: {_listed(changed)}"
    return Finding("changed_items", f"{text}; {difference}", difference)


def _other_items(sets: ItemSets) -> Finding:
    return Finding(
        "other_items",
        f"the item sets differ ({len(sets.added):,} added, {len(sets.removed):,} removed, {len(sets.unchanged):,} "
        "in both): compared as other samples, not item by item",
    )


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return ", ".join(ids[:_NAMED]) + more


def _shown(value: PinValue) -> str:
    if value is None:
        return NOTHING
    text = str(value)
    digest = len(text) > _DIGITS and all(digit in "0123456789abcdef" for digit in text)
    return f"{text[:_DIGITS]}…" if digest else text


def _value(value: object) -> PinValue:
    """What goes out: NaN and infinity as text, for JSON has neither."""
    if value is None or isinstance(value, str | int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)
