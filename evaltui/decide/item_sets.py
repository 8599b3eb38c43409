"""How two item sets differ: which items both hold unchanged, and which only seem to be the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaltui.core.fields import field_text
from evaltui.core.pins import canonical, short_hash
from evaltui.core.records import Item

ItemHashes = Mapping[str, tuple[bytes, bytes | None]]
"""Item id -> (hash of its input, hash of its gold; None without gold)."""


@dataclass(frozen=True, slots=True)
class ItemSets:
    """Ids in two item sets, in the order of the first set (``added``: of the second).

    ``unchanged`` have the same input and the same gold in both. An item whose input and gold both changed is in
    ``input_changed`` and in ``gold_changed``. ``removed`` are in the first set only, ``added`` in the second only.
    """

    unchanged: tuple[str, ...]
    input_changed: tuple[str, ...]
    gold_changed: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether both sets hold exactly the same items."""
        return not (self.input_changed or self.gold_changed or self.removed or self.added)

    @property
    def changed(self) -> bool:
        """Whether an id stands for different items in the two sets."""
        return bool(self.input_changed or self.gold_changed)


def item_sets(first: ItemHashes, second: ItemHashes) -> ItemSets:
    """Compare two item sets by id and hash; their order does not matter."""
    both = [item for item in first if item in second]
    return ItemSets(
        unchanged=tuple(item for item in both if first[item] == second[item]),
        input_changed=tuple(item for item in both if first[item][0] != second[item][0]),
        gold_changed=tuple(item for item in both if first[item][1] != second[item][1]),
        removed=tuple(item for item in first if item not in second),
        added=tuple(item for item in second if item not in first),
    )


def item_hashes(items: Iterable[Item], *, not_input: Iterable[str] = ()) -> dict[str, tuple[bytes, bytes | None]]:
    """The hashes of items' input and gold, by id.

    ``not_input`` names the fields that no model is asked: the ones that hold id, gold, category and cluster. All
    others are input. Empty fields are as absent ones, so that the file's format does not matter.
    """
    left_out = frozenset(not_input)
    return {item.id: (_input_hash(item, left_out), _gold_hash(item.gold)) for item in items}


def _input_hash(item: Item, left_out: frozenset[str]) -> bytes:
    texts = {name: field_text(value) for name, value in item.fields.items() if name not in left_out}
    return short_hash(canonical({name: text for name, text in texts.items() if text}))


def _gold_hash(gold: str | None) -> bytes | None:
    return None if gold is None else short_hash(gold.encode("utf-8", "surrogatepass"))
