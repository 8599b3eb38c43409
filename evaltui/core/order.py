"""The one random order of a study: the same in every run and arm."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from evaltui.core.records import Item


def shuffled(items: Sequence[Item], seed: int) -> tuple[Item, ...]:
    """Items sorted by a keyed hash of their id, positions filled in.

    The order depends on the seed and the ids alone: not on the file's order, the platform or a generator's version.
    """

    def rank(item: Item) -> bytes:
        return hashlib.sha256(f"{seed}\0{item.id}".encode("utf-8", "surrogatepass")).digest()

    return tuple(replace(item, position=place) for place, item in enumerate(sorted(items, key=rank)))
