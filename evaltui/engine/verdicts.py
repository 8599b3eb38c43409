"""From how a cell ended to one verdict per scorer: the edge behind which a scorer may not break a study."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evaltui.core.protocols import Scorer
from evaltui.core.records import Completion, Failure, Item, Verdict
from evaltui.core.status import Status
from evaltui.engine.cancellation import was_cancelled

NOTE_LENGTH = 500


async def score_all(scorers: Sequence[Scorer], item: Item, outcome: Completion | Failure) -> tuple[Verdict, ...]:
    """Verdicts in the order of ``scorers``. Without a completion each has the failure's status, and no score."""
    if isinstance(outcome, Failure):
        return tuple(Verdict(scorer.name, outcome.status, note=outcome.message) for scorer in scorers)
    return tuple([await _score(scorer, item, outcome) for scorer in scorers])


async def _score(scorer: Scorer, item: Item, completion: Completion) -> Verdict:
    try:
        return await scorer.score(item, completion)
    except asyncio.CancelledError as error:
        if was_cancelled():
            raise
        return Verdict(
            scorer.name, Status.SCORER_ERROR, note=f"the scorer was cancelled by its own code {error}".strip()
        )
    except Exception as error:
        note = f"{type(error).__name__}: {error}"[:NOTE_LENGTH]
        return Verdict(scorer.name, Status.SCORER_ERROR, note=note)
