"""The gold, or a fixed text, occurs in the answer."""

from __future__ import annotations

import re

from evaltui.core.records import Item
from evaltui.scorers.options import Options
from evaltui.scorers.rule import Mark, Rule, right, unscorable, without_gold, wrong

REVISION = 1


class ContainsOptions(Options):
    """``text``: looked for instead of the gold. ``words``: not inside a longer word or number."""

    text: str | None = None
    ignore_case: bool = True
    words: bool = False


def contains_rule(options: ContainsOptions) -> Rule:
    """White space runs count as one blank on both sides."""

    def canonical(text: str) -> str:
        text = " ".join(text.split())
        return text.casefold() if options.ignore_case else text

    def rule(item: Item, answer: str) -> Mark:
        wanted = options.text if options.text is not None else item.gold
        if wanted is None:
            return without_gold(item)
        needle, haystack = canonical(wanted), canonical(answer)
        if not needle:
            return unscorable(f"item {item.id!r} has a blank gold, which every answer contains")
        if options.words:
            found = re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", haystack) is not None
        else:
            found = needle in haystack
        return right("found") if found else wrong("not found")

    return rule
