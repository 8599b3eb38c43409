"""Whether the scorers can work with the golds of a data set: found before the answers are paid for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from evaltui import scorers
from evaltui.config import StudyConfig
from evaltui.core.format import count
from evaltui.core.protocols import Scorer
from evaltui.core.records import Completion, Item
from evaltui.core.status import Status
from evaltui.core.study import StudyPlan


def gold_warnings(config: StudyConfig, plan: StudyPlan) -> Iterator[str]:
    """Sentences about golds that are missing, or that their scorer cannot use."""
    yield from _missing(config, plan)
    yield from _unusable(config, plan)


def _missing(config: StudyConfig, plan: StudyPlan) -> Iterator[str]:
    comparing = ", ".join(name for name, scorer in config.scorers.items() if scorer.needs_gold)
    without = sorted(item.id for item in plan.items if item.gold is None)
    if not comparing or not without:
        return
    if len(without) == len(plan.items):
        yield f"no item has gold, which {comparing} needs: say gold = FIELD in [dataset]"
        return
    named = ", ".join(without[:5]) + (" …" if len(without) > 5 else "")
    yield f"{count(len(without), 'item')} without gold, which {comparing} needs: {named}"


def _unusable(config: StudyConfig, plan: StudyPlan) -> Iterator[str]:
    """Each gold is scored as if it were the answer: a scorer error then is the gold's fault."""
    having = [item for item in plan.items if item.gold is not None]
    for name, scorer in config.scorers.items():
        if not scorer.needs_gold:
            continue
        built = scorers.build(name, scorer.kind, scorer.options())
        notes = asyncio.run(_scorer_errors(built, having))
        if notes:
            yield f"{name} cannot use the gold of {count(len(notes), 'item')}: {notes[0]}"


async def _scorer_errors(scorer: Scorer, items: Sequence[Item]) -> list[str]:
    verdicts = [await scorer.score(item, Completion(item.gold or "")) for item in items]
    return [verdict.note for verdict in verdicts if verdict.status is Status.SCORER_ERROR]
