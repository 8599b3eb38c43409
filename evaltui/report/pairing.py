"""Two arms laid side by side: which cells count, and what each item scored in either."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaltui.core.grid import Grid

_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Pairing:
    """Item means of two arms over the counted cells of their frontier, columns of shape (items,).

    ``baseline`` and ``candidate`` are NaN for an item without a counted contribution in that arm, ``difference``
    (candidate minus baseline) for an item that lacks one in either. ``n_in_flight`` counts terminal cells that lie
    beyond the frontier, ``n_left_out`` items before its furthest end that are not paired.
    """

    baseline: NDArray[np.float64]
    candidate: NDArray[np.float64]
    difference: NDArray[np.float64]
    n_in_flight: int
    n_left_out: int

    @property
    def paired(self) -> NDArray[np.bool_]:
        both: NDArray[np.bool_] = ~np.isnan(self.difference)
        return both

    @property
    def n_items(self) -> int:
        return int(np.count_nonzero(self.paired))

    @property
    def gained(self) -> int:
        """Items whose mean score is higher in the candidate."""
        return int(np.count_nonzero(self.difference > _EQUAL))

    @property
    def lost(self) -> int:
        """Items whose mean score is lower in the candidate."""
        return int(np.count_nonzero(self.difference < -_EQUAL))


def pair(grid: Grid, added: NDArray[np.float64], a: int, b: int) -> Pairing:
    """Pair arm ``a`` (baseline) with arm ``b`` by item; ``added`` holds contributions in the grid's shape."""
    frontier = grid.frontier(a, b)
    counted = grid.counted(a, b)
    baseline, candidate = item_means(added[a], counted), item_means(added[b], counted)
    difference = candidate - baseline
    done = sum(grid.done(arm, repeat) for arm in (a, b) for repeat in range(1, grid.repeats + 1))
    reached = int(frontier.max(initial=0))
    return Pairing(
        baseline=baseline,
        candidate=candidate,
        difference=difference,
        n_in_flight=done - 2 * int(frontier.sum()),
        n_left_out=reached - int(np.count_nonzero(~np.isnan(difference))),
    )


def item_means(added: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean contribution of each item over its counted repeats; both arguments of shape (items, repeats)."""
    use = counted & ~np.isnan(added)
    n = use.sum(axis=1)
    total = np.where(use, added, 0.0).sum(axis=1)
    means: NDArray[np.float64] = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    return means
