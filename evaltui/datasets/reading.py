"""One call from a file to a checked data set."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evaltui.core.errors import Fault, InputError
from evaltui.datasets.csv_table import read_csv
from evaltui.datasets.dataset import Dataset, from_items
from evaltui.datasets.decoding import decode, read_bytes
from evaltui.datasets.json_lines import read_json_lines
from evaltui.datasets.json_list import read_json_list
from evaltui.datasets.mapping import Mapping, to_items
from evaltui.datasets.rows import Table, parse_json

MOST_FAULTS: Final = 50
JSON_LINES: Final = (".jsonl", ".ndjson")
TABLES: Final = (".csv", ".tsv")


def read(
    path: Path,
    *,
    id: str = "id",
    gold: str | None = None,
    category: str | None = None,
    cluster: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Dataset:
    """The items of a JSONL, JSON or CSV file; ``id``, ``gold``, ``category`` and ``cluster`` name its fields.

    An item without an id gets one made from its content, said in a notice. Without ``encoding`` the file is UTF-8,
    or what its byte-order mark says.

    Raises:
        InputError: with every fault of the file at once: broken lines, duplicate or odd ids, missing columns.
    """
    data = read_bytes(path)
    text, used = decode(path, data, encoding)
    table = _table(path, text, delimiter)
    items, faults, notices = to_items(table, Mapping(id, gold, category, cluster))
    faults = [*table.faults, *faults]
    if not faults and not items:
        faults.append(Fault("", "there is no item in the file"))
    if faults:
        raise InputError(str(path), _capped(sorted(faults, key=_place)))
    told = [*table.notices, *notices]
    if used.startswith(("utf-16", "utf-32")):
        told.insert(0, f"the file was read as {used.upper()}")
    return from_items(items, bytes_sha256=hashlib.sha256(data).hexdigest(), notices=told)


def _table(path: Path, text: str, delimiter: str | None) -> Table:
    suffix = path.suffix.lower()
    if suffix in JSON_LINES:
        return read_json_lines(text)
    if suffix == ".json":
        return read_json_lines(text) if _is_json_lines(text) else read_json_list(text)
    if suffix in TABLES:
        return read_csv(text, delimiter or ("\t" if suffix == ".tsv" else ","))
    if delimiter is not None:
        return read_csv(text, delimiter)
    start = text.lstrip()[:1]
    if start == "[":
        return read_json_list(text)
    if start == "{":
        return read_json_lines(text) if _is_json_lines(text) else read_json_list(text)
    raise InputError(
        str(path), [Fault("", "neither the name nor the content says what it is; call it .jsonl, .json or .csv")]
    )


def _is_json_lines(text: str) -> bool:
    """Whether the text is an object a line: some tools call such a file ``.json``."""
    lines = (line for line in text.split("\n") if line.strip())
    first, second = next(lines, ""), next(lines, "")
    if not (first.lstrip().startswith("{") and second.lstrip().startswith("{")):
        return False
    try:
        return isinstance(parse_json(first), dict)
    except ValueError:
        return False


def _place(fault: Fault) -> int:
    number = re.search(r"\d+", fault.where)
    return int(number[0]) if number else 0


def _capped(faults: Sequence[Fault]) -> list[Fault]:
    if len(faults) <= MOST_FAULTS:
        return list(faults)
    return [*faults[:MOST_FAULTS], Fault("", f"and {len(faults) - MOST_FAULTS:,} more faults")]
