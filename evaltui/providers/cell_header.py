"""Names the cell of a call to a simulator endpoint, so that its outcome can depend on the cell and on nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from evaltui.core.records import Request

CELL_HEADER: Final = "X-Evaltui-Cell"


@dataclass(frozen=True, slots=True)
class CellName:
    """``attempt`` counts from 1, and so does ``repeat`` unless it only warms up."""

    arm: str
    repeat: int
    item_id: str
    attempt: int


def name_of(request: Request) -> CellName:
    return CellName(request.cell.arm, request.cell.repeat, request.cell.item_id, request.attempt)


def encode_cell(name: CellName) -> str:
    """JSON, percent-encoded to plain ASCII."""
    value = {"arm": name.arm, "repeat": name.repeat, "item": name.item_id, "attempt": name.attempt}
    return quote(json.dumps(value), safe="")


def decode_cell(text: str) -> CellName:
    """Raises ValueError (a sentence) when ``text`` names no cell."""
    try:
        value = json.loads(unquote(text))
        name = CellName(value["arm"], value["repeat"], value["item"], value["attempt"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{CELL_HEADER} must be percent-encoded JSON with arm, repeat, item and attempt") from None
    if not (isinstance(name.arm, str) and isinstance(name.item_id, str)):
        raise ValueError(f"{CELL_HEADER}: arm and item must be text")
    if not (isinstance(name.repeat, int) and isinstance(name.attempt, int) and name.attempt >= 1):
        raise ValueError(f"{CELL_HEADER}: repeat and attempt must be whole numbers, attempt from 1")
    return name
