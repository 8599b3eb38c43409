"""From rows to items: which field is the id, the gold answer, the category and the cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from evaltui.core.errors import Fault
from evaltui.core.fields import field_text
from evaltui.core.records import Item
from evaltui.datasets.dataset import content_id, make_item
from evaltui.datasets.rows import Row, Table, kind_of

DEFAULT_ID: Final = "id"
MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Mapping:
    """The names of the fields that mean something to evaltui."""

    id: str = DEFAULT_ID
    gold: str | None = None
    category: str | None = None
    cluster: str | None = None


def to_items(table: Table, mapping: Mapping) -> tuple[list[Item], list[Fault], list[str]]:
    """Items in the order of the rows, what is wrong with them, and notices about what was assumed."""
    faults = _absent_columns(table.rows, mapping) if table.rows else []
    items: list[Item] = []
    numbers: dict[str, list[int]] = defaultdict(list)
    made: set[str] = set()
    for row in table.rows:
        try:
            id, from_content = _id(row, mapping.id)
        except ValueError as error:
            faults.append(Fault(f"{table.unit} {row.number}", str(error)))
            continue
        numbers[id].append(row.number)
        if from_content:
            made.add(id)
        items.append(_item(id, row, mapping))
    for id, places in numbers.items():
        if len(places) > 1:
            what = "no id and the same content" if id in made else f"the same id {id!r}"
            faults.append(Fault(f"{table.unit}s {_listed(places)}", f"{len(places)} items have {what}"))
    return items, faults, _notices(items, made, mapping)


def _id(row: Row, name: str) -> tuple[str, bool]:
    """The id, and whether it was made from the content.

    Raises:
        ValueError: the value is neither text nor a number.
    """
    value = row.fields.get(name)
    if value is None or value == "":
        return content_id(row.fields, name), True
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"the id ({name!r}) is {kind_of(value)}; an id is text or a number")
    return field_text(value), False


def _item(id: str, row: Row, mapping: Mapping) -> Item:
    def text(name: str | None) -> str | None:
        return (field_text(row.fields.get(name)) or None) if name is not None else None

    return make_item(
        id,
        row.fields,
        id_field=mapping.id,
        gold=text(mapping.gold),
        category=text(mapping.category),
        cluster=text(mapping.cluster),
    )


def _absent_columns(rows: Sequence[Row], mapping: Mapping) -> list[Fault]:
    columns = dict.fromkeys(name for row in rows for name in row.fields)
    there = ", ".join(map(repr, columns))
    wanted = [("gold", mapping.gold), ("category", mapping.category), ("cluster", mapping.cluster)]
    if mapping.id != DEFAULT_ID:
        wanted.insert(0, ("id", mapping.id))
    return [
        Fault("", f"no item has the field {name!r} that dataset.{key} names; the fields are {there}")
        for key, name in wanted
        if name is not None and name not in columns
    ]


def _notices(items: Sequence[Item], made: set[str], mapping: Mapping) -> list[str]:
    notices = []
    if made:
        notices.append(
            f"{len(made):,} of {len(items):,} items have no {mapping.id!r}; their ids were made from their content"
        )
    if mapping.gold is not None:
        without = [item.id for item in items if item.gold is None]
        if without:
            notices.append(f"{len(without):,} items have no gold answer: {_listed(map(repr, without), len(without))}")
    return notices


def _listed(values: Iterable[object], count: int | None = None) -> str:
    shown = [str(value) for value in values]
    rest = (count or len(shown)) - MOST_NAMED
    if rest > 0:
        return f"{', '.join(shown[:MOST_NAMED])} and {rest:,} more"
    return ", ".join(shown)
