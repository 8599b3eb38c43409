"""The report computed from scratch, from the grid alone: what the live report must be equal to at every step.

It shares with it how numbers are told, and the estimators, which have tests of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from batches import Call
from numpy.typing import NDArray

from evaltui.core.grid import Grid
from evaltui.core.score import contributions, score_cells, scored
from evaltui.core.status import PENDING_CODE
from evaltui.core.study import StudyInfo
from evaltui.core.tally import Tally
from evaltui.report.arms import (
    ArmNumbers,
    RunNumbers,
    Scoring,
    excess_summary,
    known_latencies,
    last_finish,
    told_flips,
    told_latency,
)
from evaltui.report.build import Runs, assemble, scoring_of
from evaltui.report.comparisons import (
    LEVEL,
    Clusters,
    PairNumbers,
    cluster_categories,
    over_runs,
    told_categories,
    unwatched,
)
from evaltui.report.pace import time_left
from evaltui.report.summary import CategorySummary, ExcessSummary, RunSummary, Summary
from evaltui.stats import excess, flips, intervals
from evaltui.stats.cross_check import clustering_check
from evaltui.stats.forecast import Forecast, forecast
from evaltui.stats.interval import Interval
from evaltui.stats.live import paired_means
from evaltui.stats.sample import mean
from evaltui.stats.sequence import over_passes, pass_differences

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


def summarise(
    info: StudyInfo,
    grid: Grid,
    tally: Tally,
    *,
    categories: Sequence[str | None],
    clusters: Sequence[str | None],
    now: float,
    item_ids: Sequence[str],
) -> Summary:
    """The report of a study as it stands: a function of the cells and calls, not of the order in which they came."""
    design = info.design
    scoring = scoring_of(design)
    added = contributions(grid.status, grid.score, scoring.policy, scoring.score_range)
    numbers = [arm_numbers(arm, grid, added[arm], scoring) for arm in range(len(design.arm_names))]
    grouping = clusters if any(cluster is not None for cluster in clusters) else None
    first = design.arm_names.index(design.baseline)
    pairings = {arm: pair(grid, added, first, arm) for arm in range(len(numbers)) if arm != first}

    def numbers_of(other: int, runs: Runs) -> PairNumbers:
        return pair_numbers(
            grid,
            added,
            pairings[other],
            arms=(first, other),
            runs=runs,
            interleaved=design.schedule == "interleaved",
            clusters=grouping,
        )

    return assemble(
        info,
        grid,
        tally,
        numbers,
        pairs=numbers_of,
        categories=lambda other: by_category(pairings[other], categories, grouping),
        time_left=lambda remaining: time_left(grid.finished, remaining, now),
        item_ids=item_ids,
        clustered=grouping is not None,
    )


def arm_numbers(arm: int, grid: Grid, added: NDArray[np.float64], scoring: Scoring) -> ArmNumbers:
    """The numbers of one arm by their definition. ``added`` (items, repeats) holds each cell's contribution.

    Flips are over the verdicts in the finished prefix of each run, so that fast items do not lead them.
    """
    complete = grid.complete(arm)
    reached = np.arange(grid.n_items)[:, None] < grid.prefix(arm)[None, :]
    by_score = _score_codes(arm, grid)
    return ArmNumbers(
        runs=tuple(_run(arm, repeat, grid, scoring) for repeat in range(1, grid.repeats + 1)),
        flips=told_flips(
            flips.flips(np.where(reached, verdict_codes(arm, grid), -1)),
            flips.flips(np.where(reached, by_score, -1)),
            flips.text_changes(np.where(reached, grid.text[arm], -1)),
        ),
        repeated=excess.same_texts(grid.text[arm][:, complete]),
        excess=_excess(np.ascontiguousarray(added[:, complete]).tobytes(), int(complete.sum())),
    )


def _run(arm: int, repeat: int, grid: Grid, scoring: Scoring) -> RunNumbers:
    column = repeat - 1
    prefix = int(grid.prefix(arm)[column])
    terminal = grid.status[arm, :, column] != PENDING_CODE
    return RunNumbers(
        result=score_cells(
            grid.status[arm, :prefix, column],
            grid.score[arm, :prefix, column],
            n_planned=grid.n_items,
            policy=scoring.policy,
            score_range=scoring.score_range,
        ),
        retries=int(np.maximum(grid.attempts[arm, terminal, column].astype(np.int64) - 1, 0).sum()),
        latency=told_latency(np.sort(known_latencies(grid.latency[arm, terminal, column]))),
        finished=last_finish(grid, arm, column),
    )


def verdict_codes(arm: int, grid: Grid) -> NDArray[np.int64]:
    """The verdict of each cell as flips compare it: its label, or its score where the scorer gave none; -1: missing.

    Shape (items, repeats). Only cells that carry a score have a verdict.
    """
    by_score = _score_codes(arm, grid)
    carries = by_score >= 0
    labelled = carries & (grid.label[arm] >= 0)
    codes = np.where(labelled, grid.label[arm], -1).astype(np.int64)
    unlabelled = carries & ~labelled
    codes[unlabelled] = len(grid.labels) + by_score[unlabelled]
    return codes


def _score_codes(arm: int, grid: Grid) -> NDArray[np.int64]:
    """The score of each cell as a code, equal for equal scores; -1 where a cell carries none."""
    carries = scored(grid.status[arm], grid.score[arm])
    codes = np.full(carries.shape, -1, dtype=np.int64)
    if carries.any():
        codes[carries] = np.unique(grid.score[arm][carries], return_inverse=True)[1].reshape(-1)
    return codes


@lru_cache(maxsize=8)
def _excess(contributed: bytes, repeats: int) -> ExcessSummary:
    """Remembered, because the permutation test takes long and complete runs rarely change from step to step."""
    return excess_summary(np.frombuffer(contributed).reshape(-1, repeats) if repeats else np.empty((0, 0)))


def pair_numbers(
    grid: Grid,
    added: NDArray[np.float64],
    pairing: Pairing,
    *,
    arms: tuple[int, int],
    runs: tuple[Sequence[RunSummary], Sequence[RunSummary]],
    interleaved: bool,
    clusters: Clusters | None,
) -> PairNumbers:
    """The numbers of two paired arms by their definition. ``added`` (arms, items, repeats) holds contributions.

    ``arms`` are the two indices, ``runs`` those of both arms, ``clusters`` names the cluster of each item, None where
    items stand alone. Runs are paired by repeat when the schedule was ``interleaved``.
    """
    paired = pairing.paired
    both = added[list(arms)]
    run, complete = over_runs(lambda repeat: paired_means(both[:, :, repeat - 1]), runs, interleaved)
    counted = np.where(grid.counted(*arms)[None], both, np.nan)
    watched = watch(both, grid.frontier(*arms), interleaved=interleaved, clustered=clusters is not None)
    values, theirs = pairing.difference[paired], _of_paired(clusters, paired)
    item = intervals.item_interval(values, level=LEVEL, clusters=theirs)
    check = None if clusters is None else clustering_check(values, item, clusters=theirs, declared=clusters)
    return PairNumbers(
        item=item,
        check=check,
        run=run,
        complete=complete,
        fixed=intervals.fixed_items_interval(counted[0][paired], counted[1][paired], level=LEVEL),
        sequence=watched[0],
        forecast=watched[1],
        means=_means(pairing),
        n_items=pairing.n_items,
        n_in_flight=pairing.n_in_flight,
        n_left_out=pairing.n_left_out,
        gained=pairing.gained,
        lost=pairing.lost,
        repeats=int(np.count_nonzero((~np.isnan(counted)).all(axis=0).any(axis=0))),
    )


def watch(
    both: NDArray[np.float64], frontier: NDArray[np.int64], *, interleaved: bool, clustered: bool
) -> tuple[Interval, Forecast]:
    """Sequence over passes and forecast. ``both`` (2, items, repeats) holds contributions in the planned order."""
    if clustered:
        return unwatched()
    _, n, k = both.shape
    passes = pass_differences(both[0], both[1], frontier)
    sequence = over_passes(passes, planned=max(n, 2), planned_passes=k, level=LEVEL)
    return sequence, forecast(both[0], both[1], frontier, paired=interleaved, level=LEVEL)


def by_category(pairing: Pairing, categories: Sequence[str | None], clusters: Clusters | None) -> list[CategorySummary]:
    """The difference within each category, with a t interval of its own; unnamed items are left out."""
    if clusters is not None:
        return cluster_categories(pairing.difference, categories, clusters)
    members = {
        name: pairing.difference[
            [paired and each == name for paired, each in zip(pairing.paired, categories, strict=True)]
        ]
        for name in {name for name in categories if name is not None}
    }
    found = {name: values for name, values in members.items() if len(values)}
    return told_categories(
        {name: intervals.item_t(values, level=LEVEL) for name, values in found.items()},
        {name: len(values) for name, values in found.items()},
    )


def in_flight_of_others(calls: Sequence[Call], arm: int, repeats: int) -> list[float | None]:
    """What marks a run whose calls in flight were others, straight from the calls."""
    own = {
        repeat: [call for call in calls if (call.arm, call.repeat) == (arm, repeat)] for repeat in range(1, repeats + 1)
    }
    means = {
        repeat: float(np.mean(known))
        for repeat, made in own.items()
        if len(made) >= 20 and (known := [call.in_flight for call in made if call.in_flight])
    }
    marks: list[float | None] = []
    for repeat in own:
        others = [each for other, each in means.items() if other != repeat]
        usual = float(np.median(others)) if repeat in means and len(others) >= 2 else None
        apart = usual is not None and abs(means[repeat] - usual) >= 1.0
        marks.append(usual if usual and apart and not 0.75 <= means[repeat] / usual <= 1.33 else None)
    return marks


def requests_differ(calls: Sequence[Call], arm: int) -> int:
    """How many items of an arm have calls with two different requests."""
    asked: dict[int, set[int]] = {}
    for call in calls:
        if call.arm == arm and call.request:
            asked.setdefault(call.position, set()).add(call.request)
    return sum(len(requests) > 1 for requests in asked.values())


def _of_paired(clusters: Clusters | None, paired: NDArray[np.bool_]) -> Clusters | None:
    return None if clusters is None else [clusters[place] for place in np.flatnonzero(paired).tolist()]


def _means(pairing: Pairing) -> tuple[float, float] | None:
    if not pairing.n_items:
        return None
    paired = pairing.paired
    return mean(pairing.baseline[paired].tolist()), mean(pairing.candidate[paired].tolist())
