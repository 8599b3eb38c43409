"""CSV: a header line and records, quoted as RFC 4180 has it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from evaltui.core.errors import Fault
from evaltui.datasets.rows import Row, Table

LONGEST_FIELD: Final = 2**31 - 1
DELIMITERS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_csv(text: str, delimiter: str) -> Table:
    """Rows of a CSV text; every value is text. Fields of any length are read."""
    records: list[tuple[int, list[str]]] = []
    faults: list[Fault] = []
    with _long_fields():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        line = 1
        try:
            for record in reader:
                records.append((line, record))
                line = reader.line_num + 1
        except csv.Error as error:
            faults.append(Fault(f"line {line}", f"not CSV: {error}; quotes inside a quoted field are doubled"))
    records = [(line, record) for line, record in records if any(field.strip() for field in record)]
    if not records:
        return Table((), faults or [Fault("", "no header line")])
    (line, header), *body = records
    question = _other_delimiter(header, delimiter)
    if question:
        return Table((), [Fault(f"line {line}", question)])
    faults += [Fault(f"line {line}", message) for message in _header_faults(header)]
    rows = [Row(line, dict(zip(header, record, strict=True))) for line, record in body if len(record) == len(header)]
    faults += [
        Fault(f"line {line}", f"{len(record)} fields, where the header has {len(header)}")
        for line, record in body
        if len(record) != len(header)
    ]
    return Table(rows, faults)


def _other_delimiter(header: list[str], delimiter: str) -> str:
    """A question about the delimiter, when a header of one column looks like several; else nothing."""
    for other, name in DELIMITERS.items():
        if len(header) == 1 and other != delimiter and other in header[0]:
            written = "\\t" if other == "\t" else other
            return (
                f"only one column, {header[0]!r}: are the fields separated by {name}? "
                f'then say delimiter = "{written}" in [dataset]'
            )
    return ""


def _header_faults(header: list[str]) -> list[str]:
    unnamed = [place for place, name in enumerate(header, start=1) if not name.strip()]
    twice = dict.fromkeys(name for name in header if name.strip() and header.count(name) > 1)
    return [f"column {place} has no name; name it or leave it out" for place in unnamed] + [
        f"the column {name!r} stands {header.count(name)} times" for name in twice
    ]


@contextmanager
def _long_fields() -> Iterator[None]:
    """The csv module's limit of 131,072 characters a field is global, so it is put back."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)
