"""Who answers: a model name or server fingerprint that changes part-way through a study is told (P4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evaltui.core.records import Completion

TOLD_AT_MOST: Final = 10


class Identity:
    """The model names and fingerprints that one arm's endpoint has reported, those of earlier sessions included."""

    def __init__(self, models: Iterable[str] = (), fingerprints: Iterable[str] = ()) -> None:
        self._models = dict.fromkeys(models)
        self._fingerprints = dict.fromkeys(fingerprints)

    def changes(self, completion: Completion) -> list[tuple[str, str]]:
        """What is new in this completion, as (event kind, sentence); usually nothing.

        The first value seen is no change, and a value is told once: servers behind a balancer take turns.
        """
        found = []
        for kind, seen, value in (
            ("model_changed", self._models, completion.model),
            ("fingerprint_changed", self._fingerprints, completion.fingerprint),
        ):
            if value is None or value in seen or len(seen) > TOLD_AT_MOST:
                continue
            if seen:
                found.append((kind, f"{kind.removesuffix('_changed')} changed from {list(seen)[-1]} to {value}"))
            seen[value] = None
        return found
