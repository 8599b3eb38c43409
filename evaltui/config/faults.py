"""From pydantic's errors to sentences: the key path, the value, and what is expected instead."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import ValidationError

from evaltui.config.endpoints import Price
from evaltui.config.secrets import looks_like_key
from evaltui.config.simulator import FaultTable
from evaltui.config.tables import Table
from evaltui.core.errors import Fault

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SomeTable = TypeVar("SomeTable", bound=Table)
LONGEST_VALUE: Final = 60
NESTED: Final[dict[str, type[Table]]] = {"price": Price, "faults": FaultTable, "run_faults": FaultTable}
EXPECTED: Final = {
    "bool_type": "true or false",
    "dict_type": "a table",
    "finite_number": "a finite number",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a table",
    "path_type": "text in quotes",
    "string_type": "text in quotes",
}
LIMITS: Final[dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "greater_than_equal": lambda limit: f"{limit['ge']:g} or more",
    "greater_than": lambda limit: f"more than {limit['gt']:g}",
    "less_than_equal": lambda limit: f"{limit['le']:g} or less",
    "string_too_short": lambda limit: "a text that is not empty",
    "string_pattern_mismatch": lambda limit: f"a text of the form {limit['pattern']}",
    "literal_error": lambda limit: f"one of {limit['expected']}",
}
NEEDED: Final = "this key is needed"
LATER: Final = ("judge", "claims")


def checked(
    model: type[SomeTable], raw: object, where: Callable[..., str], faults: list[Fault], *, also: Sequence[str] = ()
) -> SomeTable | None:
    """``raw`` as a ``model``, or None with every fault appended.

    ``where`` turns the parts of a location inside the table into a key path of the file. ``also`` are keys that a
    file may use here and that were taken out before.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        faults += [
            Fault(where(*detail["loc"]), _sentence(detail, model, also)) for detail in error.errors(include_url=False)
        ]
    return None


def key_path(*parts: object) -> str:
    """``arms.candidate.model``; parts that TOML would quote are quoted."""
    return ".".join(part if re.fullmatch(r"[\w-]+", part) else json.dumps(part) for part in map(str, parts))


def unknown_key(name: str, known: Iterable[str]) -> str:
    """The sentence about a key that means nothing, with the nearest one that does."""
    known = list(known)
    near = nearest(name, known)
    return f"unknown key; did you mean {near!r}?" if near else f"unknown key; known here: {', '.join(known)}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like ``name``, if one does."""
    folded = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(name.casefold(), folded, n=1)
    return folded[found[0]] if found else None


def shown(value: object) -> str:
    """A value as its author would recognise it: short, and never a key."""
    if isinstance(value, str):
        if looks_like_key(value):
            return "the value (not shown: it looks like a key)"
        return json.dumps(value if len(value) <= LONGEST_VALUE else value[:LONGEST_VALUE] + "…", ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    return "a list" if isinstance(value, (list, tuple)) else str(value)


def kind_fault(kind: object, available: Iterable[str]) -> str:
    """The sentence about a kind that this version does not have."""
    available = list(available)
    hint = f"; did you mean {near!r}?" if isinstance(kind, str) and (near := nearest(kind, available)) else ""
    reason = "comes with a later version" if kind in LATER else "is not a kind"
    return f"{shown(kind)} {reason}; available now: {', '.join(available)}{hint}"


def _sentence(detail: ErrorDetails, model: type[Table], also: Sequence[str]) -> str:
    kind, limit, value = detail["type"], detail.get("ctx", {}), detail["input"]
    if kind == "extra_forbidden":
        nested = [NESTED[part] for part in map(str, detail["loc"][:-1]) if part in NESTED]
        return unknown_key(str(detail["loc"][-1]), [*_keys(nested[-1]), *also] if nested else [*_keys(model), *also])
    if kind == "missing":
        return NEEDED
    if kind == "value_error":
        return str(limit["error"])
    if kind == "literal_error" and detail["loc"][-1:] == ("kind",):
        return kind_fault(value, re.findall(r"'([^']*)'", limit["expected"]))
    if kind in EXPECTED:
        return f"{shown(value)} is not {EXPECTED[kind]}"
    if kind in LIMITS:
        return f"{shown(value)} does not fit; it must be {LIMITS[kind](limit)}"
    return f"{shown(value)} does not fit: {detail['msg']}"


def _keys(model: type[Table]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
