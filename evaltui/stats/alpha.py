"""Krippendorff's alpha and what it is without each item, as sums over the labels given."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaltui.stats.label_kinds import Kinds
from evaltui.stats.sample import Codes, Floats

Metric = Literal["nominal", "ordinal", "interval"]

_CELLS = 2**20


def alphas(kinds: Kinds, metric: Metric, scale: Floats) -> tuple[float, Floats]:
    """Alpha, and alpha without one item of each kind, (U,).

    1 - (N - 1) observed / expected: observed sums the squared distances within items, each item's over its labels - 1;
    expected sums them over all N labels. Both are sums over labels given, never over pairs of a vocabulary.
    """
    m, totals = kinds.sizes, kinds.totals
    weight, n = 1 / (m - 1), int(totals.sum())
    if metric == "nominal":
        own = weight * (m * m - kinds.alike.sum(axis=1))
        observed = _total(own, kinds)
        left = observed - own
        expected, expected_left = float(n * n - int((totals**2).sum())), (n - m) ** 2 - kinds.squares_without()
    elif metric == "interval":
        own = 2 * weight * m * _squares(kinds, kinds.at(scale))
        observed = _total(own, kinds)
        left = observed - own
        first, second = math.fsum((totals * scale).tolist()), math.fsum((totals * scale**2).tolist())
        x = kinds.at(scale)
        expected = 2 * (n * second - first**2)
        expected_left = 2 * ((n - m) * (second - (x * x).sum(axis=1)) - (first - x.sum(axis=1)) ** 2)
    else:
        middle = totals.cumsum() - totals / 2
        observed = _total(2 * weight * m * _squares(kinds, kinds.at(middle)), kinds)
        left = observed + _ordinal_change(kinds, middle, weight)
        # Ranks have sums in closed form: N (N^3 - sum of cubes) / 6.
        cubes = n**3 - sum(total**3 for total in totals.tolist())
        t, a = kinds.at(totals), kinds.alike
        lost = m * (3 * n * n - 3 * n * m + m * m) - (3 * t * t - 3 * t * a + a * a).sum(axis=1)
        expected, expected_left = n * cubes / 6, (n - m) * (float(cubes) - lost) / 6
    possible = expected_left > 0
    without = 1 - (n - m - 1) * left / np.where(possible, expected_left, 1.0)
    return 1 - (n - 1) * observed / expected, np.where(possible, without, np.nan)


def _total(own: Floats, kinds: Kinds) -> float:
    return math.fsum((own * kinds.repeats).tolist())


def _squares(kinds: Kinds, x: Floats) -> Floats:
    """Squared deviations of the values ``x`` (U, m) from each item's mean, summed: (U,)."""
    centre = x.sum(axis=1) / kinds.sizes
    return np.asarray(((x - centre[:, None]) ** 2 * (kinds.labels >= 0)).sum(axis=1), dtype=np.float64)


def _ordinal_change(kinds: Kinds, middle: Floats, weight: Floats) -> Floats:
    """What leaving out one item of each kind adds to the observed sum: its own part goes, and all mid-ranks shift.

    The shift is a step at each of the item's labels, so the sum of squares (y - shift)' L (y - shift), L the Laplacian
    of the labels that stand together, needs L at pairs of the item's labels only.
    """
    here, x = kinds.labels >= 0, kinds.at(middle)
    own = 2 * weight * kinds.sizes * _squares(kinds, x - kinds.below - kinds.alike / 2)
    centre = x.sum(axis=1) / kinds.sizes
    pull = ((weight * kinds.sizes * kinds.repeats)[:, None] * (x - centre[:, None]))[here]
    gradient = np.bincount(kinds.labels[here], weights=pull, minlength=len(middle))
    above = gradient.sum() - gradient.cumsum() + gradient / 2
    return np.asarray(2 * _steps(kinds, weight) - 4 * kinds.at(above).sum(axis=1) - own, dtype=np.float64)


def _steps(kinds: Kinds, weight: Floats) -> Floats:
    """Sum over pairs of an item's labels of step' L step, (U,); a step is 1 above its label and 1/2 at it."""
    labels, size = kinds.labels, len(kinds.totals)
    dense = size * size <= _CELLS
    together = [np.arange(size * size)] if dense else [np.unique(key) for _, key in _pairs(labels, size)]
    known = together[0] if dense else np.unique(np.concatenate(together))
    low, high = np.divmod(known, size)
    edge = np.zeros(len(known))
    for here, key in _pairs(labels, size):
        place = key if dense else np.searchsorted(known, key)
        edge += np.bincount(place, weights=(weight * kinds.repeats)[here], minlength=len(known))
    edge[low == high] = 0
    starts, ends = (np.bincount(side, weights=edge, minlength=size) for side in (low, high))
    # An edge counts 1 at a label inside it and 1/2 squared at its ends.
    single = np.cumsum(starts - ends) - starts + (starts + ends) / 4
    double = np.where(low == high, single[low], _spanning(low, high, edge, size))
    found = kinds.at(single).sum(axis=1)
    for here, key in _pairs(labels, size):
        found[here] += 2 * double[key if dense else np.searchsorted(known, key)]
    return np.asarray(found, dtype=np.float64)


def _pairs(labels: Codes, size: int) -> Iterator[tuple[NDArray[np.bool_], Codes]]:
    """For each pair of places in an item: the items with a label at both, and the two labels as one number."""
    for a, b in combinations(range(labels.shape[1]), 2):
        here = labels[:, a] >= 0
        yield here, labels[here, a] * size + labels[here, b]


def _spanning(low: Codes, high: Codes, edge: Floats, size: int) -> Floats:
    """For each pair low < high the weight of the edges from low or below to high or above; an end there halves it."""
    if len(edge) == size * size:
        table = edge.reshape(size, size)
        table = table.cumsum(axis=0) - table / 2
        return np.asarray((table[:, ::-1].cumsum(axis=1)[:, ::-1] - table / 2).ravel(), dtype=np.float64)
    # Half of an edge stands at its end and half one label further in; then all ends up to the pair's count.
    x, y = np.concatenate((low, low + 1, low, low + 1)), np.concatenate((high, high, high - 1, high - 1))
    quarter = np.tile(edge / 4, 4)
    width, found = size + 1, np.zeros(len(edge))
    for bit in range(size.bit_length()):
        # y lies above high - 1 if they share all bits but one down to here, where y has it and high - 1 does not.
        key = (y >> bit) * width + x
        order = np.lexsort((quarter, key))
        sums = np.concatenate(([0.0], quarter[order].cumsum()))
        node = (((high - 1) >> bit) | 1) * width
        upto = np.searchsorted(key[order], node + low, "right")
        part = sums[upto] - sums[np.searchsorted(key[order], node, "left")]
        found += np.where(((high - 1) >> bit) & 1, 0.0, part)
    return found
