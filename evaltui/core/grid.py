"""The verdict grid: every cell of a study as arrays, updated in place as verdicts arrive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaltui.core.delta import CellBatch
from evaltui.core.errors import StoreError
from evaltui.core.status import PENDING_CODE, STATUS_CODES
from evaltui.core.study import Design

_N_CODES = len(STATUS_CODES) + 1
_FIRST_LOOK = 64


class Grid:
    """Cells by arm, position and repeat; arrays have shape (arms, items, repeats), repeat r in column r - 1.

    ``status`` holds ``STATUS_CODES`` (0: pending), ``score`` is NaN where there is none, ``label`` indexes ``labels``
    (-1: none), ``text`` is the store's key of the answer (-1: none), ``latency`` is in seconds (NaN: none),
    ``finished`` in seconds since the epoch (NaN: none). The arrays are the grid's own: read them, do not write.

    A cell is what its highest revision says, whatever the order in which the revisions arrive; a row that arrives
    again changes nothing.
    """

    def __init__(self, design: Design) -> None:
        self.n_arms = len(design.arms)
        self.n_items = design.n_items
        self.repeats = design.repeats
        shape = (self.n_arms, self.n_items, self.repeats)
        self.status: NDArray[np.uint8] = np.zeros(shape, dtype=np.uint8)
        self.score: NDArray[np.float64] = np.full(shape, np.nan)
        self.label: NDArray[np.int32] = np.full(shape, -1, dtype=np.int32)
        self.text: NDArray[np.int64] = np.full(shape, -1, dtype=np.int64)
        self.attempts: NDArray[np.int16] = np.zeros(shape, dtype=np.int16)
        self.latency: NDArray[np.float32] = np.full(shape, np.nan, dtype=np.float32)
        self.finished: NDArray[np.float64] = np.full(shape, np.nan)
        self.revision: NDArray[np.int16] = np.full(shape, -1, dtype=np.int16)
        self.labels: list[str] = []
        self._label_codes: dict[str, int] = {}
        self._counts: NDArray[np.int64] = np.zeros((self.n_arms, self.repeats, _N_CODES), dtype=np.int64)
        self._prefix: NDArray[np.int64] = np.zeros((self.n_arms, self.repeats), dtype=np.int64)

    def apply(self, batch: CellBatch) -> None:
        """Take in a batch; all work is on whole columns. Raises StoreError for a cell that the design does not have."""
        if len(batch) == 0:
            return
        arm, position, repeat = batch.arm.astype(np.intp), batch.position.astype(np.intp), batch.repeat.astype(np.intp)
        self._check(arm, position, repeat)
        flat = np.ravel_multi_index((arm, position, repeat - 1), self.status.shape)
        rows = self._current_rows(flat, batch.revision)
        if len(rows) == 0:
            return
        flat = flat[rows]
        run = arm[rows] * self.repeats + repeat[rows] - 1
        self._recount(run, self.status.ravel()[flat], batch.status[rows])
        labels = self._intern(batch.label)
        for held, column in (
            (self.status, batch.status),
            (self.score, batch.score),
            (self.label, labels),
            (self.text, batch.text),
            (self.attempts, batch.attempts),
            (self.latency, batch.latency),
            (self.finished, batch.finished),
            (self.revision, batch.revision),
        ):
            held.ravel()[flat] = column[rows]
        for touched in np.unique(run):
            self._advance(*divmod(int(touched), self.repeats))

    def grow(self, repeats: int) -> None:
        """Make room for ``repeats`` repeats an arm; fewer than there are change nothing."""
        extra = repeats - self.repeats
        if extra <= 0:
            return
        last = ((0, 0), (0, 0), (0, extra))
        self.status = np.pad(self.status, last)
        self.score = np.pad(self.score, last, constant_values=np.nan)
        self.label = np.pad(self.label, last, constant_values=-1)
        self.text = np.pad(self.text, last, constant_values=-1)
        self.attempts = np.pad(self.attempts, last)
        self.latency = np.pad(self.latency, last, constant_values=np.nan)
        self.finished = np.pad(self.finished, last, constant_values=np.nan)
        self.revision = np.pad(self.revision, last, constant_values=-1)
        self._counts = np.pad(self._counts, ((0, 0), (0, extra), (0, 0)))
        self._prefix = np.pad(self._prefix, ((0, 0), (0, extra)))
        self.repeats = repeats

    def counts(self, arm: int, repeat: int) -> NDArray[np.int64]:
        """Terminal cells of one run by status code."""
        by_code: NDArray[np.int64] = self._counts[arm, repeat - 1].copy()
        return by_code

    def done(self, arm: int, repeat: int) -> int:
        """How many cells of one run are terminal."""
        return int(self._counts[arm, repeat - 1].sum())

    def complete(self, arm: int) -> NDArray[np.bool_]:
        """Which repeats of an arm have a terminal cell for every item; shape (repeats,)."""
        finished: NDArray[np.bool_] = self._counts[arm].sum(axis=1) == self.n_items
        return finished

    def prefix(self, arm: int) -> NDArray[np.int64]:
        """Per repeat, the length of the longest prefix of the order whose cells are terminal in this arm."""
        own: NDArray[np.int64] = self._prefix[arm].copy()
        return own

    def frontier(self, a: int, b: int) -> NDArray[np.int64]:
        """F_r of two arms: per repeat, the longest prefix terminal in both. It is the shorter of their own."""
        shorter: NDArray[np.int64] = np.minimum(self._prefix[a], self._prefix[b])
        return shorter

    def counted(self, a: int, b: int) -> NDArray[np.bool_]:
        """Which cells of two arms count: position below F_r; shape (items, repeats)."""
        return np.arange(self.n_items)[:, None] < self.frontier(a, b)[None, :]

    def _check(self, arm: NDArray[np.intp], position: NDArray[np.intp], repeat: NDArray[np.intp]) -> None:
        for name, column, first, end in (
            ("arm", arm, 0, self.n_arms),
            ("item", position, 0, self.n_items),
            ("repeat", repeat, 1, self.repeats + 1),
        ):
            outside = (column < first) | (column >= end)
            if outside.any():
                raise StoreError(
                    f"a stored verdict names {name} {column[outside][0]}, the study has {name}s {first} to {end - 1}: "
                    "the database does not fit its own design; export what is readable and start a new study"
                )

    def _current_rows(self, flat: NDArray[np.intp], revision: NDArray[np.int16]) -> NDArray[np.intp]:
        """Rows that replace what the grid holds: per cell the first row of the highest revision, if it is news."""
        order = np.lexsort((-np.arange(len(flat)), revision, flat))
        last_of_cell = np.append(np.diff(flat[order]) != 0, True)
        rows: NDArray[np.intp] = order[last_of_cell]
        news: NDArray[np.intp] = rows[revision[rows] > self.revision.ravel()[flat[rows]]]
        return news

    def _recount(self, run: NDArray[np.intp], before: NDArray[np.uint8], after: NDArray[np.uint8]) -> None:
        size = self._counts.size
        change = np.bincount(run * _N_CODES + after, minlength=size) - np.bincount(
            run * _N_CODES + before, minlength=size
        )
        self._counts += change.reshape(self._counts.shape)
        self._counts[:, :, PENDING_CODE] = 0

    def _intern(self, labels: list[str | None]) -> NDArray[np.int32]:
        known = self._label_codes
        for label in labels:
            if label is not None and label not in known:
                folded = fold(label)
                if folded not in known:
                    known[folded] = len(self.labels)
                    self.labels.append(folded)
                known[label] = known[folded]
        return np.fromiter((-1 if label is None else known[label] for label in labels), dtype=np.int32)

    def _advance(self, arm: int, column: int) -> None:
        """Move a run's prefix over its new terminal cells, looking in doubling steps: the cost is that of the news."""
        place, look = int(self._prefix[arm, column]), _FIRST_LOOK
        while place < self.n_items:
            seen = self.status[arm, place : place + look, column]
            pending = seen == PENDING_CODE
            if pending.any():
                place += int(pending.argmax())
                break
            place += len(seen)
            look *= 2
        self._prefix[arm, column] = place


def fold(label: str) -> str:
    """A label as flips compare it: white space and case folded."""
    return " ".join(label.split()).casefold()
