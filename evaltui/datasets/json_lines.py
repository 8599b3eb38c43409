"""JSONL: one object a line."""

from __future__ import annotations

from evaltui.core.errors import Fault
from evaltui.datasets.rows import Row, Table, kind_of, parse_json


def read_json_lines(text: str) -> Table:
    """Rows of a JSONL text. Lines end at a line feed only: U+2028, U+2029 and U+0085 are legal inside JSON strings."""
    rows: list[Row] = []
    faults: list[Fault] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError as error:
            faults.append(Fault(f"line {number}", str(error)))
            continue
        if isinstance(value, dict):
            rows.append(Row(number, value))
        else:
            faults.append(Fault(f"line {number}", f"{kind_of(value)}, where an object {{…}} is expected"))
    return Table(rows, faults)
