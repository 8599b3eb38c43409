"""``extends``: an arm takes from another whatever it does not say itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evaltui.config.faults import key_path, nearest, shown
from evaltui.core.errors import Fault

RIVALS: Final = {
    "prompt": "prompt_text",
    "prompt_text": "prompt",
    "system": "system_text",
    "system_text": "system",
}


@dataclass(frozen=True, slots=True)
class Inherited:
    """An arm's keys with those it inherits, and for each the arm that wrote it.

    ``whole`` is false when what it extends could not be followed to the end: then a missing key says nothing.
    """

    values: Mapping[str, object]
    origin: Mapping[str, str]
    whole: bool


def inherit(arms: Mapping[str, Mapping[str, object]], faults: list[Fault]) -> dict[str, Inherited]:
    """Every arm with what it extends filled in, key by key: a table such as ``extra_body`` is replaced whole.

    A prompt given as a file replaces an inherited text, and the other way round.
    """
    inherited = {}
    for name in arms:
        before = len(faults)
        chain = _chain(name, arms, faults)
        inherited[name] = _inherited(chain, arms, whole=len(faults) == before)
    return inherited


def _chain(name: str, arms: Mapping[str, Mapping[str, object]], faults: list[Fault]) -> list[str]:
    """The arm and its ancestors, nearest first, as far as they can be followed."""
    chain = [name]
    while True:
        parent = arms[chain[-1]].get("extends")
        where = key_path("arms", chain[-1], "extends")
        if parent is None:
            return chain
        if not isinstance(parent, str):
            faults.append(Fault(where, f"{shown(parent)} is not the name of an arm"))
            return chain
        if parent in chain:
            circle = chain[chain.index(parent) :]
            first = circle.index(min(circle))
            ring = [*circle[first:], *circle[:first], circle[first]]
            faults.append(Fault(key_path("arms", ring[0], "extends"), f"goes round in a circle: {' -> '.join(ring)}"))
            return chain
        if parent not in arms:
            near = nearest(parent, arms)
            hint = f"; did you mean {near!r}?" if near else ""
            faults.append(Fault(where, f"there is no arm {shown(parent)}{hint}"))
            return chain
        chain.append(parent)


def _inherited(chain: list[str], arms: Mapping[str, Mapping[str, object]], *, whole: bool) -> Inherited:
    values: dict[str, object] = {}
    origin: dict[str, str] = {}
    for ancestor in reversed(chain):
        own = {key: value for key, value in arms[ancestor].items() if key != "extends"}
        for key in own:
            rival = RIVALS.get(key)
            if rival is not None and rival not in own:
                values.pop(rival, None)
        values.update(own)
        origin.update(dict.fromkeys(own, ancestor))
    return Inherited(values, origin, whole)
