"""Counters over attempts, per run: what the calls cost and how they went, apart from what they answered."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaltui.core.delta import AttemptBatch
from evaltui.core.score import status_counts
from evaltui.core.status import STATUS_CODES
from evaltui.core.study import Design

_N_CODES = len(STATUS_CODES) + 1
_MICRO = 1e6
_NANO = 1e9
_BOUNDS = np.iinfo(np.int64)


class Tally:
    """Sums over every call of each (arm, repeat). Every attempt is to be applied once.

    Money is summed in integer billionths and waits in microseconds, so that no sum depends on the order
    or the batches in which the attempts arrived.
    """

    def __init__(self, design: Design) -> None:
        self.n_arms = len(design.arms)
        self.repeats = design.repeats
        runs = (self.n_arms, self.repeats)
        self._attempts: NDArray[np.int64] = np.zeros((*runs, _N_CODES), dtype=np.int64)
        self._tokens: NDArray[np.int64] = np.zeros((*runs, 3), dtype=np.int64)
        self._cost: NDArray[np.int64] = np.zeros(runs, dtype=np.int64)
        self._queue_wait: NDArray[np.int64] = np.zeros(runs, dtype=np.int64)
        self._started: NDArray[np.float64] = np.full(runs, np.inf)
        self._in_flight: NDArray[np.int64] = np.zeros((*runs, 2), dtype=np.int64)
        self._lowest: NDArray[np.int64] = np.full((self.n_arms, design.n_items), _BOUNDS.max)
        self._highest: NDArray[np.int64] = np.full((self.n_arms, design.n_items), _BOUNDS.min)

    def apply(self, batch: AttemptBatch) -> None:
        """Add a batch of attempts; all work is on whole columns."""
        if len(batch) == 0:
            return
        self.grow(int(batch.repeat.max()))
        at = (batch.arm.astype(np.intp), batch.repeat.astype(np.intp) - 1)
        np.add.at(self._attempts, (*at, batch.status.astype(np.intp)), 1)
        for kind, column in enumerate((batch.prompt_tokens, batch.completion_tokens, batch.cached_tokens)):
            np.add.at(self._tokens[..., kind], at, column)
        np.add.at(self._cost, at, _whole(batch.cost, _NANO))
        np.add.at(self._queue_wait, at, _whole(batch.queue_wait, _MICRO))
        np.minimum.at(self._started, at, batch.started)
        np.add.at(self._in_flight[..., 0], at, batch.in_flight)
        np.add.at(self._in_flight[..., 1], at, batch.in_flight > 0)
        self._compare_requests(batch)

    def _compare_requests(self, batch: AttemptBatch) -> None:
        """Keep the lowest and the highest of each item's requests: as long as they are equal, all of them are."""
        known = batch.request != 0
        at = (batch.arm[known].astype(np.intp), batch.position[known].astype(np.intp))
        np.minimum.at(self._lowest, at, batch.request[known])
        np.maximum.at(self._highest, at, batch.request[known])

    def grow(self, repeats: int) -> None:
        """Make room for ``repeats`` repeats an arm; fewer than there are change nothing."""
        extra = repeats - self.repeats
        if extra <= 0:
            return
        runs = ((0, 0), (0, extra))
        self._attempts = np.pad(self._attempts, (*runs, (0, 0)))
        self._tokens = np.pad(self._tokens, (*runs, (0, 0)))
        self._in_flight = np.pad(self._in_flight, (*runs, (0, 0)))
        self._cost = np.pad(self._cost, runs)
        self._queue_wait = np.pad(self._queue_wait, runs)
        self._started = np.pad(self._started, runs, constant_values=np.inf)
        self.repeats = repeats

    @property
    def requests(self) -> int:
        """Calls made in all."""
        return int(self._attempts.sum())

    @property
    def total_cost(self) -> float:
        """What all calls cost, in the currency of the prices."""
        return int(self._cost.sum()) / _NANO

    def attempts(self, arm: int, repeat: int) -> dict[str, int]:
        """Calls of one run by their status."""
        return status_counts(self._attempts[arm, repeat - 1])

    def calls(self, arm: int, repeat: int) -> int:
        """Calls of one run, however they ended."""
        return int(self._attempts[arm, repeat - 1].sum())

    def prompt_tokens(self, arm: int, repeat: int) -> int:
        return int(self._tokens[arm, repeat - 1, 0])

    def completion_tokens(self, arm: int, repeat: int) -> int:
        return int(self._tokens[arm, repeat - 1, 1])

    def cached_tokens(self, arm: int, repeat: int) -> int:
        """Those of the prompt tokens that the server took from its cache."""
        return int(self._tokens[arm, repeat - 1, 2])

    def cost(self, arm: int, repeat: int) -> float:
        """What the calls of one run cost, in the currency of the prices."""
        return int(self._cost[arm, repeat - 1]) / _NANO

    def queue_wait(self, arm: int, repeat: int) -> float | None:
        """Mean seconds from planned start to first byte sent, over the calls of one run; None before the first."""
        calls = self.calls(arm, repeat)
        return int(self._queue_wait[arm, repeat - 1]) / _MICRO / calls if calls else None

    def in_flight(self, arm: int, repeat: int) -> float | None:
        """Mean calls in flight on the endpoint when one of this run was sent; None where no call tells."""
        total, calls = self._in_flight[arm, repeat - 1].tolist()
        return total / calls if calls else None

    def requests_differ(self, arm: int) -> int:
        """How many items of an arm were not asked with one and the same request in all calls, the seed aside."""
        return int(np.count_nonzero(self._lowest[arm] < self._highest[arm]))

    def started(self, arm: int, repeat: int) -> float | None:
        """When the first call of one run began, in seconds since the epoch; None before that."""
        first = float(self._started[arm, repeat - 1])
        return first if np.isfinite(first) else None


def _whole(values: NDArray[np.float32] | NDArray[np.float64], units: float) -> NDArray[np.int64]:
    return np.rint(values.astype(np.float64) * units).astype(np.int64)
