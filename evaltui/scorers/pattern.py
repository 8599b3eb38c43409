"""A regular expression tests the answer, or extracts from it what is compared with the gold."""

from __future__ import annotations

from collections import deque
from typing import Annotated, Literal

import regex
from pydantic import Field

from evaltui.core.records import Item
from evaltui.scorers.options import Options
from evaltui.scorers.rule import Mark, Rule, right, unreadable, without_gold, wrong
from evaltui.scorers.text import as_label, fold

REVISION = 1


class RegexOptions(Options):
    """``group``: what is extracted and compared with the gold, by number or name (0: the whole match).

    Without it the first group is, when the pattern has one; a pattern without groups is a test: a match is right.
    ``take``: which match counts when there are several. ``timeout_s``: seconds after which a runaway pattern stops.
    """

    pattern: str
    group: int | str | None = None
    take: Literal["last", "first"] = "last"
    ignore_case: bool = False
    timeout_s: Annotated[float, Field(gt=0, le=5)] = 0.25


def regex_rule(options: RegexOptions) -> Rule:
    """Raises ValueError (a sentence) when the pattern or the group cannot be used."""
    flags = regex.V0 | (regex.IGNORECASE if options.ignore_case else 0)
    try:
        compiled = regex.compile(options.pattern, flags)
    except regex.error as error:
        raise ValueError(f"pattern {options.pattern!r} is not a regular expression: {error}") from None
    group = options.group if options.group is not None or compiled.groups == 0 else 1
    if (isinstance(group, int) and not 0 <= group <= compiled.groups) or (
        isinstance(group, str) and group not in compiled.groupindex
    ):
        raise ValueError(f"group {group!r} is not in the pattern {options.pattern!r}")

    def found(answer: str) -> regex.Match[str] | None:
        if options.take == "first":
            return compiled.search(answer, timeout=options.timeout_s)
        matches = deque(compiled.finditer(answer, timeout=options.timeout_s), maxlen=1)
        return matches[0] if matches else None

    def test(item: Item, answer: str) -> Mark:
        return wrong("no match") if found(answer) is None else right("match")

    def extract(item: Item, answer: str) -> Mark:
        if item.gold is None:
            return without_gold(item)
        match = found(answer)
        text = match[group] if match is not None and group is not None else None
        if text is None:
            return unreadable("the pattern found nothing in the answer")
        said, gold = " ".join(text.split()), " ".join(item.gold.split())
        if options.ignore_case:
            said, gold = said.casefold(), gold.casefold()
        if said == gold:
            return right(as_label(fold(said)))
        return wrong(as_label(f"{fold(said)} (case differs)" if fold(said) == fold(gold) else fold(said)))

    return test if group is None else extract
