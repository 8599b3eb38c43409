"""What is new in a study since the last look, as columns, so that applying it costs no work per row in Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evaltui.core.records import Event
from evaltui.core.study import StudyInfo


@dataclass(frozen=True, slots=True)
class CellBatch:
    """Terminal outcomes of the primary scorer, in the order they were stored; every column has shape (n,).

    ``arm`` indexes ``Design.arms``; ``repeat`` counts from 1; ``status`` holds ``STATUS_CODES``; ``score`` is NaN
    where there is none; ``text`` is the store's key of the answer, -1 where there is none; ``latency`` (s) is that of
    the last attempt; ``finished`` is seconds since the epoch.
    """

    arm: NDArray[np.int16]
    repeat: NDArray[np.int16]
    position: NDArray[np.int32]
    revision: NDArray[np.int16]
    status: NDArray[np.uint8]
    score: NDArray[np.float64]
    label: list[str | None]
    text: NDArray[np.int64]
    attempts: NDArray[np.int16]
    latency: NDArray[np.float32]
    finished: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.status)


@dataclass(frozen=True, slots=True)
class AttemptBatch:
    """Calls as they happened; every column has shape (n,). Token counts are 0 where the server named none.

    ``request`` tells what was sent apart from the seed: the first 8 bytes of its hash, 0 where it is not known.
    ``in_flight`` counts the calls that the endpoint was answering then, this one included; 0 where it is not known.
    """

    arm: NDArray[np.int16]
    repeat: NDArray[np.int16]
    position: NDArray[np.int32]
    status: NDArray[np.uint8]
    number: NDArray[np.int16]
    started: NDArray[np.float64]
    latency: NDArray[np.float32]
    wait: NDArray[np.float32]
    queue_wait: NDArray[np.float32]
    prompt_tokens: NDArray[np.int64]
    completion_tokens: NDArray[np.int64]
    cached_tokens: NDArray[np.int64]
    cost: NDArray[np.float64]
    request: NDArray[np.int64]
    in_flight: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.status)


@dataclass(frozen=True, slots=True)
class Warmup:
    """What warm-up runs took. Their cells and calls are in no batch, so that no number sees them; the bill does."""

    cells: int = 0
    requests: int = 0
    cost: float = 0.0

    def __add__(self, other: Warmup) -> Warmup:
        return Warmup(self.cells + other.cells, self.requests + other.requests, self.cost + other.cost)


NO_WARMUP: Final = Warmup()


@dataclass(frozen=True, slots=True)
class Delta:
    """One poll's news. ``info`` is the study as it stands; batches may be empty."""

    info: StudyInfo
    cells: CellBatch
    attempts: AttemptBatch
    events: tuple[Event, ...] = field(default=())
    warmup: Warmup = NO_WARMUP
