"""Number match: the last number of the answer against the last number of the gold."""

from __future__ import annotations

import json
import re
from collections import deque
from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from evaltui.core.records import Item
from evaltui.scorers.options import Options
from evaltui.scorers.rule import Mark, Rule, right, unreadable, unscorable, without_gold, wrong
from evaltui.scorers.text import as_label

REVISION = 1
DIGITS_LIMIT: Final = 2000
"""Longer numbers are compared for equality only: no tolerance."""

_NUMBER = re.compile(
    r"(?<![A-Za-z\d])(?<!\d\.)"
    r"(?P<sign>(?:(?<![)\]])[-+])?)(?:[$€£¥]\s?)?"
    r"(?P<whole>\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?<!\.)(?=\.\d))"
    r"(?P<fraction>\.\d+)?"
    r"(?P<exponent>[eE][-+]?\d{1,3}(?!\d|\.\d))?",
    re.ASCII,
)
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,\\!|\\,)(?=\d)")
_NARROW_BLANK = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_FOLDED: Final = str.maketrans({"−": "-", "－": "-", "＋": "+", "．": ".", "，": ",", "＄": "$", "％": "%"})


class NumericOptions(Options):
    """``tolerance``: the largest difference that still counts as right. ``relative``: it is a share of the gold."""

    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    relative: bool = False


def last_number(text: str) -> str | None:
    """The last number of ``text`` in canonical decimal form (``-1234.5``), or None.

    Read: signs, thousands commas (also LaTeX ``1{,}000`` and narrow blanks), currency signs before and per cent signs
    after it, scientific notation, a full stop at the end of a sentence, digits of any script (full-width among them).
    Not read: superscripts, digits glued to a letter before them (``H2O``), fractions (``1/2`` gives 2), decimal commas
    (``3,14`` gives 14), words. ``12 or 13`` gives 13.
    """
    if not text.isascii():
        text = _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text.translate(_FOLDED))
        text = _NARROW_BLANK.sub(",", text)
    if "\\" in text or "{" in text:
        text = _LATEX_COMMA.sub(",", text)
    numbers = deque(_NUMBER.finditer(text), maxlen=1)
    if not numbers:
        return None
    last = numbers[0]
    return _canonical(last["sign"], last["whole"].replace(",", ""), (last["fraction"] or ".")[1:], last["exponent"])


def _canonical(sign: str, whole: str, fraction: str, exponent: str | None) -> str:
    if exponent:
        shifted = format(Decimal(f"{whole or '0'}.{fraction or '0'}{exponent}"), "f")
        whole, _, fraction = shifted.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    number = f"{whole}.{fraction}" if fraction else whole
    return f"-{number}" if sign == "-" and number != "0" else number


def _is_structure(gold: str) -> bool:
    """Whether a gold is a table or list: one of its numbers would be picked by chance."""
    if not gold.lstrip().startswith(("{", "[")):
        return False
    try:
        return isinstance(json.loads(gold), dict | list)
    except (ValueError, RecursionError):
        return False


def numeric_rule(options: NumericOptions) -> Rule:
    """Equality is exact on the decimal digits; with a tolerance it is |answer - gold| <= tolerance (x |gold|)."""
    tolerance = Decimal(repr(options.tolerance))

    def close(said: str, gold: str) -> bool:
        if said == gold or not tolerance or max(len(said), len(gold)) > DIGITS_LIMIT:
            return said == gold
        allowed = tolerance * abs(Decimal(gold)) if options.relative else tolerance
        return abs(Decimal(said) - Decimal(gold)) <= allowed

    def rule(item: Item, answer: str) -> Mark:
        if item.gold is None:
            return without_gold(item)
        gold = None if _is_structure(item.gold) else last_number(item.gold)
        if gold is None:
            return unscorable(f"the gold of item {item.id!r} is no number and no text that holds one")
        said = last_number(answer)
        if said is None:
            # A lone superscript is a numeral, legible and not the number asked for.
            return wrong(as_label(answer)) if answer.isdigit() else unreadable("no number in the answer")
        return right(as_label(said)) if close(said, gold) else wrong(as_label(said))

    return rule
