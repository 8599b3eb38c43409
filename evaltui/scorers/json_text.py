"""Finds the JSON in an answer: bare, in a code fence, or in the middle of prose.

Lenient in two ways only, both part of the scorers' versions: raw control characters inside strings are accepted, and
text around the JSON is ignored. Python literals, comments, single quotes, NaN and cut-off objects are not JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

SIZE_LIMIT: Final = 2_000_000
_FENCE = re.compile(r"```[\w+-]*[ \t]*\r?\n?(.*?)```", re.DOTALL)
_MARK = re.compile(r'[{}"]')
_STRING_REST = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


class NoJSONError(ValueError):
    """There is no JSON in the text; the message says why, for a person."""


def find_json(text: str) -> object:
    """The whole text when it is JSON, else the last fenced block that is, else the last object in the prose.

    Raises NoJSONError. Linear in the length of the text; nesting deeper than the interpreter allows is no JSON.
    """
    if len(text) > SIZE_LIMIT:
        raise NoJSONError(f"the answer is longer than {SIZE_LIMIT:,} characters")
    candidates = [text, *(match[1] for match in reversed(list(_FENCE.finditer(text))))]
    for candidate in candidates:
        found, value = _load(candidate)
        if found:
            return value
    for span in reversed(list(_objects(text))):
        found, value = _load(span)
        if found:
            return value
    raise NoJSONError("no JSON in the answer" if "{" not in text else "the JSON in the answer is broken")


def _load(text: str) -> tuple[bool, object]:
    try:
        return True, json.loads(text, strict=False, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False, None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _objects(text: str) -> Iterator[str]:
    """The outermost ``{…}`` of ``text``. One that never closes ends the search: its inner parts are not the answer."""
    depth = start = at = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark[0] == "{":
            start = mark.start() if depth == 0 else start
            depth += 1
        elif depth and mark[0] == '"':
            rest = _STRING_REST.match(text, at)
            if rest is None:
                return
            at = rest.end()
        elif depth and mark[0] == "}":
            depth -= 1
            if depth == 0:
                yield text[start:at]
