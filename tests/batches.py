"""Designs and column batches made by hand, for tests of what is computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaltui.core.delta import AttemptBatch, CellBatch
from evaltui.core.status import STATUS_CODES, Status, StudyState
from evaltui.core.study import ArmDesign, Design, MissingPolicy, ScorerDesign, StudyInfo


def make_design(
    n_items: int,
    repeats: int,
    *,
    arms: Sequence[str] = ("baseline", "candidate"),
    schedule: str = "interleaved",
    missing: MissingPolicy | None = None,
    score_range: tuple[float, float] | None = (0.0, 1.0),
) -> Design:
    return Design(
        name="by-hand",
        arms=tuple(ArmDesign(name, {"model": "m", "temperature": 0.5}, f"hash-{name}") for name in arms),
        scorers=(ScorerDesign("exact", "exact", "1", True, score_range),),
        repeats=repeats,
        n_items=n_items,
        order_seed=7,
        schedule=schedule,
        concurrency=4,
        baseline=arms[0],
        pin_hash="hash",
        missing=missing or MissingPolicy(),
    )


def make_info(design: Design, state: StudyState = StudyState.FINISHED) -> StudyInfo:
    return StudyInfo(id="01abc", design=design, state=state, reason="", created=1_700_000_000.0)


@dataclass(frozen=True)
class Row:
    """One terminal cell; ``text`` is the store's key of the answer."""

    arm: int
    repeat: int
    position: int
    score: float | None
    status: Status = Status.OK
    label: str | None = None
    text: int = -1
    revision: int = 0
    attempts: int = 1
    latency: float = 0.5
    finished: float = 1_700_000_100.0


def cell_batch(rows: Iterable[Row]) -> CellBatch:
    rows = list(rows)
    return CellBatch(
        arm=np.array([row.arm for row in rows], dtype=np.int16),
        repeat=np.array([row.repeat for row in rows], dtype=np.int16),
        position=np.array([row.position for row in rows], dtype=np.int32),
        revision=np.array([row.revision for row in rows], dtype=np.int16),
        status=np.array([STATUS_CODES[row.status] for row in rows], dtype=np.uint8),
        score=np.array([np.nan if row.score is None else row.score for row in rows], dtype=np.float64),
        label=[row.label for row in rows],
        text=np.array([row.text for row in rows], dtype=np.int64),
        attempts=np.array([row.attempts for row in rows], dtype=np.int16),
        latency=np.array([row.latency for row in rows], dtype=np.float32),
        finished=np.array([row.finished for row in rows], dtype=np.float64),
    )


@dataclass(frozen=True)
class Call:
    """One attempt."""

    arm: int
    repeat: int
    number: int = 1
    status: Status = Status.OK
    started: float = 1_700_000_000.0
    queue_wait: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    position: int = 0
    request: int = 0
    in_flight: int = 0


def attempt_batch(calls: Iterable[Call]) -> AttemptBatch:
    calls = list(calls)
    return AttemptBatch(
        arm=np.array([call.arm for call in calls], dtype=np.int16),
        repeat=np.array([call.repeat for call in calls], dtype=np.int16),
        position=np.array([call.position for call in calls], dtype=np.int32),
        status=np.array([STATUS_CODES[call.status] for call in calls], dtype=np.uint8),
        number=np.array([call.number for call in calls], dtype=np.int16),
        started=np.array([call.started for call in calls], dtype=np.float64),
        latency=np.full(len(calls), 0.5, dtype=np.float32),
        wait=np.zeros(len(calls), dtype=np.float32),
        queue_wait=np.array([call.queue_wait for call in calls], dtype=np.float32),
        prompt_tokens=np.array([call.prompt_tokens for call in calls], dtype=np.int64),
        completion_tokens=np.array([call.completion_tokens for call in calls], dtype=np.int64),
        cached_tokens=np.array([call.cached_tokens for call in calls], dtype=np.int64),
        cost=np.array([call.cost for call in calls], dtype=np.float64),
        request=np.array([call.request for call in calls], dtype=np.int64),
        in_flight=np.array([call.in_flight for call in calls], dtype=np.int64),
    )
