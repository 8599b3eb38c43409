"""Two arms compared while their verdicts come in: updated cell by cell, with the numbers of a computation from scratch.

What can be summed is kept as exact sums and counts, what cannot is small: the distinct item differences and how often
each was seen. So the cost of an update is that of its news, and the cost of an interval does not depend on the number
of items. Differences with more than 4,096 distinct values (real-valued scores) are sorted anew for each interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltui.stats.bootstrap import histogram_interval
from evaltui.stats.checks import count
from evaltui.stats.exact import ExactSums, weighted_sum
from evaltui.stats.forecast import Counted, Forecast, answers_by_repeat, enough_repeated, forecast_from
from evaltui.stats.interval import Interval
from evaltui.stats.intervals import SMALL_N, fixed_items_from, item_moments, item_t
from evaltui.stats.sample import Codes, Floats, insist_usable, mean, numbers, whole_numbers

MOST_DISTINCT = 4096
"""With more distinct differences than this a histogram is no longer kept."""

_EQUAL = 1e-12
_FIRST_LOOK = 64
_LOOK_AT = 1024
_MEAN, _VARIANCE, _SHARE = (0, 1), (2, 3), (4, 5)


class LivePair:
    """A baseline (arm 0) and a candidate (arm 1) on the same items, in the random order of the study.

    A cell counts once it lies below the frontier of its repeat: the longest prefix of the order whose cells have
    arrived in both arms. ``frontier`` (k,) is that length per repeat, ``revisions`` how often a cell below it changed;
    ``baseline``, ``candidate`` and ``difference`` (n,) are item means over counted cells, NaN where there is none. Read
    the arrays, do not write.
    """

    def __init__(self, n_items: int, repeats: int) -> None:
        self.n_items = count("n_items", n_items, least=0)
        self.repeats = count("repeats", repeats, least=0)
        self._added: Floats = np.full((2, n_items, repeats), np.nan)
        self._arrived: NDArray[np.bool_] = np.zeros((repeats, 2, n_items), dtype=np.bool_)
        self._done = 0
        self._begin()

    def _begin(self) -> None:
        n = self.n_items
        self.frontier: Codes = np.zeros(self.repeats, dtype=np.int64)
        self._means: Floats = np.full((2, n), np.nan)
        self.difference: Floats = np.full(n, np.nan)
        self._terms: Floats = np.zeros((n, 6))
        self._several: NDArray[np.bool_] = np.zeros((2, n), dtype=np.bool_)
        self._n_several = [0, 0]
        self._present: NDArray[np.bool_] = np.zeros((2, n, self.repeats), dtype=np.bool_)
        self._recount: NDArray[np.bool_] = np.zeros(n, dtype=np.bool_)
        self._answers: Codes = answers_by_repeat(self._present[:, :0])
        self._sums = ExactSums(6)
        self._histogram: dict[float, int] | None = {}
        self._run_means: dict[int, tuple[float, float] | None] = {}
        self._intervals: dict[tuple[str, float], Interval] = {}
        self.revisions = 0
        self.paired = 0
        self.gained = 0
        self.lost = 0

    def update(
        self,
        arm: NDArray[np.integer],
        position: NDArray[np.integer],
        repeat: NDArray[np.integer],
        contribution: Floats,
    ) -> NDArray[np.intp]:
        """Take in terminal cells, columns of shape (m,); a cell that has been there is replaced, and the last one wins.

        ``arm`` is 0 or 1, ``repeat`` counts from 1, ``contribution`` is NaN for a cell that arrived and is left out.
        Returns the positions whose item means may have changed. Raises ValueError for columns of different length, for
        a cell that does not exist and for an infinite contribution; nothing of such a batch is taken in.
        """
        arm, position, column, contribution = self._checked(arm, position, repeat, contribution)
        self._added[arm, position, column] = contribution
        fresh = ~self._arrived[column, arm, position]
        reached = position < self.frontier[column]
        revised = position[reached]
        self.revisions += len(revised)
        for stale in {*column[reached].tolist()} & self._run_means.keys():
            del self._run_means[stale]
        if fresh.any():
            places = np.ravel_multi_index((column[fresh], arm[fresh], position[fresh]), self._arrived.shape)
            before = int(np.count_nonzero(self._arrived.ravel()[places]))
            self._arrived.ravel()[places] = True
            self._done += len({*places.tolist()}) - before
        rows = [revised, *self._advance(column[fresh], position[fresh])]
        touched = np.unique(np.concatenate(rows))
        self._recompute(touched)
        return touched

    def grow(self, repeats: int) -> None:
        """Make room for more repeats; everything is computed anew."""
        extra = count("repeats", repeats, least=0) - self.repeats
        if extra <= 0:
            return
        self._added = np.pad(self._added, ((0, 0), (0, 0), (0, extra)), constant_values=np.nan)
        self._arrived = np.pad(self._arrived, ((0, extra), (0, 0), (0, 0)))
        self.repeats = repeats
        self._begin()
        rows = self._advance(np.arange(repeats), self.frontier)
        self._recompute(np.unique(np.concatenate([np.empty(0, dtype=np.intp), *rows])))

    @property
    def baseline(self) -> Floats:
        means: Floats = self._means[0]
        return means

    @property
    def candidate(self) -> Floats:
        means: Floats = self._means[1]
        return means

    @property
    def contributions(self) -> Floats:
        """What each cell that has arrived adds, (2, n, k); NaN: left out, or not there."""
        return self._added

    @property
    def n_in_flight(self) -> int:
        """Cells that have arrived and do not count yet."""
        return self._done - 2 * int(self.frontier.sum())

    @property
    def n_left_out(self) -> int:
        """Items before the furthest end of the frontier that are not paired."""
        return int(self.frontier.max(initial=0)) - self.paired

    @property
    def repeats_compared(self) -> int:
        """Repeats in which at least one item counts in both arms."""
        return sum(self._compared(column) for column in np.flatnonzero(self.frontier).tolist())

    def _compared(self, column: int) -> bool:
        end = int(self.frontier[column])
        starts = range(0, end, _LOOK_AT)
        return any(
            bool(np.isfinite(self._added[:, start : min(start + _LOOK_AT, end), column]).all(axis=0).any())
            for start in starts
        )

    @property
    def means(self) -> tuple[float, float] | None:
        """Both arms' means over the paired items, None where there is none."""
        if not self.paired:
            return None
        return self._sums.total(_MEAN[0]) / self.paired, self._sums.total(_MEAN[1]) / self.paired

    def histogram(self) -> tuple[Floats, Codes]:
        """The distinct differences, sorted, and how often each was seen: both of shape (U,)."""
        if self._histogram is None:
            values, counts = np.unique(self.difference[~np.isnan(self.difference)] + 0.0, return_counts=True)
            return values, counts
        found = sorted(self._histogram.items())
        return np.array([value for value, _ in found]), np.array([times for _, times in found], dtype=np.int64)

    def interval(self, *, level: float = 0.95) -> Interval:
        """``bootstrap.mean_interval`` of the item differences."""
        return self._kept("bootstrap", level, lambda: histogram_interval(*self.histogram(), level=level))

    def item_interval(self, *, level: float = 0.95) -> Interval:
        """``intervals.item_interval`` of the item differences."""
        if self.paired >= SMALL_N:
            return self.interval(level=level)
        return self._kept("t", level, lambda: item_t(np.repeat(*self.histogram()), level=level))

    def fixed_items_interval(self, *, level: float = 0.95) -> Interval:
        """``intervals.fixed_items_interval`` of the counted cells."""
        means = self.means or (0.0, 0.0)
        first, second = ((means[arm], self._variance(arm)) for arm in (0, 1))
        return fixed_items_from(self.paired, first, second, level=level)

    def forecast(self, *, paired: bool = True, level: float = 0.95) -> Forecast:
        """``forecast.forecast`` of the counted cells; ``paired`` as in ``intervals.run_interval``."""
        n, several = self.paired, self._n_several
        values, counts = self.histogram()
        middle = weighted_sum(values, counts) / n if n else 0.0
        means = self.means or (0.0, 0.0)
        complete = [self.run_means(place + 1) for place in np.flatnonzero(self.frontier == self.n_items).tolist()]
        noise = None
        if n and enough_repeated(min(several), n):
            noise = sum(self._sums.total(_VARIANCE[arm]) / several[arm] for arm in (0, 1))
        counted = Counted(
            planned=self.n_items,
            n=n,
            difference=means[1] - means[0],
            spread=weighted_sum((values - middle) ** 2, counts) / (n - 1) if n > 1 else 0.0,
            noise=noise,
            answers=self._answers_by_repeat(),
            runs=[pair for pair in complete if pair is not None],
            furthest=int(self.frontier.max(initial=0)),
        )
        return forecast_from(counted, paired=paired, level=level)

    def run_means(self, repeat: int) -> tuple[float, float] | None:
        """Both arms' means in a repeat that is complete in both, over the items that contribute in both.

        None where no item does. Computed once, and again only after a revision. Raises ValueError for other repeats.
        """
        column = repeat - 1
        if not 0 <= column < self.repeats or self.frontier[column] < self.n_items:
            raise ValueError(f"repeat {repeat} is not complete in both arms")
        if column not in self._run_means:
            self._run_means[column] = paired_means(self._added[:, :, column])
        return self._run_means[column]

    def _kept(self, name: str, level: float, make: Callable[[], Interval]) -> Interval:
        """An interval made once for as long as no item mean moves."""
        key = (name, level)
        if key not in self._intervals:
            self._intervals[key] = make()
        return self._intervals[key]

    def _variance(self, arm: int) -> float | None:
        several = self._n_several[arm]
        if not several:
            return None
        usual = self._sums.total(_VARIANCE[arm]) / several
        total = self._sums.total(_SHARE[arm], extra=usual, times=self.paired - several)
        return total / self.paired**2

    def _checked(
        self, arm: ArrayLike, position: ArrayLike, repeat: ArrayLike, contribution: ArrayLike
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Floats]:
        """The columns of a batch, the repeat as a place from 0 on."""
        places = (
            whole_numbers(arm, "arm", 2),
            whole_numbers(position, "position", self.n_items),
            whole_numbers(repeat, "repeat", self.repeats + 1, start=1) - 1,
        )
        added = numbers(contribution, "contribution")
        for name, column in (("position", places[1]), ("repeat", places[2]), ("contribution", added)):
            if column.shape != places[0].shape:
                raise ValueError(f"{name} has the shape {column.shape}, but arm has {places[0].shape}")
        insist_usable(added, "contribution", np.isinf(added), "a cell that is left out is NaN")
        return *places, added

    def _advance(self, column: NDArray[np.intp], position: NDArray[np.integer]) -> list[NDArray[np.intp]]:
        """Move the frontier over what has arrived: only a cell that lies right on it can let it go on."""
        entered = []
        for each in sorted({*column[position == self.frontier[column]].tolist()}):
            start = place = int(self.frontier[each])
            look = _FIRST_LOOK
            while place < self.n_items:
                first, second = self._arrived[each, :, place : place + look]
                both = first & second
                if not both.all():
                    place += int(both.argmin())
                    break
                place += len(both)
                look *= 2
            self.frontier[each] = place
            entered.append(np.arange(start, place))
        return entered

    def _counted(self, rows: NDArray[np.intp]) -> Floats:
        """What the cells of these items add, (2, m, k), NaN at and after the frontier."""
        return np.where(rows[:, None] < self.frontier, self._added[:, rows], np.nan)

    def _answers_by_repeat(self) -> Codes:
        """``forecast.answers_by_repeat`` of the counted cells of paired items: only the items with news are counted."""
        rows = np.flatnonzero(self._recount)
        present = np.isfinite(self._counted(rows)) & ~np.isnan(self.difference[rows])[:, None]
        self._answers = self._answers + answers_by_repeat(present) - answers_by_repeat(self._present[:, rows])
        self._present[:, rows] = present
        self._recount[rows] = False
        return self._answers

    def _recompute(self, rows: NDArray[np.intp]) -> None:
        """Make these items anew and put the difference to what they were into every sum."""
        if not len(rows):
            return
        scores = self._counted(rows)
        k, means, variances = item_moments(scores)
        difference = means[1] - means[0]
        paired = ~np.isnan(difference)
        several = (k >= 2) & paired
        terms = np.zeros((len(rows), 6))
        terms[:, 0:2] = np.where(paired, means, 0.0).T
        terms[:, 2:4] = np.where(several, variances, 0.0).T
        terms[:, 4:6] = np.where(several, variances / np.maximum(k, 1), 0.0).T
        self._sums.replace(self._terms[rows], terms)
        for arm in (0, 1):
            self._n_several[arm] += int(several[arm].sum()) - int(self._several[arm, rows].sum())
        before = self.difference[rows]
        before = before[~np.isnan(before)]
        after = difference[paired]
        self.paired += len(after) - len(before)
        self.gained += int(np.count_nonzero(after > _EQUAL)) - int(np.count_nonzero(before > _EQUAL))
        self.lost += int(np.count_nonzero(after < -_EQUAL)) - int(np.count_nonzero(before < -_EQUAL))
        if self._histogram is not None:
            tell(self._histogram, before, -1)
            tell(self._histogram, after, 1)
            if len(self._histogram) > MOST_DISTINCT:
                self._histogram = None
        self._recount[rows] = True
        self._terms[rows] = terms
        self._several[:, rows] = several
        self._means[:, rows] = means
        self.difference[rows] = difference
        self._intervals.clear()


def paired_means(added: Floats) -> tuple[float, float] | None:
    """Both arms' means over the items that contribute in both, from (2, n) with NaN; None where there is none."""
    shared = added[:, ~np.isnan(added).any(axis=0)]
    return (mean(shared[0].tolist()), mean(shared[1].tolist())) if shared.size else None


def tell(histogram: dict[float, int], values: Floats, times: int) -> None:
    """Count each of ``values`` ``times`` more in a histogram; what is counted no longer goes."""
    for value, more in Counter((values + 0.0).tolist()).items():
        now = histogram.get(value, 0) + times * more
        if now:
            histogram[value] = now
        else:
            histogram.pop(value, None)
