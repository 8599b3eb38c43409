"""Agreement: how far several passes of a judge give the same label to the same text, and which way they move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, stdtrit

from evaltui.stats.flips import item_flips
from evaltui.stats.interval import Interval
from evaltui.stats.proportions import mcnemar_exact
from evaltui.stats.pvalue import PValue
from evaltui.stats.sample import Codes, Floats, all_equal, checked_level, code_table, mean

Metric = Literal["nominal", "ordinal", "interval"]

FEWEST = 10

_CELLS = 2**22


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
    complete = codes[(codes >= 0).all(axis=1)] if m else codes[:0]
    counts, repeats, _ = _item_counts(complete)
    n = len(complete)
    blank = _blank(None, level, "Fleiss' kappa, jackknife over items", n)
    left_out = len(codes) - n
    if m < 2 or not n:
        return blank.unknown("needs more: one item with a label from each of two passes at least")
    agreeing = (counts * (counts - 1)).sum(axis=1) / (m * (m - 1))
    observed, labelled = float(agreeing @ repeats), (counts.T @ repeats).astype(np.float64)

    def kappa(items: int, agreement: Floats, used: Floats) -> Floats:
        chance = ((used / (items * m)) ** 2).sum(axis=-1)
        return np.asarray((agreement / items - chance) / (1 - chance), dtype=np.float64)

    if (labelled > 0).sum() < 2:
        return blank.unknown(_ONE_LABEL)
    estimate = float(kappa(n, np.array(observed), labelled))
    blank = replace(blank, estimate=estimate)
    note = f"{left_out} items without a label from every pass were left out" if left_out else ""
    without = labelled - counts
    if n < FEWEST or ((without > 0).sum(axis=1) < 2).any():
        return blank.unknown(_too_few(n))
    return _jackknife(blank, kappa(n - 1, observed - agreeing, without), repeats, note=note)


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
    counts, repeats, present = _item_counts(pairable)
    n = len(pairable)
    blank = _blank(None, level, f"Krippendorff's alpha ({metric}), jackknife over items", n)
    if not n:
        return blank.unknown("needs more: one item with two labels at least")
    if len(present) < 2:
        return blank.unknown(_ONE_LABEL)
    scale = _values(values, present) if metric == "interval" else np.zeros(len(present))
    disagreement = _Disagreement(metric, scale, counts, repeats)
    blank = replace(blank, estimate=disagreement.alpha())
    if n < FEWEST:
        return blank.unknown(_too_few(n))
    without = disagreement.alpha_without_each()
    if not np.isfinite(without).all():
        return blank.unknown(_too_few(n))
    return _jackknife(blank, without, repeats)


@dataclass(frozen=True, slots=True)
class _Disagreement:
    """Sums behind alpha: ``counts`` (U, C) of each label on each kind of item, ``repeats`` (U,) of that kind."""

    metric: Metric
    scale: Floats
    counts: Codes
    repeats: Codes

    @property
    def weights(self) -> Floats:
        """1 / (labels - 1): what a pair within an item weighs."""
        return np.asarray(1 / (self.counts.sum(axis=1) - 1), dtype=np.float64)

    def alpha(self) -> float:
        pairs = (self.counts * (self.repeats * self.weights)[:, None]).T @ self.counts
        totals = (self.counts.T @ self.repeats).astype(np.float64)
        return float(self._alpha(self._off_diagonal(pairs)[None], totals[None])[0])

    def alpha_without_each(self) -> Floats:
        """Alpha without one item of each kind, (U,); NaN where one label is left."""
        everything = (self.counts * (self.repeats * self.weights)[:, None]).T @ self.counts
        totals = (self.counts.T @ self.repeats).astype(np.float64)
        labels = len(totals)
        step = max(1, _CELLS // labels**2)
        parts = []
        for start in range(0, len(self.counts), step):
            counts = self.counts[start : start + step]
            own = counts[:, :, None] * counts[:, None, :] * self.weights[start : start + step, None, None]
            parts.append(self._alpha(self._off_diagonal(everything - own), totals - counts))
        return np.concatenate(parts)

    @staticmethod
    def _off_diagonal(pairs: Floats) -> Floats:
        """Labels do not differ from themselves, so what the diagonal holds has no weight."""
        return np.asarray(pairs * (1 - np.eye(pairs.shape[-1])), dtype=np.float64)

    def _alpha(self, pairs: Floats, totals: Floats) -> Floats:
        distance = self._distance(totals)
        observed = (pairs * distance).sum(axis=(1, 2))
        expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2)) / (totals.sum(axis=1) - 1)
        possible = expected > 0
        return np.where(possible, 1 - observed / np.where(possible, expected, 1.0), np.nan)

    def _distance(self, totals: Floats) -> Floats:
        if self.metric == "nominal":
            return np.broadcast_to(1 - np.eye(totals.shape[1]), (*totals.shape, totals.shape[1]))
        middle = totals.cumsum(axis=1) - totals / 2 if self.metric == "ordinal" else self.scale[None]
        return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Transitions:
    """Labels of one pass against those of another on the same texts.

    ``table[i, j]`` counts items with label i before and j after; labels are codes in rising order. ``symmetry`` tests
    whether every move is as frequent as its reverse, ``direction`` whether ``up`` and ``down`` moves are: a judge that
    only moves from correct to partial has become stricter. ``n`` items have a label in both passes.
    """

    table: Codes
    unchanged: int
    up: int
    down: int
    symmetry: PValue
    direction: PValue
    n: int
    unit: str = "items"
    note: str = ""


def transitions(before: ArrayLike, after: ArrayLike, *, categories: int | None = None) -> Transitions:
    """How labels moved between two passes on identical texts, from codes (n,), -1 where missing, in rising order.

    ``categories`` is the size of the vocabulary, the largest code + 1 unless given. Raises ValueError for two passes
    of different length and for a code outside the vocabulary.
    """
    first, second = (code_table(np.atleast_2d(np.asarray(a)), "labels")[0] for a in (before, after))
    if first.shape != second.shape:
        raise ValueError(f"both passes must hold the same items: {len(first)} and {len(second)}")
    both = (first >= 0) & (second >= 0)
    first, second = first[both], second[both]
    largest = int(max(first.max(), second.max())) + 1 if len(first) else 0
    size = largest if categories is None else categories
    if largest > size:
        raise ValueError(f"label code {largest - 1} lies outside a vocabulary of {size}")
    table = np.bincount(first * size + second, minlength=size * size).reshape(size, size).astype(np.int64)
    up, down = int(np.triu(table, 1).sum()), int(np.tril(table, -1).sum())
    direction = replace(mcnemar_exact(up, down), method="exact sign test of up against down")
    note = "" if len(first) else "no item has a label in both passes"
    return Transitions(
        table, int(np.trace(table)), up, down, symmetry_test(table), direction, int(both.sum()), note=note
    )


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
    above, below = counts[np.triu_indices(len(counts), 1)], counts.T[np.triu_indices(len(counts), 1)]
    moved = above + below > 0
    sums, differences = (above + below)[moved], (above - below)[moved]
    df = int(moved.sum())
    if not df:
        return PValue(None, None, "Bowker", 0, note="no item changed: nothing to test")
    statistic = math.fsum((differences**2 / sums).tolist())
    note = "few moves between some labels: the p-value is rough" if sums.min() < 5 else ""
    return PValue(float(chdtrc(df, statistic)), statistic, "Bowker", int(sums.sum()), df, note)


_ONE_LABEL = "one label only: agreement beyond chance cannot be known from it"


def _too_few(n: int) -> str:
    if n < FEWEST:
        return f"needs more: {FEWEST} items with two labels at least, there are {n}"
    return "all items but one have the same label: how far the coefficient can move cannot be known from them"


def _blank(estimate: float | None, level: float, method: str, n: int) -> Interval:
    return Interval(None, None, estimate, checked_level(level), method, "items", n, "items like these")


def _item_counts(codes: Codes) -> tuple[Codes, Codes, Codes]:
    """Kinds of items by how often each label stands on them, (U, C); how many of each kind, (U,); the labels, (C,)."""
    present = np.unique(codes[codes >= 0])
    counts = np.zeros((len(codes), len(present)), dtype=np.int64)
    rows, columns = np.nonzero(codes >= 0)
    np.add.at(counts, (rows, np.searchsorted(present, codes[rows, columns])), 1)
    if not counts.size:
        return counts[:0], np.empty(0, dtype=np.int64), present
    kinds, repeats = np.unique(counts, axis=0, return_counts=True)
    return kinds, repeats, present


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
