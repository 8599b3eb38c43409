"""The flips of a set while verdicts come in: updated item by item, with the numbers of ``flips.flips``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaltui.stats.checks import count
from evaltui.stats.exact import ExactSums
from evaltui.stats.flips import Flips, between_runs, changes_interval, item_flips, pair_counts
from evaltui.stats.sample import Codes, code_table, whole_numbers


class LiveFlips:
    """Label codes (n items, k runs), -1 where there is no scored verdict, and what sums over the items say."""

    def __init__(self, n_items: int, repeats: int) -> None:
        count("n_items", n_items, least=0)
        self.repeats = count("repeats", repeats, least=0)
        self._codes: Codes = np.full((n_items, repeats), -1, dtype=np.int64)
        self._rates: NDArray[np.float64] = np.zeros((n_items, 2))
        self._has: NDArray[np.bool_] = np.zeros((n_items, 2), dtype=np.bool_)
        self._sums = ExactSums(2)
        self._n = np.zeros(2, dtype=np.int64)
        self._flipping = 0
        self._both: Codes = np.zeros((repeats, repeats), dtype=np.int64)
        self._same: Codes = np.zeros((repeats, repeats), dtype=np.int64)

    def update(self, rows: NDArray[np.intp], codes: Codes) -> None:
        """Give the items ``rows`` (m,), each named once, the codes (m, k).

        Raises ValueError for other shapes, an item that does not exist or is named twice, and what is no code; nothing
        of such a batch is taken in.
        """
        rows, codes = whole_numbers(rows, "rows", len(self._codes)), code_table(codes, "codes")
        if codes.shape != (len(rows), self.repeats):
            raise ValueError(f"codes must have the shape {(len(rows), self.repeats)}, not {codes.shape}")
        if not (rows[1:] > rows[:-1]).all() and len(np.unique(rows)) < len(rows):
            raise ValueError("rows must name each item once")
        if not len(rows):
            return
        each = item_flips(codes)
        has = np.column_stack((np.isfinite(each.pairwise), each.verdicts > 0))
        rates = np.where(has, np.column_stack((each.pairwise, each.minority)), 0.0)
        before = self._codes[rows]
        was_empty = (before < 0).all(axis=1)
        for held, sign in ((before[~was_empty], -1), (codes, 1)):
            both, same = pair_counts(held)
            self._both += sign * both
            self._same += sign * same
        self._sums.replace(self._rates[rows], rates)
        self._n += has.sum(axis=0) - self._has[rows].sum(axis=0)
        self._flipping += int(np.count_nonzero(rates[:, 0])) - int(np.count_nonzero(self._rates[rows, 0]))
        self._codes[rows], self._rates[rows], self._has[rows] = codes, rates, has

    @property
    def items_that_flip(self) -> int:
        """Items with at least two different verdicts."""
        return self._flipping

    def flips(self, *, level: float = 0.95) -> Flips:
        """``flips.flips`` of the codes as they stand."""
        items, k = int(self._n[0]), self.repeats
        if not items:
            return Flips(None, None, None, 0, 0, k, None, changes_interval(None, 0, level))
        pairwise = self._sums.total(0) / items
        return Flips(
            pairwise,
            between_runs(self._both, self._same),
            self._sums.total(1) / int(self._n[1]),
            self._flipping,
            items,
            k,
            pairwise * items,
            changes_interval(pairwise, items, level),
        )
