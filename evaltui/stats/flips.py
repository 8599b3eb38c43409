"""Flips: how often the verdict of one item changes when nothing was changed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from evaltui.stats.interval import Interval
from evaltui.stats.proportions import wilson
from evaltui.stats.sample import Codes, Floats, checked_level, code_table, mean, score_table

LOW_FLIP_RATE = 0.10
HIGH_FLIP_RATE = 0.30


@dataclass(frozen=True, slots=True)
class Flips:
    """How much verdicts move over ``k`` runs; rates are None where no item has two scored verdicts.

    ``pairwise`` is the mean over items of the pairwise disagreement, ``between_runs`` the mean over pairs of runs of
    the share of items that changed; they differ where verdicts are missing. ``minority`` is the mean over items with
    a verdict of 1 - the share of the commonest, which grows with k. ``items`` have at least two scored verdicts,
    ``items_that_flip`` of them at least two different ones. ``expected_changes`` of ``items`` will change in the next
    run; ``changes`` is its interval.
    """

    pairwise: float | None
    between_runs: float | None
    minority: float | None
    items_that_flip: int
    items: int
    k: int
    expected_changes: float | None
    changes: Interval


@dataclass(frozen=True, slots=True)
class ItemFlips:
    """Per item, shape (n,): scored verdicts, pairwise disagreement (NaN below two), 1 - largest share (NaN at none)."""

    verdicts: Codes
    pairwise: Floats
    minority: Floats


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed on the items scored in both of two runs: ``gained`` scored higher in the second, ``lost`` lower."""

    compared: int
    gained: int
    lost: int

    @property
    def changed(self) -> int:
        return self.gained + self.lost

    @property
    def net(self) -> int:
        return self.gained - self.lost


@dataclass(frozen=True, slots=True)
class Reading:
    """A heuristic reading of a set's mean flip rate, to be calibrated on one's own data."""

    name: str
    action: str


def item_flips(labels: ArrayLike) -> ItemFlips:
    """Flip rates of each item from label codes (n items, k runs), -1 where there is no scored verdict.

    Pairwise disagreement is 1 - sum_c n_c (n_c - 1) / (m (m - 1)) over an item's m verdicts: unbiased for the chance
    that two runs differ (2 p (1 - p) for a pass probability p), whatever k. Raises ValueError for other shapes.
    """
    table = code_table(labels)
    n, k = table.shape
    codes = np.ascontiguousarray(np.sort(table, axis=1).T)
    verdicts = (codes >= 0).sum(axis=0)
    run = np.zeros(n, dtype=np.int64)
    agreeing = np.zeros(n, dtype=np.int64)
    largest = np.zeros(n, dtype=np.int64)
    for column in range(k):
        here = codes[column]
        same = here == codes[column - 1] if column else np.zeros(n, dtype=np.bool_)
        run = np.where(here < 0, 0, np.where(same, run + 1, 1))
        agreeing += np.maximum(run - 1, 0)
        np.maximum(largest, run, out=largest)
    pairs = verdicts * (verdicts - 1) // 2
    several = pairs > 0
    pairwise = np.full(n, np.nan)
    minority = np.full(n, np.nan)
    pairwise[several] = 1 - agreeing[several] / pairs[several]
    some = verdicts > 0
    minority[some] = 1 - largest[some] / verdicts[some]
    return ItemFlips(verdicts, pairwise, minority)


def flips(labels: ArrayLike, *, level: float = 0.95) -> Flips:
    """The flips of a set from label codes (n items, k runs), -1 where there is no scored verdict.

    A missing verdict never flips. The interval of the expected changes is Wilson's, taken over items; the spread of a
    sum of unequal chances is at most binomial, so it errs on the wide side. Raises ValueError for other shapes.
    """
    codes = code_table(labels)
    each = item_flips(codes)
    several = np.isfinite(each.pairwise)
    items = int(several.sum())
    if not items:
        return Flips(None, None, None, 0, 0, codes.shape[1], None, changes_interval(None, 0, level))
    pairwise = mean(each.pairwise[several].tolist())
    return Flips(
        pairwise,
        between_runs(*pair_counts(codes)),
        mean(each.minority[each.verdicts > 0].tolist()),
        int((each.pairwise[several] > 0).sum()),
        items,
        codes.shape[1],
        pairwise * items,
        changes_interval(pairwise, items, level),
    )


def changes(before: ArrayLike, after: ArrayLike) -> Changes:
    """Items gained and lost between two runs from their scores (n,), NaN where there is none.

    Raises ValueError if the two runs do not hold the same number of items, and for other shapes.
    """
    first, second = np.asarray(before, np.float64), np.asarray(after, np.float64)
    for run in (first, second):
        if run.ndim != 1:
            raise ValueError(f"a run must have one dimension, its items, not shape {run.shape}")
    if first.shape != second.shape:
        raise ValueError(f"both runs must hold the same items: shapes {first.shape} and {second.shape}")
    pair = score_table(np.column_stack((first, second)))
    pair = pair[np.isfinite(pair).all(axis=1)]
    return Changes(len(pair), int((pair[:, 1] > pair[:, 0]).sum()), int((pair[:, 1] < pair[:, 0]).sum()))


def text_changes(texts: ArrayLike) -> int:
    """How many items have at least two different texts, from text ids (n items, k runs), -1 where there is none."""
    return int((item_flips(texts).pairwise > 0).sum())


def reading(pairwise: float, *, low: float = LOW_FLIP_RATE, high: float = HIGH_FLIP_RATE) -> Reading:
    """How to read a set's mean flip rate. A heuristic with adjustable limits, not a test.

    Raises ValueError unless ``pairwise`` is a rate.
    """
    if not 0 <= pairwise <= 1:
        raise ValueError(f"a flip rate lies between 0 and 1, not {pairwise}")
    if pairwise == 0:
        return Reading("no flips", "check that the repeats are repeats: a cache or a seed gives the same picture")
    if pairwise <= low:
        return Reading("steady", "report the band beside the score; a few repeats are enough")
    if pairwise <= high:
        return Reading("moving", "compare means over repeats only, never single runs; look at the items that flip most")
    return Reading("unstable", "find the source first (judge, parsing, prompt) before comparing anything on this set")


def pair_counts(codes: Codes) -> tuple[Codes, Codes]:
    """For each pair of runs of codes (n, k): items with a verdict in both, and those with the same one; (k, k) each.

    Only the pairs above the diagonal are filled in.
    """
    k = codes.shape[1]
    columns = np.ascontiguousarray(codes.T)
    present = (columns >= 0).astype(np.float64)
    both = np.triu(present @ present.T, 1).astype(np.int64)
    # Missing verdicts become a code of their own in each run, so that they are the same as none.
    told_apart = np.where(columns >= 0, columns, -1 - np.arange(k)[:, None])
    same = np.zeros((k, k), dtype=np.int64)
    for a, b in combinations(range(k), 2):
        same[a, b] = np.count_nonzero(told_apart[a] == told_apart[b])
    return both, same


def between_runs(both: Codes, same: Codes) -> float | None:
    """Mean over pairs of runs of the share of items that changed, from ``pair_counts``; None without such items."""
    counted = both > 0
    return mean(((both - same)[counted] / both[counted]).tolist()) if counted.any() else None


def changes_interval(pairwise: float | None, items: int, level: float) -> Interval:
    """How many of ``items`` will change in the next run, from the mean pairwise disagreement (None: not known)."""
    blank = Interval(None, None, None, checked_level(level), "Wilson over items", "items", items, "items that change")
    if pairwise is None:
        return blank.unknown("needs more: one item with two scored verdicts at least")
    rate = wilson(pairwise * items, items, level=level)
    if rate.low is None or rate.high is None:
        return blank.unknown(rate.note)
    bounds = rate.low * items, rate.high * items
    return Interval(*bounds, pairwise * items, level, blank.method, "items", items, blank.estimand)
