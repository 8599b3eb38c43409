"""A study as it stands in memory: what the screen keeps while it follows, and what a report reads once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaltui.core.delta import NO_WARMUP, CellBatch, Delta
from evaltui.core.grid import Grid
from evaltui.core.records import Item
from evaltui.core.score import contributions
from evaltui.core.status import PENDING_CODE
from evaltui.core.study import StudyInfo
from evaltui.core.tally import Tally
from evaltui.report.arms import Scoring
from evaltui.report.build import assemble, scoring_of
from evaltui.report.live_arm import LiveArm
from evaltui.report.live_comparison import LiveComparison
from evaltui.report.pace import LivePace
from evaltui.report.summary import Summary


class Live:
    """Grid, tally and state of one study, moved on by deltas. Not safe for two threads at once.

    Its summary is a function of the cells and calls, not of the order in which they came. It is made from sums that are
    kept, so that a look costs what is new and not what is there.
    """

    def __init__(self, info: StudyInfo, items: Sequence[Item]) -> None:
        """``items`` in the study's random order. Raises ValueError unless there is one for each position."""
        if len(items) != info.design.n_items:
            raise ValueError(f"there must be one item per position: {len(items)} for {info.design.n_items} items")
        self.info = info
        self.items = tuple(items)
        self.grid = Grid(info.design)
        self.tally = Tally(info.design)
        self.warmup = NO_WARMUP
        self._item_ids = [item.id for item in items]
        self._categories = [item.category for item in items]
        clusters = [item.cluster for item in items]
        self._clusters = clusters if any(cluster is not None for cluster in clusters) else None
        self._begin()

    def apply(self, delta: Delta) -> None:
        """Take in one poll's news. Repeats added to the study make room for themselves."""
        self.info = delta.info
        self.tally.grow(delta.info.design.repeats)
        self.tally.apply(delta.attempts)
        self.warmup += delta.warmup
        before = self._kept_for
        self.grid.grow(delta.info.design.repeats)
        if self._what_is_kept() != before:
            self.grid.apply(delta.cells)
            self._begin()
        else:
            self._take(delta.cells)

    def summary(self, now: float) -> Summary:
        """Every number of the report, as of what has been applied; ``now`` in seconds since the epoch."""
        return assemble(
            self.info,
            self.grid,
            self.tally,
            [arm.numbers() for arm in self._arms],
            pairs=lambda other, runs: self._comparisons[other].numbers(runs),
            categories=lambda other: self._comparisons[other].by_category(),
            time_left=lambda remaining: self._pace.time_left(remaining, now),
            item_ids=self._item_ids,
            clustered=self._clusters is not None,
            warmup=self.warmup,
        )

    def _what_is_kept(self) -> tuple[Scoring, int, int, bool]:
        """What the sums depend on besides the cells; they are begun anew when it changes."""
        design = self.info.design
        first = design.arm_names.index(design.baseline)
        return scoring_of(design), self.grid.repeats, first, design.schedule == "interleaved"

    def _begin(self) -> None:
        """Sum up the whole grid."""
        self._kept_for = self._what_is_kept()
        scoring, repeats, first, interleaved = self._kept_for
        grid = self.grid
        self._arms = [LiveArm(arm, grid, scoring) for arm in range(grid.n_arms)]
        self._comparisons = {
            arm: LiveComparison(
                grid.n_items,
                repeats,
                interleaved=interleaved,
                categories=self._categories,
                clusters=self._clusters,
            )
            for arm in range(grid.n_arms)
            if arm != first
        }
        self._pace = LivePace(grid.finished)
        flat = np.flatnonzero(grid.status != PENDING_CODE)
        self._sum_up(flat, np.zeros(len(flat), dtype=np.bool_))

    def _take(self, cells: CellBatch) -> None:
        if not len(cells):
            return
        shape = self.grid.status.shape
        place = (cells.arm.astype(np.intp), cells.position.astype(np.intp), cells.repeat.astype(np.intp) - 1)
        inside = np.logical_and.reduce([(axis >= 0) & (axis < end) for axis, end in zip(place, shape, strict=True)])
        flat = np.unique(np.ravel_multi_index([axis[inside] for axis in place], shape))
        revised = self.grid.status.ravel()[flat] != PENDING_CODE
        held = self.grid.finished.ravel()[flat]
        self.grid.apply(cells)
        self._pace.update(self.grid.finished, flat, held)
        self._sum_up(flat, revised)

    def _sum_up(self, flat: NDArray[np.intp], revised: NDArray[np.bool_]) -> None:
        """Put cells, each named once, into every sum; ``revised`` ones are there already."""
        if not len(flat):
            return
        scoring, _, first, _ = self._kept_for
        grid = self.grid
        arm, position, column = np.unravel_index(flat, grid.status.shape)
        added = contributions(grid.status.ravel()[flat], grid.score.ravel()[flat], scoring.policy, scoring.score_range)
        for index, live in enumerate(self._arms):
            own = arm == index
            if own.any():
                live.update(position[own], column[own], revised[own])
        for other, comparison in self._comparisons.items():
            both = (arm == first) | (arm == other)
            side = (arm[both] == other).astype(np.intp)
            comparison.update(side, position[both], column[both] + 1, added[both])
