"""Two arms while their cells come in: what their counted cells say, at the cost of what is new.

The running pass of the sequence and, where items come in clusters, the intervals still look at every item; they are
made anew only after a counted cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaltui.report.comparisons import (
    LEVEL,
    Clusters,
    PairNumbers,
    cluster_categories,
    clustered,
    over_runs,
    told_categories,
    unwatched,
)
from evaltui.report.summary import CategorySummary, RunSummary
from evaltui.stats import intervals
from evaltui.stats.cross_check import CrossCheck
from evaltui.stats.forecast import Forecast
from evaltui.stats.interval import Interval
from evaltui.stats.live import LivePair, tell
from evaltui.stats.sequence import confidence_sequence, joined_passes, pass_difference


class LiveComparison:
    """The baseline (arm 0 of ``pair``) and another arm (arm 1), fed with their contributions."""

    def __init__(
        self,
        n_items: int,
        repeats: int,
        *,
        interleaved: bool,
        categories: Sequence[str | None],
        clusters: Clusters | None,
    ) -> None:
        self.pair = LivePair(n_items, repeats)
        self._interleaved = interleaved
        self._categories = categories
        self._clusters = clusters
        self._held: NDArray[np.float64] = np.full(n_items, np.nan)
        names = sorted({name for name in categories if name is not None})
        self._names = names
        codes = {name: code for code, name in enumerate(names)}
        self._code = np.array([-1 if name is None else codes[name] for name in categories], dtype=np.int64)
        self._histograms: list[dict[float, int]] = [{} for _ in names]
        self._watched: tuple[tuple[bytes, int], tuple[Interval, Forecast]] | None = None
        self._in_clusters: tuple[tuple[bytes, int], tuple[Interval, CrossCheck]] | None = None
        self._passes: dict[int, tuple[tuple[int, int], Interval]] = {}

    def update(
        self,
        arm: NDArray[np.intp],
        position: NDArray[np.intp],
        repeat: NDArray[np.intp],
        contribution: NDArray[np.float64],
    ) -> None:
        """Take in terminal cells, as ``LivePair.update`` does."""
        rows = self.pair.update(arm, position, repeat, contribution)
        before, after, code = self._held[rows], self.pair.difference[rows], self._code[rows]
        for values, times in ((before, -1), (after, 1)):
            known = ~np.isnan(values) & (code >= 0)
            for each in np.unique(code[known]).tolist():
                tell(self._histograms[each], values[known & (code == each)], times)
        self._held[rows] = after

    def numbers(self, runs: tuple[Sequence[RunSummary], Sequence[RunSummary]]) -> PairNumbers:
        """The numbers of the pair as it stands; ``runs`` are those of both arms."""
        pair = self.pair
        run, complete = over_runs(pair.run_means, runs, self._interleaved)
        sequence, chance = self._watch()
        item, check = self._item()
        return PairNumbers(
            item=item,
            check=check,
            run=run,
            complete=complete,
            fixed=pair.fixed_items_interval(level=LEVEL),
            sequence=sequence,
            forecast=chance,
            means=pair.means,
            n_items=pair.paired,
            n_in_flight=pair.n_in_flight,
            n_left_out=pair.n_left_out,
            gained=pair.gained,
            lost=pair.lost,
            repeats=pair.repeats_compared,
        )

    def by_category(self) -> list[CategorySummary]:
        """The difference within each category, with a t interval of its own, by name; unnamed items are left out."""
        pair = self.pair
        if self._clusters is not None:
            return cluster_categories(pair.difference, self._categories, self._clusters)
        found, sizes = {}, {}
        for name, histogram in zip(self._names, self._histograms, strict=True):
            if histogram:
                counts = np.fromiter(histogram.values(), dtype=np.int64)
                found[name] = intervals.histogram_t(np.fromiter(histogram, dtype=np.float64), counts, level=LEVEL)
                sizes[name] = int(counts.sum())
        return told_categories(found, sizes)

    def _item(self) -> tuple[Interval, CrossCheck | None]:
        """The item interval, and its cross-check where items come in clusters: both are made of all items anew."""
        if self._clusters is None:
            return self.pair.item_interval(level=LEVEL), None
        state = (self.pair.frontier.tobytes(), self.pair.revisions)
        if self._in_clusters is None or self._in_clusters[0] != state:
            self._in_clusters = (state, clustered(self.pair.difference, self._clusters))
        return self._in_clusters[1]

    def _watch(self) -> tuple[Interval, Forecast]:
        pair = self.pair
        state = (pair.frontier.tobytes(), pair.revisions)
        if self._watched is None or self._watched[0] != state:
            self._watched = (state, self._look())
        return self._watched[1]

    def _look(self) -> tuple[Interval, Forecast]:
        if self._clusters is not None:
            return unwatched()
        both = self.pair.contributions
        level = 1 - (1 - LEVEL) / self.pair.repeats
        found = []
        for place, end in enumerate(np.minimum.accumulate(self.pair.frontier).tolist()):
            state = (end, self.pair.revisions)
            if place not in self._passes or self._passes[place][0] != state:
                d = pass_difference(both[0], both[1], place, end)
                one = confidence_sequence(d, planned=max(self.pair.n_items, 2), level=level)
                self._passes[place] = (state, one)
            found.append(self._passes[place][1])
        return joined_passes(found, level=LEVEL), self.pair.forecast(paired=self._interleaved, level=LEVEL)
