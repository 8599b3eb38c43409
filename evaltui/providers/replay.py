"""Recorded answers as an endpoint: nothing is generated, only the scorer runs (``frozen-import``)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from evaltui.core.errors import Fault, InputError
from evaltui.core.records import Completion, Failure, Request
from evaltui.core.status import Status
from evaltui.providers.spoken import read_result

Key = tuple[str | None, int | None, str]
"""(arm, repeat, item); None where the recording holds for all of them."""

MOST_FAULTS: Final = 20
SAME_ANSWER: Final = (
    "holds one answer per item for all repeats: they agree by construction, and only the scorer's noise is measured"
)


class ReplayProvider:
    """Answers from JSON lines: ``item`` and ``text`` (or ``error``), ``repeat`` and ``arm`` where they differ.

    Raises:
        InputError: every fault of the file, with its line.
    """

    def __init__(self, path: Path) -> None:
        self._answers = read_answers(path)

    async def complete(self, request: Request) -> Completion | Failure:
        """The recorded answer; a cell without one fails by itself. Raises nothing."""
        cell = request.cell
        # A warm-up run has no recording of its own: it hears the first one.
        number = max(cell.repeat, 1)
        for arm, repeat in ((cell.arm, number), (None, number), (cell.arm, None), (None, None)):
            found = self._answers.get((arm, repeat, cell.item_id))
            if found is not None:
                outcome = read_result(found, "the recording")
                same = repeat is None and cell.repeat > 1
                return _marked(outcome) if same and isinstance(outcome, Completion) else outcome
        return Failure(
            Status.REQUEST_ERROR, f"no answer is recorded for item {cell.item_id!r}, {cell.arm}#{cell.repeat}"
        )

    async def close(self) -> None:
        """Nothing is open."""


def read_answers(path: Path) -> Mapping[Key, Mapping[str, object]]:
    """The answers of a file of JSON lines, by (arm, repeat, item).

    Raises:
        InputError: it cannot be read, or lines of it cannot: each with its number.
    """
    answers: dict[Key, Mapping[str, object]] = {}
    faults: list[Fault] = []
    for number, row in _rows(path, faults):
        key = _key(row, number, faults)
        if key is None:
            continue
        if key in answers:
            arm, repeat, item = key
            of = (f"arm {arm}" if arm is not None else "all arms", f"repeat {repeat}" if repeat else "all repeats")
            faults.append(Fault(f"line {number}", f"a second answer for item {item!r}, {of[0]}, {of[1]}"))
        answers[key] = row
    if not answers and not faults:
        faults.append(Fault("", "the file holds no answers"))
    if faults:
        raise InputError(str(path), faults[:MOST_FAULTS])
    return answers


def _rows(path: Path, faults: list[Fault]) -> Iterator[tuple[int, dict[str, object]]]:
    try:
        if path.is_char_device() or path.is_block_device():
            raise InputError(str(path), [Fault("", "it is a device and no file")])
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(str(path), [Fault("", f"it cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), [Fault("", f"it is not UTF-8 (byte {error.start}); save it as UTF-8")]) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            faults.append(Fault(f"line {number}", "this is not JSON"))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            faults.append(Fault(f"line {number}", "a line is an object with item and text"))


def _key(row: Mapping[str, object], number: int, faults: list[Fault]) -> Key | None:
    item, repeat, arm = row.get("item"), row.get("repeat"), row.get("arm")
    if isinstance(item, int) and not isinstance(item, bool):
        item = str(item)
    wrong = [
        "item must be the id of an item" if not isinstance(item, str) else "",
        "text or error is needed, as text" if not isinstance(row.get("text"), str) and not row.get("error") else "",
        "repeat must be a whole number from 1"
        if repeat is not None and (not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 1)
        else "",
        "arm must be the name of an arm" if arm is not None and not isinstance(arm, str) else "",
    ]
    if any(wrong):
        faults += [Fault(f"line {number}", sentence) for sentence in wrong if sentence]
        return None
    assert isinstance(item, str)
    assert arm is None or isinstance(arm, str)
    assert repeat is None or isinstance(repeat, int)
    return arm, repeat, item


def _marked(completion: Completion) -> Completion:
    return replace(completion, oddities=(*completion.oddities, SAME_ANSWER))
