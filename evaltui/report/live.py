"""A study as it stands in memory: what the screen keeps while it follows, and what a report reads once."""

from __future__ import annotations

from collections.abc import Sequence

from evaltui.core.delta import Delta
from evaltui.core.grid import Grid
from evaltui.core.records import Item
from evaltui.core.study import StudyInfo
from evaltui.core.tally import Tally
from evaltui.report.build import summarise
from evaltui.report.summary import Summary


class Live:
    """Grid, tally and state of one study, moved on by deltas. Not safe for two threads at once."""

    def __init__(self, info: StudyInfo, items: Sequence[Item]) -> None:
        """``items`` in the study's random order, one for each position."""
        self.info = info
        self.items = tuple(items)
        self.grid = Grid(info.design)
        self.tally = Tally(info.design)

    def apply(self, delta: Delta) -> None:
        """Take in one poll's news. Repeats added to the study make room for themselves."""
        self.info = delta.info
        self.grid.grow(delta.info.design.repeats)
        self.tally.grow(delta.info.design.repeats)
        self.grid.apply(delta.cells)
        self.tally.apply(delta.attempts)

    def summary(self, now: float) -> Summary:
        """Every number of the report, as of what has been applied; ``now`` in seconds since the epoch."""
        return summarise(
            self.info,
            self.grid,
            self.tally,
            categories=[item.category for item in self.items],
            clusters=[item.cluster for item in self.items],
            item_ids=[item.id for item in self.items],
            now=now,
        )
