"""Exact match: the whole answer equals the gold, ends trimmed."""

from __future__ import annotations

from evaltui.core.records import Item
from evaltui.scorers.options import Options
from evaltui.scorers.rule import Mark, Rule, right, without_gold, wrong
from evaltui.scorers.text import as_label, fold, normalised

REVISION = 1


class ExactOptions(Options):
    """``normalise``: NFKC, white space, quotes, emphasis marks and final full stops do not count."""

    normalise: bool = False
    ignore_case: bool = False


def exact_rule(options: ExactOptions) -> Rule:
    """The label is the answer with white space and case folded. An answer that differs from the gold in nothing else
    says so in its label, so that equal labels always mean equal scores.
    """

    def canonical(text: str) -> str:
        text = normalised(text) if options.normalise else text.strip()
        return text.casefold() if options.ignore_case else text

    def rule(item: Item, answer: str) -> Mark:
        if item.gold is None:
            return without_gold(item)
        said, gold = canonical(answer), canonical(item.gold)
        folded = fold(said)
        if said == gold:
            return right(as_label(folded))
        if folded == fold(gold):
            return wrong(as_label(f"{folded} (case or spacing differs)"), "differs in case or white space only")
        return wrong(as_label(folded))

    return rule
