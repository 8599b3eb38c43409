"""JSON: a list of objects, or an object that holds exactly one such list."""

from __future__ import annotations

from evaltui.core.errors import Fault
from evaltui.datasets.rows import Row, Table, kind_of, parse_json

MOST_KEYS = 8


def read_json_list(text: str) -> Table:
    """Rows of a JSON text; their numbers count items, not lines."""
    try:
        value = parse_json(text)
    except ValueError as error:
        return Table((), [Fault("", str(error))], unit="item")
    notices: list[str] = []
    if isinstance(value, dict):
        lists = {name: inner for name, inner in value.items() if isinstance(inner, list)}
        if len(lists) != 1:
            return Table((), [Fault("", _not_items(value, lists))], unit="item")
        name, value = next(iter(lists.items()))
        notices.append(f"the items were taken from the key {name!r}")
    if not isinstance(value, list):
        return Table((), [Fault("", f"{kind_of(value)}, where a list of objects is expected")], unit="item")
    faults = [
        Fault(f"item {number}", f"{kind_of(inner)}, where an object {{…}} is expected")
        for number, inner in enumerate(value, start=1)
        if not isinstance(inner, dict)
    ]
    rows = [Row(number, inner) for number, inner in enumerate(value, start=1) if isinstance(inner, dict)]
    return Table(rows, faults, unit="item", notices=notices)


def _not_items(value: dict[str, object], lists: dict[str, list[object]]) -> str:
    if lists:
        return f"an object with several lists ({', '.join(map(repr, lists))}); keep the list of items alone in the file"
    keys = ", ".join(map(repr, list(value)[:MOST_KEYS])) + (", …" if len(value) > MOST_KEYS else "")
    return f"an object without a list of items (its keys: {keys or 'none'}), so this is not a data set"
