"""What the heatmap draws, as arrays: a shade per cell, a flip rate and the last change per item, and orders of rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evaltui.core.grid import Grid
from evaltui.core.score import scored
from evaltui.core.status import OK_CODE, PENDING_CODE

PENDING: Final = 0
PASS: Final = 1
PARTIAL: Final = 3
FAIL: Final = 5
FLIPPED: Final = 1
"""Added to PASS, PARTIAL or FAIL where a verdict is not the usual one of its item in its arm."""
FAILS_OTHERWISE: Final = 8
"""A verdict that fails like the usual one of its item, with another label: a flip that no change of score shows."""
WITHOUT_SCORE: Final = 10
"""Added to the status code of a cell that ended without a score."""

_BLOCK = 2048


class Order(StrEnum):
    """How the rows are sorted; the values are what the screen says."""

    FLIP = "flip rate"
    PLANNED = "planned order"
    CATEGORY = "category"
    CHANGE = "last change"

    @property
    def next(self) -> Order:
        every = list(Order)
        return every[(every.index(self) + 1) % len(every)]


@dataclass(frozen=True, slots=True)
class HeatFrame:
    """A picture of the grid that nobody changes any more.

    ``shade`` (items, runs) holds the codes above, runs arm by arm; ``flip`` (items,) is the pairwise disagreement of
    an item's verdicts within its arms, NaN below two verdicts; ``change`` (items,) is when a verdict last differed
    from the one before it in its arm (s since the epoch), 0 for never; ``category`` (items,) ranks the names.
    """

    shade: NDArray[np.uint8]
    flip: NDArray[np.float64]
    change: NDArray[np.float64]
    category: NDArray[np.int32]

    @property
    def n_items(self) -> int:
        return len(self.flip)


def ordered(frame: HeatFrame, order: Order) -> NDArray[np.intp]:
    """Positions in the order of the rows; ties stand in planned order."""
    place = np.arange(frame.n_items)
    falling = -np.nan_to_num(frame.flip, nan=-1.0)
    if order is Order.PLANNED:
        return place
    if order is Order.FLIP:
        return np.lexsort((place, falling))
    if order is Order.CATEGORY:
        return np.lexsort((place, falling, frame.category))
    return np.lexsort((place, -frame.change))


class Heat:
    """Keeps the frame's arrays up to date; the work is that of the items touched."""

    def __init__(self, categories: list[str | None], score_range: tuple[float, float] | None) -> None:
        names = sorted({name for name in categories if name is not None})
        rank = {name: place for place, name in enumerate(names)}
        last = len(names)
        self._category = np.array([last if name is None else rank[name] for name in categories], dtype=np.int32)
        self._range = score_range
        n = len(categories)
        self._shade = np.zeros((n, 0), dtype=np.uint8)
        self._flip = np.full(n, np.nan)
        self._change = np.zeros(n)

    def update(self, grid: Grid, positions: NDArray[np.int32]) -> None:
        """Look again at the items at these positions; at all of them when repeats were added."""
        runs = grid.n_arms * grid.repeats
        if self._shade.shape[1] != runs:
            self._shade = np.zeros((len(self._flip), runs), dtype=np.uint8)
            positions = np.arange(len(self._flip), dtype=np.int32)
        touched = np.unique(positions)
        for start in range(0, len(touched), _BLOCK):
            rows = touched[start : start + _BLOCK]
            self._look(grid, rows)

    def frame(self) -> HeatFrame:
        """The picture as it stands, as copies."""
        return HeatFrame(self._shade.copy(), self._flip.copy(), self._change.copy(), self._category)

    def _look(self, grid: Grid, rows: NDArray[np.int32]) -> None:
        status, score, label = grid.status[:, rows], grid.score[:, rows], grid.label[:, rows]
        carries = scored(status, score) & (label >= 0)
        same = (label[..., :, None] == label[..., None, :]) & carries[..., :, None] & carries[..., None, :]
        agree = same.sum(axis=-1)
        commonest = agree.argmax(axis=-1)[..., None]
        flipped = carries & (label != np.take_along_axis(label, commonest, axis=-1))
        verdict = _shades(status, score, self._range)
        otherwise = flipped & (verdict == FAIL) & (np.take_along_axis(verdict, commonest, axis=-1) == FAIL)
        shade = np.where(otherwise, np.uint8(FAILS_OTHERWISE), verdict + FLIPPED * flipped)
        self._shade[rows] = shade.transpose(1, 0, 2).reshape(len(rows), -1)
        self._flip[rows] = _flip_rate(np.where(carries, label, -1))
        self._change[rows] = _last_change(grid.finished[:, rows], label, carries)


def _flip_rate(label: NDArray[np.int32]) -> NDArray[np.float64]:
    """Pairwise disagreement over all pairs of runs of the same arm; label of shape (arms, items, runs), -1: none."""
    from evaltui.stats.flips import item_flips

    arms = [item_flips(of_arm) for of_arm in label]
    pairs = np.array([arm.verdicts * (arm.verdicts - 1) for arm in arms], dtype=np.float64)
    differing = np.array([np.nan_to_num(arm.pairwise) for arm in arms]) * pairs
    total = pairs.sum(axis=0)
    rate: NDArray[np.float64] = np.full(len(total), np.nan)
    np.divide(differing.sum(axis=0), total, out=rate, where=total > 0)
    return rate


def _shades(
    status: NDArray[np.uint8], score: NDArray[np.float64], score_range: tuple[float, float] | None
) -> NDArray[np.uint8]:
    low, high = score_range if score_range is not None else (0.0, 1.0)
    verdict = np.full(status.shape, PARTIAL, dtype=np.uint8)
    with np.errstate(invalid="ignore"):
        verdict[score >= high] = PASS
        verdict[score <= low] = FAIL
    failed = (status + np.uint8(WITHOUT_SCORE)).astype(np.uint8)
    shade = np.where(status == OK_CODE, verdict, failed)
    return np.where(status == PENDING_CODE, np.uint8(PENDING), shade).astype(np.uint8)


def _last_change(
    finished: NDArray[np.float64], label: NDArray[np.int32], carries: NDArray[np.bool_]
) -> NDArray[np.float64]:
    when = np.where(carries, finished, np.inf)
    by_time = np.argsort(when, axis=-1, kind="stable")
    when = np.take_along_axis(when, by_time, axis=-1)
    label = np.take_along_axis(label, by_time, axis=-1)
    changed = np.isfinite(when[..., 1:]) & (label[..., 1:] != label[..., :-1])
    latest: NDArray[np.float64] = np.where(changed, when[..., 1:], 0.0).max(axis=-1, initial=0.0).max(axis=0)
    return latest
