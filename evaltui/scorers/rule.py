"""From a completion to a verdict: what is never scored, what is stripped first, and the rule that reads the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from evaltui.core.records import Completion, Item, Verdict
from evaltui.core.status import Status
from evaltui.scorers.reasoning import split_reasoning


@dataclass(frozen=True, slots=True)
class Mark:
    """What a rule made of an answer. ``label`` is what is compared for flips; ``score`` is None unless OK."""

    label: str | None
    score: float | None
    status: Status = Status.OK
    note: str = ""


Rule = Callable[[Item, str], Mark | Awaitable[Mark]]
"""Reads the answer (reasoning already removed, ends trimmed, not empty) of an item. Pure, but for the user's own."""


def right(label: str) -> Mark:
    return Mark(label, 1.0)


def wrong(label: str, note: str = "") -> Mark:
    return Mark(label, 0.0, note=note)


def unreadable(note: str) -> Mark:
    """Nothing to score in the answer: counted apart, never wrong."""
    return Mark(None, None, Status.PARSE_FAILURE, note)


def unscorable(note: str) -> Mark:
    """The scorer cannot do its work on this item, whatever the answer says."""
    return Mark(None, None, Status.SCORER_ERROR, note)


def without_gold(item: Item) -> Mark:
    return unscorable(f"item {item.id!r} has no gold to compare with")


@dataclass(frozen=True, slots=True)
class RuleScorer:
    """A deterministic scorer: a name, a version and a rule (satisfies ``core.protocols.Scorer``)."""

    name: str
    version: str
    rule: Rule
    score_range: tuple[float, float] | None = (0.0, 1.0)

    async def score(self, item: Item, completion: Completion) -> Verdict:
        """Only an OK completion with an answer in it gets a score; a truncated one keeps its would-be label."""
        if completion.status in (Status.EMPTY, Status.REFUSED):
            return Verdict(self.name, completion.status)
        split = split_reasoning(completion.text)
        answer = split.answer.strip()
        if split.unfinished:
            return Verdict(self.name, Status.TRUNCATED, note="the reasoning was never closed: there is no answer")
        if completion.status is Status.TRUNCATED:
            label = (await self._mark(item, answer)).label if answer else None
            return Verdict(self.name, Status.TRUNCATED, label, note="cut off at the token limit")
        if not answer:
            return Verdict(self.name, Status.EMPTY)
        mark = await self._mark(item, answer)
        return Verdict(self.name, mark.status, mark.label, mark.score, mark.note)

    async def _mark(self, item: Item, answer: str) -> Mark:
        try:
            mark = self.rule(item, answer)
            return mark if isinstance(mark, Mark) else await mark
        except TimeoutError:
            return unscorable("the pattern took too long on this answer and was stopped")
        except RecursionError:
            return unreadable("the answer is nested too deeply to be read")
