"""Settings of a study that are no pins and may change between its sessions: limits, prices, paths, policies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evaltui.core.pins import differing

NOT_SETTINGS: Final = frozenset({"study.repeats"})
"""More repeats extend a study and fewer are ignored; both are told for themselves."""

LONGEST_VALUE: Final = 60


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """A key path of the study file with the values before and now; None where it is not set."""

    key: str
    before: object
    now: object

    def __str__(self) -> str:
        return f"{self.key}: {_shown(self.before)} before, {_shown(self.now)} now"


def changed_settings(before: Mapping[str, object], now: Mapping[str, object]) -> tuple[ChangedSetting, ...]:
    """What differs between two normalised study files, by key path."""
    found = differing(dict(_flat(before)), dict(_flat(now)))
    return tuple(ChangedSetting(*change) for change in found if change[0] not in NOT_SETTINGS)


def _flat(table: Mapping[str, object], path: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _flat(value, key)
        elif value is not None:
            # As it is read back from the database, where a tuple is a list.
            yield key, list(value) if isinstance(value, tuple) else value


def _shown(value: object) -> str:
    if value is None:
        return "not set"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"
