"""What a simulated model says: right, wrong in one of a few stable ways, or nothing that can be read.

The shape of the gold decides, so that the deterministic scorers can read the answer:

- a gold that holds a number and is long (``… #### 18``) or is a number: the last number, in one of several wordings
  that end with it, so that the text changes between repeats without the verdict changing (numeric, contains);
- a JSON object or list: JSON, laid out in one of several ways (json);
- anything else: the bare gold, so that an exact scorer can match it (exact, contains, choice).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from evaltui.providers.simulator.chance import pick

_NUMBER = re.compile(r"-?\d[\d,]{0,30}(?:\.\d{1,12})?(?!\d)")
_SHORT: Final = 60
_CANDIDATES: Final = 50
_LETTER = re.compile("[A-Z]")
_LETTERS: Final = ("A", "B", "C", "D")
_WORDINGS: Final = (
    "{}",
    "The answer is {}",
    "Working it through step by step, the result is {}",
    "Answer: {}",
    "So the total comes to {}",
)
_OFFSETS: Final = (1, -1, 2, 10, -2, 5, -10, 3, 7)
_WRONG_WEIGHTS: Final = (0.65, 0.25, 0.10)
_OPPOSITES: Final = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
UNPARSABLE: Final = "That depends on how one looks at it, really."
TRUNCATED: Final = "Let us take it step by step. First of all, we"


@dataclass(frozen=True, slots=True)
class Repertoire:
    """All that can be said about one item: the right answer, its wrong answers by preference, and how it is worded."""

    right: str
    wrong: tuple[str, ...]
    word: Callable[[str, float], str]

    def say(self, passes: bool, which_wrong: float, wording: float) -> str:
        """The text for two uniforms: which wrong answer, and which wording."""
        if passes:
            return self.word(self.right, wording)
        index = pick(which_wrong, _WRONG_WEIGHTS[: len(self.wrong)])
        return self.word(self.wrong[index if index is not None else 0], wording)


def repertoire(gold: str | None, others: Sequence[str], order: Sequence[float]) -> Repertoire:
    """What can be said about an item with this gold.

    ``others`` are golds of other items, from which wrong answers are taken where the gold is neither a number nor one
    of a pair; ``order`` are uniforms of the item, which settle its preferences.
    """
    text = (gold or "").strip()
    value = _json(text)
    if value is not None:
        right = json.dumps(value, ensure_ascii=False)
        return Repertoire(right, tuple(json.dumps(other, ensure_ascii=False) for other in _altered(value)), _lay_out)
    numbers = _NUMBER.findall(text)
    if numbers and (len(text) > _SHORT or _NUMBER.fullmatch(text)):
        return Repertoire(numbers[-1], _wrong_numbers(numbers[-1], order), _phrase)
    return Repertoire(text, _wrong_texts(text, others, order), lambda answer, _wording: answer)


def _phrase(answer: str, wording: float) -> str:
    return _WORDINGS[int(wording * len(_WORDINGS))].format(answer)


def _lay_out(answer: str, wording: float) -> str:
    indented = json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    layouts = (answer, indented, f"```json\n{indented}\n```")
    return layouts[int(wording * len(layouts))]


def _json(text: str) -> object | None:
    if not text.startswith(("{", "[")):
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _altered(value: object) -> list[object]:
    """The same JSON with its leaves changed; each is a different value."""
    if isinstance(value, dict):
        key = next(iter(value), None)
        inner: list[object] = [] if key is None else _altered(value[key])
        return [{**value, key: other} for other in inner] or [{"other": True}]
    if isinstance(value, list):
        return [[*value, None], [*value, 0]]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, value * 2 + 3]
    if isinstance(value, str):
        return [_OPPOSITES.get(value.lower(), f"not {value}"), "unknown"]
    return ["unknown"]


def _wrong_numbers(right: str, order: Sequence[float]) -> tuple[str, ...]:
    """Near misses that do not contain the right number's digits, so that a contains scorer sees them as wrong too."""
    plain = right.replace(",", "")
    decimals = len(plain.partition(".")[2])
    value = float(plain) if decimals else int(plain)
    start = int(order[0] * len(_OFFSETS))
    offsets = (*_OFFSETS[start:], *_OFFSETS[:start])
    misses = [f"{value + offset:.{decimals}f}" if decimals else str(int(value) + offset) for offset in offsets]
    return tuple(miss for miss in misses if right not in miss and plain not in miss)[: len(_WRONG_WEIGHTS)]


def _wrong_texts(right: str, others: Sequence[str], order: Sequence[float]) -> tuple[str, ...]:
    opposite = _OPPOSITES.get(right.lower())
    if opposite is not None:
        return (opposite.capitalize() if right[:1].isupper() else opposite,)
    pool = [other for other in others if _LETTER.fullmatch(other)] if _LETTER.fullmatch(right) else others
    if _LETTER.fullmatch(right) and len(pool) < 2:
        pool = _LETTERS
    start = int(order[0] * len(pool)) if pool else 0
    candidates = islice(chain(pool[start:], pool[:start]), _CANDIDATES)
    folded = right.casefold()
    wrong = [other for other in candidates if other and folded and folded not in other.casefold()]
    return tuple(dict.fromkeys(wrong))[: len(_WRONG_WEIGHTS)] or ("none of these",)
