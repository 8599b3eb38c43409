"""Excess spread: do whole runs move together, or is the spread what independent flips of items give?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from evaltui.stats.pvalue import PValue
from evaltui.stats.sample import Codes, Floats, all_equal, code_table, score_table, sum_of_squares

RESAMPLES = 2000
SEED = 20260501

PERMUTED_CELLS = 2**15
"""Cells that each draw permutes; items beyond these are many and move least, so their sum is drawn as normal."""

_CHUNK = 2**19
_ROUNDING = 1e-9
_ENOUGH = 100


@dataclass(frozen=True, slots=True)
class Excess:
    """Observed spread of run means beside the one that independent items would give.

    ``ratio`` is the observed variance of the ``k`` run means over (1 / n^2) sum_i v_i, v_i the variance of item i over
    its repeats; its expectation is 1 when whole runs do not move. ``sd`` and ``independent_sd`` are the roots of the
    two. ``p`` comes from ``method``. ``n`` items have a score in every run; ``left_out`` do not and did not enter.
    """

    ratio: float | None
    p: float | None
    method: str
    sd: float | None
    independent_sd: float | None
    n: int
    k: int
    left_out: int
    unit: str = "runs"
    note: str = ""


@dataclass(frozen=True, slots=True)
class TextsOverRuns:
    """Whether ``k`` runs are repeats at all. ``genuine`` is None where it cannot be known.

    ``distinct`` counts runs that differ from one another. ``note`` is the sentence to show, empty for real repeats.
    """

    genuine: bool | None
    distinct: int
    k: int
    cold_first_run: bool = False
    note: str = ""


def excess_spread(scores: ArrayLike, *, resamples: int = RESAMPLES, seed: int = SEED) -> Excess:
    """Excess spread of complete runs from scores (n items, k runs), NaN where a cell has none.

    The test is Cochran's Q for 0/1, which is (k - 1) times the ratio, and a seeded permutation test of run labels
    within items otherwise. An item whose scores differ by rounding alone has not changed. Nothing depends on the order
    of items or runs, to the last bit. Raises ValueError for infinities and other shapes.
    """
    table = score_table(scores)
    complete = table[np.isfinite(table).all(axis=1)] if table.shape[1] else table[:0]
    n, k = complete.shape
    bare = Excess(None, None, "Cochran's Q", None, None, n, k, len(table) - n)
    if k < 2:
        return replace(bare, note=f"needs more: 2 complete runs at least, there {'is 1' if k == 1 else 'are none'}")
    if n < 2:
        return replace(bare, note=f"needs more: 2 items with a score in every run at least, there are {n}")
    moving = complete[_moves(complete)]
    if not len(moving):
        return replace(bare, note="no item changed between runs: there is no spread to explain")
    independent = math.fsum(_variances(_sorted_columns(moving)).tolist()) / n**2
    observed = _spread_of_sums(moving) / n**2
    test = cochran_q(complete) if _binary(complete) else permutation_test(complete, resamples=resamples, seed=seed)
    return replace(
        bare,
        ratio=observed / independent,
        p=test.p,
        method=test.method,
        sd=math.sqrt(observed),
        independent_sd=math.sqrt(independent),
        note=f"{len(table) - n} items without a score in every run did not enter" if n < len(table) else "",
    )


def cochran_q(scores: ArrayLike) -> PValue:
    """Cochran's Q (1950): do the pass rates of k runs differ, from 0/1 scores (n, k) without missing cells.

    Raises ValueError for a score other than 0 or 1.
    """
    table = score_table(scores)
    if not _binary(table):
        raise ValueError("Cochran's Q needs scores of 0 or 1 in every cell")
    n, k = table.shape
    rows, columns = table.sum(axis=1).astype(np.int64), table.sum(axis=0).astype(np.int64)
    free = int((rows * (k - rows)).sum())
    if k < 2 or free == 0:
        return PValue(None, None, "Cochran's Q", n, note="no item changed between runs: nothing to test")
    # k times the squared deviations, in whole numbers: the order of runs cannot matter.
    q = (k - 1) * (k * int((columns**2).sum()) - int(columns.sum()) ** 2) / free
    return PValue(float(chdtrc(k - 1, q)), q, "Cochran's Q", n, k - 1)


def permutation_test(scores: ArrayLike, *, resamples: int = RESAMPLES, seed: int = SEED) -> PValue:
    """Permutation test of run labels within items for scores (n, k) without missing cells.

    The statistic is the variance of the run sums. The drawn permutations depend on ``seed`` and on the scores as a set,
    not on the order of items or runs, so relabelling either changes nothing. Drawing ends at the 100th spread as large
    as the observed one (Besag and Clifford 1991) or after ``resamples``; p then counts the observed labelling too
    (Phipson and Smyth 2010). Of more than ``PERMUTED_CELLS`` cells those of the items that move most are permuted; the
    sum over the others is drawn from the normal distribution with the mean and covariance that their permutations
    have, and ``method`` says so. Raises ValueError for a missing cell.
    """
    table = score_table(scores)
    if np.isnan(table).any():
        raise ValueError("the permutation test needs a score in every cell")
    n, k = table.shape
    moving = table[_moves(table)] if k > 1 else table[:0]
    method = "permutation of runs within items"
    if not len(moving):
        return PValue(None, None, method, n, note="no item changed between runs: nothing to test")
    observed = _spread_of_sums(moving)
    canonical, variance = _canonical(_sorted_columns(moving))
    if len(canonical) < len(moving):
        method += f" (the {len(canonical)} that move most; the sum of the others drawn as normal)"
    rng = np.random.default_rng(seed)
    threshold = observed * (1 - _ROUNDING)
    chunk = max(1, _CHUNK // canonical.size)
    as_large = np.empty(0, dtype=np.bool_)
    while len(as_large) < resamples and as_large.sum() < _ENOUGH:
        drawn = np.tile(canonical, (min(chunk, resamples - len(as_large)), 1, 1))
        sums = rng.permuted(drawn, axis=2).sum(axis=1)
        if variance:
            # Independent normals share the sample variance of correlated run sums: their common part drops out.
            sums += rng.normal(0.0, math.sqrt(variance), sums.shape)
        as_large = np.append(as_large, sums.var(axis=1, ddof=1) >= threshold)
    reached = np.flatnonzero(as_large.cumsum() == _ENOUGH)
    draws = int(reached[0]) + 1 if reached.size else resamples
    p = _ENOUGH / draws if reached.size else (int(as_large.sum()) + 1) / (resamples + 1)
    return PValue(p, observed, f"{method}, {draws} draws", n)


def same_texts(texts: ArrayLike) -> TextsOverRuns:
    """Whether runs are repeats, from text ids (n items, k runs), -1 where there is no text.

    Runs without a single differing text are not repeats: cached, or a seed in force. A first run that differs from
    all later ones, while those agree, is a cold cache. Raises ValueError for other shapes.
    """
    codes = code_table(texts)
    k = codes.shape[1]
    comparable = int(((codes >= 0).sum(axis=1) >= 2).sum()) if k else 0
    if not comparable:
        return TextsOverRuns(None, min(k, 1), k, note="no item has a text in two runs: cannot tell whether runs repeat")
    if _agree(codes):
        note = f"these are not repeats: {k} runs without a single differing text (cached, or a seed in force)"
        return TextsOverRuns(False, 1, k, note=note)
    later = codes[:, 1:]
    if k >= 3 and ((later >= 0).sum(axis=1) >= 2).any() and _agree(later):
        note = f"these are not repeats: run 1 differs from runs 2 to {k}, which have the same texts (a cold cache)"
        return TextsOverRuns(False, 2, k, True, note)
    return TextsOverRuns(True, _distinct(codes), k)


def _agree(codes: Codes) -> bool:
    """Whether every item has at most one text over these runs."""
    largest = codes.max(axis=1)
    return bool(((codes < 0) | (codes == largest[:, None])).all())


def _distinct(codes: Codes) -> int:
    """How many runs differ in at least one text from every run before them that they share an item with."""
    count = 0
    columns = codes.T
    for place, column in enumerate(columns):
        earlier = columns[:place]
        both = (earlier >= 0) & (column >= 0)
        count += not bool((((earlier == column) | ~both).all(axis=1) & both.any(axis=1)).any())
    return count


def _binary(table: Floats) -> bool:
    return bool(((table == 0) | (table == 1)).all())


def _moves(table: Floats) -> NDArray[np.bool_]:
    """Which items have scores that differ by more than rounding."""
    moves: NDArray[np.bool_] = np.ptp(table, axis=1) > 0
    # Few rows lie near the limit, and the limit itself is that of all other estimators.
    near = moves & (np.ptp(table, axis=1) <= _ROUNDING * np.maximum(np.abs(table).max(axis=1), 1.0))
    moves[near] = [not all_equal(row) for row in table[near]]
    return moves


def _sorted_columns(table: Floats) -> Floats:
    """Scores (k, n) with those of each item in rising order: what is left without the names of the runs."""
    return np.ascontiguousarray(np.sort(table, axis=1).T)


def _variances(columns: Floats) -> Floats:
    """Sample variance of each item, (n,), from its sorted scores, added up run by run."""
    k = len(columns)
    total = np.zeros(columns.shape[1])
    for column in columns:
        total += column
    squares = np.zeros(columns.shape[1])
    for column in columns:
        squares += (column - total / k) ** 2
    return squares / (k - 1)


def _canonical(columns: Floats) -> tuple[Floats, float]:
    """The items to permute, (n', k) in an order of their own, and what the others add to the variance of run sums.

    A permuted item has the covariance v (I - 1/k) over runs, v its sample variance, so that sums of items do.
    """
    most = max(1, PERMUTED_CELLS // len(columns))
    if columns.shape[1] <= most:
        return np.ascontiguousarray(columns[:, np.lexsort(columns)].T), 0.0
    variances = _variances(columns)
    candidates = columns[:, variances >= np.partition(variances, -most)[-most]]
    order = np.lexsort((*candidates, _variances(candidates)))[-most:]
    chosen = np.ascontiguousarray(candidates[:, order].T)
    rest = math.fsum(variances.tolist()) - math.fsum(_variances(np.ascontiguousarray(chosen.T)).tolist())
    return chosen, max(0.0, rest)


def _spread_of_sums(table: Floats) -> float:
    """Sample variance of the run sums, whatever the order of items and runs."""
    sums = np.array([math.fsum(column) for column in table.T.tolist()])
    return sum_of_squares(sums) / (len(sums) - 1)
