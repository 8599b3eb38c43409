"""A data set in memory: items with stable ids and hashes that do not depend on the file's format or order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaltui.core.fields import comparable, item_hash
from evaltui.core.pins import content_hash, digest
from evaltui.core.records import Item


@dataclass(frozen=True, slots=True)
class Dataset:
    """Items in the order of their file, with positions not yet drawn.

    ``content_sha256`` is over the items' hashes and so independent of order and format; ``bytes_sha256`` is over the
    file, empty when the items were generated. ``notices`` are sentences about what was assumed while reading.
    """

    items: tuple[Item, ...]
    content_sha256: str
    bytes_sha256: str = ""
    notices: tuple[str, ...] = ()


def from_items(items: Iterable[Item], *, bytes_sha256: str = "", notices: Sequence[str] = ()) -> Dataset:
    """A data set of items that are at hand already."""
    kept = tuple(items)
    return Dataset(kept, content_hash(item.hash for item in kept), bytes_sha256, tuple(notices))


def make_item(
    id: str,
    fields: Mapping[str, object],
    *,
    id_field: str = "id",
    gold: str | None = None,
    category: str | None = None,
    cluster: str | None = None,
) -> Item:
    """An item with its hash, which covers the id and every field but ``id_field``."""
    return Item(
        id=id,
        fields=fields,
        gold=gold,
        category=category,
        cluster=cluster,
        hash=item_hash(id, fields, id_field),
    )


def content_id(fields: Mapping[str, object], id_field: str) -> str:
    """An id made from what a row says, so that it stays with the row when lines are moved."""
    return f"item-{digest(comparable(fields, id_field))[:12]}"
