"""Variance components: how much of the spread comes from items, whole runs, generations and judge passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, fdtri, stdtrit

from evaltui.stats.bands import Band, band
from evaltui.stats.interval import Interval
from evaltui.stats.sample import Floats, checked_level, insist_usable, numbers, score_table

Source = Literal["item", "run", "generation", "judge pass"]

FEWEST_FOR_JACKKNIFE = 20

_CHUNK = 4096

_SOURCES: tuple[Source, ...] = ("item", "run", "generation", "judge pass")


@dataclass(frozen=True, slots=True)
class Component:
    """One source of variance, in squared units of the scores.

    ``variance`` is ``raw`` cut at zero (``truncated`` says so); ``share`` is its part of the sum over sources, None if
    that is zero. ``includes`` names a source that the data cannot tell from this one.
    """

    source: Source
    variance: float
    raw: float
    truncated: bool
    share: float | None
    interval: Interval
    includes: Source | None = None


@dataclass(frozen=True, slots=True)
class Components:
    """The sources of variance that (n items, k runs, m passes) can tell apart.

    ``missing`` cells have no score; items and runs without any are not counted in n and k.
    ``components`` is empty where there are none, and ``note`` says why.
    """

    components: tuple[Component, ...]
    mean: float | None
    n: int
    k: int
    m: int
    missing: int
    level: float
    method: str = "Henderson's method 1"
    unit: str = "items"
    note: str = ""

    def of(self, source: Source) -> Component | None:
        """The component of ``source``, or of the source that includes it."""
        return next((c for c in self.components if source in (c.source, c.includes)), None)


def components(scores: ArrayLike, *, level: float = 0.95) -> Components:
    """Variance components from scores (n items, k runs) or (n items, k runs, m passes), NaN where a cell has none.

    Items and runs are crossed random effects, a generation is one item in one run, judge passes are nested in it.
    Henderson's method 1 (1953): sums of squares are set equal to their expectations, which is the analysis of variance
    where nothing is missing and stays unbiased where cells are missing at random. Negative estimates are cut at zero.
    With one run, generation is part of item; with one pass, judge pass is part of generation.

    Intervals: for runs modified large sample (Burdick and Graybill 1992), exact in the limit for normal effects on
    balanced data and approximate on unbalanced; for the others a jackknife over items, which needs no normality, from
    20 items on and modified large sample below. Neither uses random numbers. Raises ValueError for infinities and
    other shapes.
    """
    table = _cube(scores)
    m = table.shape[2]
    seen = np.isfinite(table)
    kept = table[seen.any(axis=(1, 2))]
    kept = kept[:, np.isfinite(kept).any(axis=(0, 2))]
    missing = int((~seen).sum())
    blank = Components((), None, len(kept), kept.shape[1], m, missing, checked_level(level))
    if len(kept) < 2:
        return replace(blank, note=f"needs more: 2 items with a score at least, there are {len(kept)}")
    average = math.fsum(kept[np.isfinite(kept)].tolist()) / int(np.isfinite(kept).sum())
    blank = replace(blank, mean=average)
    sums = _Sums.of(kept - average)
    sources, folded = _estimable(sums)
    if not sources:
        return replace(blank, note="needs more: each item has one score, so nothing separates items from noise")
    raw = _solve(sums.total()[None], sources)
    if raw is None:
        return replace(blank, note="too many cells are missing to tell the sources apart")
    estimates = dict(zip(sources, raw[0].tolist(), strict=True))
    intervals = _intervals(sums, sources, estimates, level)
    whole = math.fsum(max(0.0, value) for value in estimates.values())
    found = tuple(
        Component(
            source,
            max(0.0, estimates[source]),
            estimates[source],
            estimates[source] < 0,
            max(0.0, estimates[source]) / whole if whole > 0 else None,
            intervals[source],
            folded.get(source),
        )
        for source in sources
    )
    return replace(blank, components=found, note=_note(found))


def split_judge(end_to_end: Components, judge_only: Components) -> tuple[float, float, str]:
    """Generation and judge variance, and a note, from two studies: difference of variances.

    ``end_to_end`` has one pass per generation, so its generation variance includes the judge; ``judge_only`` has
    several passes on identical texts. A generation variance below zero is cut there, and the note says so. Raises
    ValueError if either study does not have what it is needed for.
    """
    combined, judge = end_to_end.of("generation"), judge_only.of("judge pass")
    if combined is None or combined.source != "generation" or combined.includes != "judge pass":
        raise ValueError("end_to_end must have several runs with one judge pass each")
    if judge is None or judge.source != "judge pass":
        raise ValueError("judge_only must have several judge passes on one text")
    generation = combined.raw - judge.raw
    note = "" if generation >= 0 else "the judge alone varies more than the whole: generation is cut at zero"
    return max(0.0, generation), judge.variance, note


def judge_variance(judge_pass: float, m: int) -> float:
    """Judge variance of the mean of ``m`` passes. That of a majority is measured on majorities, not computed.

    Raises ValueError for a negative variance or m below 1.
    """
    if not 0 <= judge_pass < math.inf or m < 1:
        raise ValueError(f"a variance is at least 0 and passes at least 1, not {judge_pass} and {m}")
    return judge_pass / m


@dataclass(frozen=True, slots=True)
class HarnessShare:
    """The band with all cells and without the harness's own (retried, timed out, truncated).

    ``share`` is 1 - (sd without / sd with)^2, cut at zero, None where a band was not measured.
    """

    with_cells: Band
    without_cells: Band
    share: float | None
    cells: int
    method: str = "ratio of variances of run means"
    unit: str = "runs"
    note: str = ""


def harness_share(scores: ArrayLike, harness: ArrayLike) -> HarnessShare:
    """How much of the run-to-run variance the marked cells own, from scores (n, k) and a mask of the same shape.

    Run means are adjusted for the items a run has lost (least squares, items and runs additive), so that a run does
    not look easier for having lost hard items; with every cell they are plain means. A cell without a score (NaN) is
    in neither band: give it the score that counts, for example 0, to see what it did. Raises ValueError for infinities
    and different shapes.
    """
    table, mask = score_table(scores), np.asarray(harness, dtype=np.bool_)
    if mask.shape != table.shape:
        raise ValueError(f"harness must have the shape of scores, {table.shape}, not {mask.shape}")
    cells = int((mask & np.isfinite(table)).sum())
    all_cells, without = band(_run_means(table)), band(_run_means(np.where(mask, np.nan, table)))
    bare = HarnessShare(all_cells, without, None, cells)
    if not cells:
        return replace(bare, share=0.0 if all_cells.measured else None, note="no cell is the harness's")
    if all_cells.sd is None or without.sd is None:
        return replace(bare, note=all_cells.note if all_cells.sd is None else f"without them: {without.note}")
    share = 1 - (without.sd / all_cells.sd) ** 2
    note = "the band is no narrower without these cells" if share < 0 else ""
    return replace(bare, share=max(0.0, share), note=note)


@dataclass(frozen=True, slots=True)
class _Sums:
    """What each item adds to Henderson's sums of squares and to their expectations; all first axes are items.

    ``squares``, ``by_item``, ``by_generation``: the item's part of the sums for scores, items, generations. ``runs``
    (n, k) and ``counts`` (n, k): sum and number of its scores in each run.
    """

    squares: Floats
    by_item: Floats
    by_generation: Floats
    runs: Floats
    counts: Floats

    @classmethod
    def of(cls, cube: Floats) -> _Sums:
        counts = np.isfinite(cube).sum(axis=2).astype(np.float64)
        filled = np.nan_to_num(cube)
        runs = filled.sum(axis=2)
        by_generation = (runs**2 / np.maximum(counts, 1)).sum(axis=1)
        by_item = runs.sum(axis=1) ** 2 / counts.sum(axis=1)
        return cls((filled**2).sum(axis=(1, 2)), by_item, by_generation, runs, counts)

    def parts(self) -> Floats:
        """Everything additive over items, (n, 9 + 3 k)."""
        size, squared = self.counts.sum(axis=1), (self.counts**2).sum(axis=1)
        used = (self.counts > 0).sum(axis=1)
        ones = np.ones(len(size))
        scalars = (self.squares, self.by_item, self.by_generation, size, size**2, squared / size, squared, used, ones)
        return np.column_stack((*scalars, self.runs, self.counts, self.counts**2))

    def total(self) -> Floats:
        return np.array([math.fsum(column.tolist()) for column in self.parts().T])


def _solve(totals: Floats, sources: Sequence[Source]) -> Floats | None:
    """Components (B, sources) from B rows of totals: one linear system each, None if any is singular."""
    left, right = _equations(totals, sources)
    if (np.linalg.cond(left, 1) > 1e10).any():
        return None
    return np.asarray(np.linalg.solve(left, right[..., None])[..., 0], dtype=np.float64)


def _equations(totals: Floats, sources: Sequence[Source]) -> tuple[Floats, Floats]:
    """Mean squares and what they are expected to be: left (B, q, q), right (B, q)."""
    sums, coefficients, degrees = _reductions(totals)
    rows = [_SOURCES.index(source) for source in sources]
    left = coefficients[:, rows][:, :, rows] / degrees[:, rows, None]
    return left, sums[:, rows] / degrees[:, rows]


def _reductions(totals: Floats) -> tuple[Floats, Floats, Floats]:
    """Sums of squares (B, 4), their expected coefficients (B, 4, 4) and degrees of freedom (B, 4), one per source."""
    squares, by_item, by_generation, size, items2, within, generations2, generations, items = totals[:, :9].T
    runs, counts, counts2 = np.split(totals[:, 9:], 3, axis=1)
    used = np.maximum(counts, 1)
    by_run, mean = (runs**2 / used).sum(axis=1), runs.sum(axis=1) ** 2 / size
    run2 = (counts**2).sum(axis=1)
    crossed = (counts2 / used).sum(axis=1)
    present = (counts > 0).sum(axis=1)
    # Expected coefficients of (item, run, generation, judge pass) in each uncorrected sum of squares.
    in_scores = np.stack((size, size, size, size))
    in_generation = np.stack((size, size, size, generations))
    in_item = np.stack((size, within, within, items))
    in_run = np.stack((crossed, size, crossed, present))
    in_mean = np.stack((items2 / size, run2 / size, generations2 / size, np.ones_like(size)))
    sums = np.stack(
        (by_item - mean, by_run - mean, by_generation - by_item - by_run + mean, squares - by_generation), axis=1
    )
    expected = np.stack(
        (in_item - in_mean, in_run - in_mean, in_generation - in_item - in_run + in_mean, in_scores - in_generation)
    )
    degrees = np.stack((items - 1, present - 1, generations - items - present + 1, size - generations), axis=1)
    return sums, np.moveaxis(expected, 2, 0), np.maximum(degrees, 1)


def _estimable(sums: _Sums) -> tuple[tuple[Source, ...], dict[Source, Source]]:
    """The sources that can be told apart, and what is folded into which."""
    several_runs = sums.counts.shape[1] > 1 and bool(((sums.counts > 0).sum(axis=1) > 1).any())
    several_passes = bool((sums.counts > 1).any())
    if several_runs and several_passes:
        return _SOURCES, {}
    if several_runs:
        return ("item", "run", "generation"), {"generation": "judge pass"}
    if several_passes and sums.counts.shape[1] == 1:
        return ("item", "judge pass"), {"item": "generation"}
    return (), {}


def _intervals(
    sums: _Sums, sources: Sequence[Source], estimates: dict[Source, float], level: float
) -> dict[Source, Interval]:
    n, k = sums.counts.shape
    found: dict[Source, Interval] = {}
    jackknifed = _without_each(sums, sources) if n >= FEWEST_FOR_JACKKNIFE else None
    for place, source in enumerate(sources):
        over_runs = source == "run"
        size = k if over_runs else n
        blank = Interval(
            None,
            None,
            max(0.0, estimates[source]),
            level,
            "",
            "runs" if over_runs else "items",
            size,
            f"{source} variance",
        )
        if over_runs or jackknifed is None:
            found[source] = _modified_large_sample(blank, sums, sources, place, estimates[source])
        else:
            found[source] = _jackknife(blank, jackknifed[:, place], estimates[source])
    return found


def _without_each(sums: _Sums, sources: Sequence[Source]) -> Floats | None:
    """Components (n, sources) without each item; None if they cannot be told apart without one."""
    total, parts = sums.total(), sums.parts()
    found = [_solve(total - parts[start : start + _CHUNK], sources) for start in range(0, len(parts), _CHUNK)]
    solved = [each for each in found if each is not None]
    return np.concatenate(solved) if len(solved) == len(found) else None


def _jackknife(blank: Interval, without: Floats, raw: float) -> Interval:
    n, named = blank.n, replace(blank, method="jackknife over items")
    centre = math.fsum(without.tolist()) / n
    error = math.sqrt((n - 1) / n * math.fsum(((without - centre) ** 2).tolist()))
    if error <= 1e-9 * max(abs(raw), 1e-12):
        return named.unknown("every item varies alike: how much others would vary cannot be known from them")
    reach = float(stdtrit(n - 1, (1 + blank.level) / 2)) * error
    return named.between(max(0.0, raw - reach), max(0.0, raw + reach))


def _modified_large_sample(blank: Interval, sums: _Sums, sources: Sequence[Source], place: int, raw: float) -> Interval:
    """Burdick and Graybill (1992, after Ting and others 1990) for a difference of mean squares."""
    total = sums.total()[None]
    left, right = _equations(total, sources)
    rows = [_SOURCES.index(source) for source in sources]
    degrees = _reductions(total)[2][0, rows]
    weights = np.linalg.inv(left[0])[place]
    weights = np.where(np.abs(weights) < 1e-9 * np.abs(weights).max(), 0.0, weights)
    squares = weights * np.maximum(right[0], 0.0)
    named = replace(blank, method="modified large sample")
    if not squares.any():
        return named.unknown("no variance was seen: how much there is cannot be known from these scores")
    tail = (1 - blank.level) / 2
    low = raw - math.sqrt(max(0.0, _spread(squares, degrees, weights > 0, tail, 1 - tail)))
    high = raw + math.sqrt(max(0.0, _spread(squares, degrees, weights > 0, 1 - tail, tail)))
    return named.between(max(0.0, low), max(0.0, high))


def _spread(squares: Floats, degrees: Floats, plus: NDArray[np.bool_], lower: float, upper: float) -> float:
    """Squared distance to a bound; ``upper`` is the probability below the F quantile that positive terms meet."""
    ratio = {True: degrees / chdtri(degrees, 1 - upper), False: degrees / chdtri(degrees, 1 - lower)}
    shrink = np.where(plus, 1 - ratio[True], ratio[False] - 1)
    spread = math.fsum((shrink**2 * squares**2).tolist())
    for p in np.flatnonzero(plus & (squares != 0)):
        for q in np.flatnonzero(~plus & (squares != 0)):
            f = float(fdtri(degrees[p], degrees[q], upper))
            cross = ((f - 1) ** 2 - shrink[p] ** 2 * f**2 - shrink[q] ** 2) / f
            spread += cross * float(squares[p] * -squares[q])
    return spread


def _run_means(table: Floats) -> list[float]:
    """Run means as if every run had every item: grand mean + least-squares run effects beside item effects."""
    seen = np.isfinite(table)
    table, seen = table[seen.any(axis=1)], seen[seen.any(axis=1)]
    table, seen = table[:, seen.any(axis=0)], seen[:, seen.any(axis=0)]
    if not seen.size:
        return []
    filled, present = np.where(seen, table, 0.0), seen.astype(np.float64)
    sizes = present.sum(axis=1)
    own = filled.sum(axis=1) / sizes
    left = np.diag(present.sum(axis=0)) - present.T @ (present / sizes[:, None])
    right = [math.fsum(column) for column in np.where(seen, table - own[:, None], 0.0).T.tolist()]
    effects = np.linalg.lstsq(left, np.array(right), rcond=1e-10)[0]
    grand = math.fsum((own - present @ effects / sizes).tolist()) / len(own)
    return [grand + float(effect) for effect in effects]


def _note(found: tuple[Component, ...]) -> str:
    cut = [c.source for c in found if c.truncated]
    folded = [f"{c.includes} is part of {c.source}" for c in found if c.includes]
    if cut:
        folded.insert(0, f"estimated below zero and cut there: {', '.join(cut)}")
    return "; ".join(folded)


def _cube(scores: ArrayLike) -> Floats:
    array = numbers(scores, "scores")
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3:
        raise ValueError(f"scores must have the shape (items, runs) or (items, runs, passes), not {array.shape}")
    insist_usable(array, "scores", np.isinf(array), "a missing score is NaN")
    return array
