"""Agreement: how far several passes of a judge give the same label to the same text, and which way they move."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, stdtrit

from evaltui.stats.flips import item_flips
from evaltui.stats.interval import Interval
from evaltui.stats.proportions import mcnemar_exact
from evaltui.stats.pvalue import PValue
from evaltui.stats.sample import Codes, Floats, all_equal, checked_level, code_table, mean

Metric = Literal["nominal", "ordinal", "interval"]

Number = TypeVar("Number", np.int64, np.float64)

FEWEST = 10

_CELLS = 2**20


def raw_agreement(labels: ArrayLike, *, level: float = 0.95) -> Interval:
    """Chance that two passes give an item the same label, from codes (n items, m passes), -1 where missing.

    The mean over items of 1 - pairwise disagreement; items with fewer than two labels do not enter. The interval is t
    over items. Raises ValueError for other shapes.
    """
    codes = code_table(labels)
    pairwise = item_flips(codes).pairwise
    agreeing = 1 - pairwise[np.isfinite(pairwise)]
    n = len(agreeing)
    blank = _blank(mean(agreeing.tolist()) if n else None, level, "raw agreement, t over items", n)
    if not n:
        return blank.unknown("needs more: one item with two labels at least")
    # Leaving one item out of a mean is the t interval, so the three coefficients share one road.
    total = math.fsum(agreeing.tolist())
    return _jackknife(blank, (total - agreeing) / max(n - 1, 1), np.ones(n, dtype=np.int64), low=0.0)


def fleiss_kappa(labels: ArrayLike, *, level: float = 0.95) -> Interval:
    """Fleiss' kappa (1971) from codes (n items, m passes), -1 where missing: 0 is chance, 1 is full agreement.

    It needs the same number of labels on every item, so items with a missing label are left out; ``krippendorff_alpha``
    keeps them. The interval is a jackknife over items (Efron and Stein 1981): no random numbers, t with n - 1 degrees
    of freedom, cut at 1. Raises ValueError for other shapes.
    """
    codes = code_table(labels)
    m = codes.shape[1]
    kinds = _Kinds.of(codes[(codes >= 0).all(axis=1)] if m else codes[:0])
    n = int(kinds.repeats.sum())
    blank = _blank(None, level, "Fleiss' kappa, jackknife over items", n)
    left_out = len(codes) - n
    if m < 2 or not n:
        return blank.unknown("needs more: one item with a label from each of two passes at least")
    if len(kinds.totals) < 2:
        return blank.unknown(_ONE_LABEL)
    agreeing = (kinds.alike.sum(axis=1) - m) / (m * (m - 1))
    observed = math.fsum((agreeing * kinds.repeats).tolist())

    def kappa(items: int, agreement: Floats, alike: Codes) -> Floats:
        chance = alike / (items * m) ** 2
        return np.asarray((agreement / items - chance) / (1 - chance), dtype=np.float64)

    blank = replace(blank, estimate=float(kappa(n, np.array(observed), (kinds.totals**2).sum())))
    note = f"{left_out} items without a label from every pass were left out" if left_out else ""
    if n < FEWEST or kinds.leaves_one_label().any():
        return blank.unknown(_too_few(n))
    return _jackknife(blank, kappa(n - 1, observed - agreeing, kinds.squares_without()), kinds.repeats, note=note)


def krippendorff_alpha(
    labels: ArrayLike, *, metric: Metric = "nominal", values: Sequence[float] | None = None, level: float = 0.95
) -> Interval:
    """Krippendorff's alpha (2004; 2011) from codes (n items, m passes), -1 where missing: 1 is full agreement.

    "nominal": labels differ or not. "ordinal": codes in rising order, labels differ by the labels between them.
    "interval": by the squared difference of ``values[code]`` (the code itself where not given). Items with fewer than
    two labels do not enter. The interval is a jackknife over items (Efron and Stein 1981): no random numbers, t with
    n - 1 degrees of freedom, cut at 1. Raises ValueError for other shapes, or values that do not cover the codes.
    """
    if metric not in get_args(Metric):
        raise ValueError(f"metric must be one of {', '.join(get_args(Metric))}, not {metric}")
    codes = code_table(labels)
    pairable = codes[(codes >= 0).sum(axis=1) >= 2]
    kinds = _Kinds.of(pairable)
    n = len(pairable)
    blank = _blank(None, level, f"Krippendorff's alpha ({metric}), jackknife over items", n)
    if not n:
        return blank.unknown("needs more: one item with two labels at least")
    if len(kinds.totals) < 2:
        return blank.unknown(_ONE_LABEL)
    if metric == "interval":
        scale = _values(values, kinds.present)
        scale = scale / np.abs(scale).max()
        scale = scale - math.fsum((scale * kinds.totals).tolist()) / int(kinds.totals.sum())
    else:
        scale = np.zeros(len(kinds.totals))
    estimate, without = _alphas(kinds, metric, scale)
    blank = replace(blank, estimate=estimate)
    if n < FEWEST or kinds.leaves_one_label().any() or not np.isfinite(without).all():
        return blank.unknown(_too_few(n))
    return _jackknife(blank, without, kinds.repeats)


def _alphas(kinds: _Kinds, metric: Metric, scale: Floats) -> tuple[float, Floats]:
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


def _total(own: Floats, kinds: _Kinds) -> float:
    return math.fsum((own * kinds.repeats).tolist())


def _squares(kinds: _Kinds, x: Floats) -> Floats:
    """Squared deviations of the values ``x`` (U, m) from each item's mean, summed: (U,)."""
    centre = x.sum(axis=1) / kinds.sizes
    return np.asarray(((x - centre[:, None]) ** 2 * (kinds.labels >= 0)).sum(axis=1), dtype=np.float64)


def _ordinal_change(kinds: _Kinds, middle: Floats, weight: Floats) -> Floats:
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


def _steps(kinds: _Kinds, weight: Floats) -> Floats:
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


@dataclass(frozen=True, slots=True)
class Transitions:
    """Labels of one pass against those of another on the same texts.

    ``labels`` (L,) are the codes that occur in either pass, in rising order; ``table[i, j]`` counts items with label
    ``labels[i]`` before and ``labels[j]`` after. ``symmetry`` tests whether every move is as frequent as its reverse,
    ``direction`` whether ``up`` and ``down`` moves are: a judge that only moves from correct to partial has become
    stricter. ``n`` items have a label in both passes.
    """

    labels: Codes
    moves: Codes
    unchanged: int
    up: int
    down: int
    symmetry: PValue
    direction: PValue
    n: int
    unit: str = "items"
    note: str = ""

    @property
    def table(self) -> Codes:
        """(L, L), made when asked for: ``moves`` (R, 3) holds its cells that are not 0 as row, column, count."""
        table = np.zeros((len(self.labels), len(self.labels)), dtype=np.int64)
        table[self.moves[:, 0], self.moves[:, 1]] = self.moves[:, 2]
        return table


def transitions(before: ArrayLike, after: ArrayLike, *, categories: int | None = None) -> Transitions:
    """How labels moved between two passes on identical texts, from codes (n,), -1 where missing, in rising order.

    ``categories`` is the size of the vocabulary, unlimited unless given. Raises ValueError for other shapes, two passes
    of different length and for a code outside the vocabulary.
    """
    first, second = _one_pass(before), _one_pass(after)
    if first.shape != second.shape:
        raise ValueError(f"both passes must hold the same items: {len(first)} and {len(second)}")
    both = (first >= 0) & (second >= 0)
    first, second = first[both], second[both]
    labels, places = np.unique(np.concatenate((first, second)), return_inverse=True)
    if categories is not None and len(labels) and labels[-1] >= categories:
        raise ValueError(f"label code {labels[-1]} lies outside a vocabulary of {categories}")
    size = max(len(labels), 1)
    cells, counts = np.unique(places[: len(first)] * size + places[len(first) :], return_counts=True)
    row, column = np.divmod(cells, size)
    up, down = int(counts[row < column].sum()), int(counts[row > column].sum())
    direction = replace(mcnemar_exact(up, down), method="exact sign test of up against down")
    note = "" if len(first) else "no item has a label in both passes"
    pairs, which = np.unique(np.minimum(row, column) * size + np.maximum(row, column), return_inverse=True)
    above = np.bincount(which, weights=counts * (row < column), minlength=len(pairs)).astype(np.float64)
    below = np.bincount(which, weights=counts * (row > column), minlength=len(pairs)).astype(np.float64)
    symmetry = mcnemar_exact(up, down) if len(labels) == 2 else _bowker(above, below)
    unchanged = len(first) - up - down
    moves = np.column_stack((row, column, counts))
    return Transitions(labels, moves, unchanged, up, down, symmetry, direction, len(first), note=note)


def _one_pass(labels: ArrayLike) -> Codes:
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"a pass must have one dimension, its items, not shape {array.shape}")
    return code_table(array[:, None])[:, 0]


def symmetry_test(table: ArrayLike) -> PValue:
    """Whether a square table of transitions is symmetric: exact McNemar (1947) for two labels, Bowker (1948) for more.

    Bowker's statistic has one degree of freedom for each pair of labels between which an item moved at all. ``n``
    counts the items that moved; below five moves a pair the chi-square distribution is rough, which the note says.
    Raises ValueError for a table that is not square or holds anything but counts.
    """
    counts = np.asarray(table)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"a table of transitions is square, not {counts.shape}")
    if counts.size and (not np.issubdtype(counts.dtype, np.integer) or counts.min() < 0):
        raise ValueError("a table of transitions holds counts: whole numbers of at least 0")
    if len(counts) == 2:
        return mcnemar_exact(int(counts[0, 1]), int(counts[1, 0]))
    upper = np.triu_indices(len(counts), 1)
    return _bowker(counts[upper].astype(np.float64), counts.T[upper].astype(np.float64))


def _bowker(above: Floats, below: Floats) -> PValue:
    """Bowker's test from the moves of each pair of labels and their reverses."""
    sums, differences = above + below, above - below
    moved = sums > 0
    df = int(moved.sum())
    if not df:
        return PValue(None, None, "Bowker", 0, note="no item changed: nothing to test")
    statistic = math.fsum((differences[moved] ** 2 / sums[moved]).tolist())
    note = "few moves between some labels: the p-value is rough" if sums[moved].min() < 5 else ""
    return PValue(float(chdtrc(df, statistic)), statistic, "Bowker", int(sums.sum()), df, note)


_ONE_LABEL = "one label only: agreement beyond chance cannot be known from it"


def _too_few(n: int) -> str:
    if n < FEWEST:
        return f"needs more: {FEWEST} items with two labels at least, there are {n}"
    return "all items but one have the same label: how far the coefficient can move cannot be known from them"


def _blank(estimate: float | None, level: float, method: str, n: int) -> Interval:
    return Interval(None, None, estimate, checked_level(level), method, "items", n, "items like these")


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Items with the same labels taken together, in an order of their own.

    ``labels`` (U, m) holds each kind's labels in rising order as places in ``present`` (C,), -1 first where missing;
    ``repeats`` (U,) how many items are of the kind; ``sizes`` (U,) labels of one; ``alike`` (U, m) how many of the
    item's labels are the same as this one, ``below`` (U, m) how many are lower, both 0 where missing; ``totals`` (C,)
    how often each label was given.
    """

    labels: Codes
    repeats: Codes
    present: Codes
    sizes: Codes
    alike: Codes
    below: Codes
    totals: Codes

    @classmethod
    def of(cls, codes: Codes) -> _Kinds:
        present = np.unique(codes[codes >= 0])
        places = np.where(codes >= 0, np.searchsorted(present, codes), -1)
        rows = np.sort(places, axis=1)
        if rows.size:
            rows = rows[np.lexsort(rows.T)]
            starts = np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]).any(axis=1))))
            return cls._counted(rows[starts], np.diff(np.append(starts, len(rows))), present)
        return cls._counted(rows[:0], np.empty(0, dtype=np.int64), present)

    @classmethod
    def _counted(cls, rows: Codes, repeats: Codes, present: Codes) -> _Kinds:
        m = rows.shape[1]
        first, last = np.zeros_like(rows), np.full_like(rows, m - 1)
        for place in range(1, m):
            first[:, place] = np.where(rows[:, place] == rows[:, place - 1], first[:, place - 1], place)
        for place in range(m - 2, -1, -1):
            last[:, place] = np.where(rows[:, place] == rows[:, place + 1], last[:, place + 1], place)
        here, sizes = rows >= 0, (rows >= 0).sum(axis=1)
        alike, below = (last - first + 1) * here, (first - (m - sizes)[:, None]) * here
        given = np.broadcast_to(repeats[:, None], rows.shape)[here]
        totals = np.bincount(rows[here], weights=given, minlength=len(present)).astype(np.int64)
        return cls(rows, repeats, present, sizes, alike, below, totals)

    def at(self, values: NDArray[Number]) -> NDArray[Number]:
        """``values`` (C,) of each label given, (U, m); 0 where missing."""
        return np.asarray(values[self.labels] * (self.labels >= 0), dtype=values.dtype)

    def squares_without(self) -> Codes:
        """Sum of the squared totals without one item of each kind."""
        own = 2 * self.at(self.totals).sum(axis=1) - self.alike.sum(axis=1)
        return np.asarray(int((self.totals**2).sum()) - own, dtype=np.int64)

    def leaves_one_label(self) -> NDArray[np.bool_]:
        """Whether without one item of each kind a single label is left."""
        alone = np.where(self.alike > 0, (self.at(self.totals) == self.alike) / np.maximum(self.alike, 1), 0.0)
        return np.asarray(len(self.totals) - np.rint(alone.sum(axis=1)) < 2, dtype=np.bool_)


def _values(values: Sequence[float] | None, present: Codes) -> Floats:
    if values is None:
        return present.astype(np.float64)
    scale = np.asarray(values, dtype=np.float64)
    if scale.ndim != 1 or not np.isfinite(scale).all():
        raise ValueError("values must be one finite number for each label code")
    if present[-1] >= len(scale):
        raise ValueError(f"values cover the codes below {len(scale)}, but there is a label code {present[-1]}")
    if all_equal(scale[present]):
        raise ValueError("all labels have the same value: nothing can disagree")
    return np.asarray(scale[present], dtype=np.float64)


def _jackknife(
    blank: Interval, without: Floats, repeats: NDArray[np.int64], *, note: str = "", low: float = -math.inf
) -> Interval:
    """t interval from the estimates without each item; ``without`` stands for ``repeats`` items each."""
    n = blank.n
    if n < FEWEST:
        return blank.unknown(_too_few(n))
    centre = math.fsum((without * repeats).tolist()) / n
    error = math.sqrt((n - 1) / n * math.fsum(((without - centre) ** 2 * repeats).tolist()))
    if blank.estimate is None or error <= 1e-12:
        return blank.unknown(f"all {n} items agree alike: how much others would differ cannot be known from them")
    reach = float(stdtrit(n - 1, (1 + blank.level) / 2)) * error
    return blank.between(max(blank.estimate - reach, low), min(blank.estimate + reach, 1.0), note)
