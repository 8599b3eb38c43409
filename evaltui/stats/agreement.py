"""Agreement: how far several passes of a judge give the same label to the same text, and which way they move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, stdtrit

from evaltui.stats.alpha import Metric, alphas
from evaltui.stats.flips import item_flips
from evaltui.stats.interval import Interval
from evaltui.stats.label_kinds import Kinds
from evaltui.stats.proportions import mcnemar_exact
from evaltui.stats.pvalue import PValue
from evaltui.stats.sample import Codes, Floats, all_equal, checked_level, code_table, mean

FEWEST = 10


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
    kinds = Kinds.of(codes[(codes >= 0).all(axis=1)] if m else codes[:0])
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
    scale = np.zeros(0)
    if metric == "interval":
        pairable, scale = _by_value(pairable, values)
    kinds = Kinds.of(pairable)
    n = len(pairable)
    blank = _blank(None, level, f"Krippendorff's alpha ({metric}), jackknife over items", n)
    if not n:
        return blank.unknown("needs more: one item with two labels at least")
    if len(kinds.totals) < 2:
        return blank.unknown(_ONE_LABEL)
    if metric == "interval":
        scale = scale - math.fsum((scale * kinds.totals).tolist()) / int(kinds.totals.sum())
    estimate, without = alphas(kinds, metric, scale)
    blank = replace(blank, estimate=estimate)
    if n < FEWEST or kinds.leaves_one_label().any() or not np.isfinite(without).all():
        return blank.unknown(_too_few(n))
    return _jackknife(blank, without, kinds.repeats)


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


def _by_value(codes: Codes, values: Sequence[float] | None) -> tuple[Codes, Floats]:
    """``codes`` as places among the distinct values of their labels, and these (C,), in units of the largest."""
    present = np.unique(codes[codes >= 0])
    if values is None:
        scale = present.astype(np.float64)
    else:
        scale = np.asarray(values, dtype=np.float64)
        if scale.ndim != 1 or not np.isfinite(scale).all():
            raise ValueError("values must be one finite number for each label code")
        if present.size and present[-1] >= len(scale):
            raise ValueError(f"values cover the codes below {len(scale)}, but there is a label code {present[-1]}")
        scale = scale[present]
    if all_equal(scale):
        scale = scale * 0
    distinct, place = np.unique(scale, return_inverse=True)
    largest = float(np.abs(distinct).max(initial=0.0)) or 1.0
    return np.where(codes >= 0, np.append(place, 0)[np.searchsorted(present, codes)], -1), distinct / largest


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
