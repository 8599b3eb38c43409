"""The user's own scorers: a Python function, or a command that is given JSON and prints its verdict."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from evaltui.core.errors import EvaltuiError
from evaltui.core.records import Item
from evaltui.outside import functions
from evaltui.outside.commands import Command, CommandError
from evaltui.scorers.options import Options
from evaltui.scorers.rule import Mark, Rule, unreadable, unscorable
from evaltui.scorers.text import as_label, fold

REVISION = 1
NOTE_LENGTH = 500

AnyPath = Annotated[Path, BeforeValidator(lambda path: Path(path))]


class PythonOptions(Options):
    """``function`` is ``module:function``; ``folder`` is searched before other places."""

    function: str
    folder: AnyPath = Field(Path(), exclude=True)
    timeout_s: float = Field(60.0, exclude=True)


class CommandOptions(Options):
    """``command`` starts in ``folder``."""

    command: list[str] = Field(min_length=1)
    folder: AnyPath = Field(Path(), exclude=True)
    timeout_s: float = Field(60.0, exclude=True)


def python_rule(options: PythonOptions) -> Rule:
    """Calls ``function(answer, item)``, sync or async; what it raises makes a scorer error of that cell.

    ``item`` is a dict with id, gold, category, cluster and fields. See :func:`read_mark` for what it may return.
    """
    try:
        function = functions.load(options.function, options.folder)
    except EvaltuiError as error:
        raise ValueError(str(error)) from None

    async def rule(item: Item, answer: str) -> Mark:
        return await _within(options.timeout_s, lambda: functions.call(function, answer, _document(item)))

    return rule


def command_rule(options: CommandOptions) -> Rule:
    """Gives the command ``{"answer": ..., "item": {...}}`` and reads what it prints: JSON, else a label by itself.

    A label of right, correct, true, pass or yes scores 1, of their opposites 0. See :func:`read_mark`.
    """
    command = Command(tuple(options.command), options.folder)

    async def ask(answer: str, item: Item) -> Any:
        given = json.dumps({"answer": answer, "item": _document(item)}).encode()
        said = (await command.call(given)).decode("utf-8", "replace").strip()
        try:
            return json.loads(said)
        except (ValueError, RecursionError):
            return said

    async def rule(item: Item, answer: str) -> Mark:
        return await _within(options.timeout_s, lambda: ask(answer, item))

    return rule


def python_source(options: PythonOptions) -> str:
    """Digest of the module's file, so that another version of it is another scorer."""
    source = functions.source_of(options.function, options.folder)
    return _digest([source] if source is not None else [])


def command_source(options: CommandOptions) -> str:
    """Digest of the files that the command line names."""
    return _digest(Command(tuple(options.command), options.folder).files)


def read_mark(value: object) -> Mark:
    """A verdict from what a user's scorer returned.

    True, False or a number from 0 to 1 is the score; a table has ``score`` and may have ``label`` and ``note``; a text
    is the label of a verdict (right, wrong and their like). None, or any other text, is a parse failure.
    """
    label, note = None, ""
    if isinstance(value, dict):
        if unknown := sorted(str(name) for name in value.keys() - {"score", "label", "note"}):
            return unscorable(f"the scorer's table has {unknown[0][:100]!r}; it may have score, label and note")
        label, note = value.get("label"), str(value.get("note") or "")[:NOTE_LENGTH]
        value = value.get("score", label)
    if value is None:
        return unreadable(note or "the scorer found nothing to score")
    if isinstance(value, str):
        if fold(value) not in WORDS:
            return unreadable(f"the scorer said {value[:100]!r}, which is no verdict")
        label, value = label or value, WORDS[fold(value)]
    if not isinstance(value, (bool, int, float)) or not math.isfinite(value) or not 0 <= value <= 1:
        return unscorable(f"the scorer gave the score {str(value)[:100]}; a score is a number from 0 to 1")
    score = float(value) + 0.0  # no minus zero, which would be another label than zero
    return Mark(as_label(fold(str(label))) if label is not None else _label(value), score, note=note)


WORDS = dict.fromkeys(("right", "correct", "true", "pass", "yes"), 1.0) | dict.fromkeys(
    ("wrong", "incorrect", "false", "fail", "no"), 0.0
)
"""What a scorer may say in a word, and the score that it stands for."""


def _label(score: bool | int | float) -> str:
    return str(score).lower() if isinstance(score, bool) else f"{score + 0.0:g}"


async def _within(limit_s: float, call: Callable[[], Awaitable[Any]]) -> Mark:
    try:
        async with asyncio.timeout(limit_s):
            value = await call()
    except TimeoutError:
        return unscorable(f"the scorer gave no verdict within {limit_s:g} s")
    except CommandError as error:
        return unscorable(str(error)[:NOTE_LENGTH])
    except Exception as error:
        return unscorable(f"the scorer raised {type(error).__name__}: {error}"[:NOTE_LENGTH])
    return read_mark(value)


def _document(item: Item) -> dict[str, object]:
    return {
        "id": item.id,
        "gold": item.gold,
        "category": item.category,
        "cluster": item.cluster,
        "fields": dict(item.fields),
    }


def _digest(paths: list[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.read_bytes())
    return whole.hexdigest()[:8]
