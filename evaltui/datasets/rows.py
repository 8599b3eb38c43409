"""What the format readers hand over: rows with the place each came from, and everything that was wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from evaltui.core.errors import Fault

DEEPEST: Final = 100
TOO_DEEP: Final = f"nested more than {DEEPEST} deep"


@dataclass(frozen=True, slots=True)
class Row:
    """One record. ``number`` is its line in the file, or its place in a JSON list, from 1."""

    number: int
    fields: dict[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """All rows of a file. ``unit`` says what ``Row.number`` counts: ``line`` or ``item``."""

    rows: Sequence[Row]
    faults: Sequence[Fault]
    unit: str = "line"
    notices: Sequence[str] = ()


def parse_json(text: str) -> object:
    """JSON as the standard has it: a key given twice, NaN and endless nesting are refused.

    Raises:
        ValueError: its message says what is wrong and, for a syntax error, where.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ValueError(f"not JSON: {error.msg} at {place}") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if _deeper_than(value, DEEPEST):
        raise ValueError(TOO_DEEP)
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the key {name!r} stands twice in one object")
        fields[name] = value
    return fields


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise ValueError(f"a number of {len(digits):,} digits; write it as text in quotes") from None


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; write null, or the value as text")


def _deeper_than(value: object, depth: int) -> bool:
    if isinstance(value, dict):
        inner: Iterable[object] = value.values()
    elif isinstance(value, list):
        inner = value
    else:
        return False
    return depth == 0 or any(_deeper_than(part, depth - 1) for part in inner)


def kind_of(value: object) -> str:
    """What a JSON value is, as a person would call it."""
    if isinstance(value, bool):
        return "true or false"
    names = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number", type(None): "null"}
    return names.get(type(value), type(value).__name__)
