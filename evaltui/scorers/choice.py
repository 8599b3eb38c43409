"""Multiple choice: the letter that the answer settles on."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field

from evaltui.core.records import Item
from evaltui.scorers.options import Options
from evaltui.scorers.rule import Mark, Rule, right, unreadable, unscorable, without_gold, wrong

REVISION = 1
_AFTER_A_CHOICE: Final = frozenset({"", "and", "as", "because", "is", "or", "since"})


class ChoiceOptions(Options):
    """``letters``: those that may be chosen."""

    letters: Annotated[str, Field(pattern=r"^[A-Z]{2,26}$")] = "ABCDEFGHIJ"


def choice_rule(options: ChoiceOptions) -> Rule:
    """Read in this order, the last of a kind winning: ``\\boxed{C}``; ``the answer is (C)``, ``Answer: C``; an answer
    that begins with the letter alone (``C``, ``(C)``, ``C. Paris``); letters in brackets, then letters that stand
    alone, when they are all the same. Anything else is a parse failure, never a guess. A small letter counts only
    where nothing follows it on its line, or as the beginning.
    """
    letter = f"[{options.letters}]"
    small = letter.lower()
    either = f"[{options.letters}{options.letters.lower()}]"
    boxed = re.compile(rf"\\boxed\{{\s*(?:\\text\{{)?\s*\(?({either})\)?\s*\}}")
    announced = re.compile(
        r"\b(?i:answer)\b(?:\s+(?i:is|should be|would be)\b)?[\s:=*_`\"'(\[]*"
        rf"(?:({letter})(?![\w'’])|({small})(?=[)\].,*_`\"'\s]*$))",
        re.MULTILINE,
    )
    opening = re.compile(rf"[*_`\"'(\[]*({either})(?:[)\].:,*_`\"']+(?=\s|$)|\s*$)")
    bracketed = re.compile(rf"[(\[]({letter})[)\]]")
    alone = re.compile(rf"(?<![\w'’\-])({letter})(?![\w'’\-])")

    def chosen(text: str) -> str | None:
        for explicit in (boxed, announced):
            found = [match for match in explicit.finditer(text) if not _is_pronoun(text, match)]
            if found:
                return str(found[-1][found[-1].lastindex or 0]).upper()
        first = opening.match(text)
        if first:
            return first[1].upper()
        for loose in (bracketed, alone):
            letters = {match[1] for match in loose.finditer(text) if not _is_word(text, match)}
            if letters:
                return letters.pop() if len(letters) == 1 else None
        return None

    def rule(item: Item, answer: str) -> Mark:
        if item.gold is None:
            return without_gold(item)
        gold = chosen(item.gold.strip())
        if gold is None:
            return unscorable(f"the gold of item {item.id!r} is not one of the letters {options.letters}")
        said = chosen(answer)
        if said is None:
            return unreadable("no single letter could be read from the answer")
        return right(said) if said == gold else wrong(said)

    return rule


def _is_pronoun(text: str, match: re.Match[str]) -> bool:
    return match[0].endswith("I") and _next_word(text, match) not in _AFTER_A_CHOICE


def _is_word(text: str, match: re.Match[str]) -> bool:
    """``A`` and ``I`` before another word are an article and a pronoun, not choices."""
    return match[0] in "AI" and _next_word(text, match) not in _AFTER_A_CHOICE


def _next_word(text: str, match: re.Match[str]) -> str:
    word = re.match(r"[ \t]+(\w{1,20})", text[match.end() : match.end() + 24])
    return word[1] if word else ""
