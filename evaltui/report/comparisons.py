"""The baseline against another arm: difference, intervals, which of them leads, and the categories within."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaltui.report.arms import bounds
from evaltui.report.sentence import comparison_sentence
from evaltui.report.summary import (
    ArmSummary,
    CategorySummary,
    CheckSummary,
    ComparisonSummary,
    Headline,
    IntervalSummary,
    Mark,
    RunSummary,
)
from evaltui.stats import intervals
from evaltui.stats.cross_check import CrossCheck, clustering_check
from evaltui.stats.forecast import Forecast
from evaltui.stats.interval import Interval
from evaltui.stats.multiplicity import benjamini_hochberg, holm
from evaltui.stats.t_test import t_test

LEVEL = 0.95
DOUBTFUL_CLUSTERS = "check the clustering"
FINISHED = "the study is finished"

Clusters = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class PairNumbers:
    """What the counted cells of two arms say.

    ``repeats`` have an item that counts in both arms, ``complete`` is how many of them the run interval rests on.
    ``check`` is the cross-check of ``item``, None where items do not come in clusters.
    """

    item: Interval
    check: CrossCheck | None
    run: Interval
    complete: int
    fixed: Interval
    sequence: Interval
    forecast: Forecast
    means: tuple[float, float] | None
    n_items: int
    n_in_flight: int
    n_left_out: int
    gained: int
    lost: int
    repeats: int


def compare(
    numbers: PairNumbers,
    baseline: ArmSummary,
    candidate: ArmSummary,
    *,
    marks: tuple[Mark, ...] = (),
    finished: bool = False,
) -> ComparisonSummary:
    """Tell the numbers of two arms: which interval leads, and what it says. ``marks`` go with the result.

    Of a ``finished`` study nothing is foretold, and nothing may end it early.
    """
    item, run, fixed = numbers.item, numbers.run, numbers.fixed
    lead = intervals.headline(item, run, k=numbers.complete, noise=fixed)
    shown = (item, run, fixed) if lead.interval in (item, run) else (item, run, fixed, lead.interval)
    means = numbers.means
    check = None if numbers.check is None else _told_check(numbers.check)
    said = tuple(_told(each) for each in shown)
    doubts = [DOUBTFUL_CLUSTERS] if check is not None and check.note else []
    if check is not None and doubts:
        said = (replace(said[0], note="; ".join(filter(None, (check.note, said[0].note)))), *said[1:])
    return ComparisonSummary(
        baseline=baseline.name,
        candidate=candidate.name,
        difference=item.estimate,
        baseline_mean=means[0] if means else None,
        candidate_mean=means[1] if means else None,
        n_items=numbers.n_items,
        n_in_flight=numbers.n_in_flight,
        n_left_out=numbers.n_left_out,
        intervals=said,
        headline=Headline(lead.method, lead.low, lead.high, lead.why),
        sequence=_told(numbers.sequence),
        stopping="" if finished else _stopping(baseline, candidate),
        forecast=None if finished else numbers.forecast.probability,
        forecast_note=numbers.forecast.note or (FINISHED if finished else ""),
        gained=numbers.gained,
        lost=numbers.lost,
        sentence=comparison_sentence(
            baseline=baseline.name,
            candidate=candidate.name,
            means=means,
            interval=bounds(lead.interval),
            level=LEVEL,
            method=_named(lead.interval),
            why=lead.interval.note,
            n_items=numbers.n_items,
            repeats=numbers.repeats,
            complete=numbers.complete,
            next_run=candidate.band.next_run,
            marks=[mark.short for mark in marks] + doubts,
            finished=finished,
        ),
        marks=marks,
        cross_check=check,
    )


def _stopping(baseline: ArmSummary, candidate: ArmSummary) -> str:
    """What may end a study early: not the interval at every look once whole runs are seen to move."""
    measured = [(arm.name, arm.excess_spread.p) for arm in (baseline, candidate)]
    moving = [name for name, p in measured if p is not None and p < 1 - LEVEL]
    if moving:
        return (
            f"No interval may end this study early: whole runs of {' and '.join(moving)} move, which the interval at "
            "every look does not hold. Only a rule registered before the start may."
        )
    return (
        "Only the interval at every look, as long as whole runs do not move, or a rule registered before the start, "
        "may end a study early."
    )


def unwatched() -> tuple[Interval, Forecast]:
    """Sequence and forecast of items that come in clusters, which neither takes into account: unknown."""
    note = "items come in clusters, which it does not take into account"
    estimand = "items like these, at every look"
    blank = Interval(None, None, None, LEVEL, "asymptotic confidence sequence", "items", 0, estimand, note)
    return blank, Forecast(None, LEVEL, 0, note=note)


def cluster_categories(
    difference: NDArray[np.float64], categories: Sequence[str | None], clusters: Clusters
) -> list[CategorySummary]:
    """The ``difference`` (items,; NaN: not paired) within each category, with a t interval over its clusters."""
    places: dict[str, list[int]] = {}
    for place in np.flatnonzero(~np.isnan(difference)).tolist():
        name = categories[place]
        if name is not None:
            places.setdefault(name, []).append(place)
    return told_categories(
        {
            name: intervals.cluster_t(difference[members], [clusters[place] for place in members], level=LEVEL)
            for name, members in places.items()
        },
        {name: len(members) for name, members in places.items()},
    )


def told_categories(found: Mapping[str, Interval], sizes: Mapping[str, int]) -> list[CategorySummary]:
    """Categories by name with their intervals; p-values are adjusted for the number of categories."""
    named = sorted(found.items())
    tests = [t_test(interval).p for _, interval in named]
    return [
        CategorySummary(name, sizes[name], interval.estimate, interval.low, interval.high, p, q)
        for (name, interval), p, q in zip(named, holm(tests), benjamini_hochberg(tests), strict=True)
    ]


def over_runs(
    means_of: Callable[[int], tuple[float, float] | None],
    runs: tuple[Sequence[RunSummary], Sequence[RunSummary]],
    interleaved: bool,
) -> tuple[Interval, int]:
    """The run interval over complete runs, and how many repeats it rests on.

    Paired runs are compared by ``means_of`` a repeat: on the items that count in both, so that a cell missing in one of
    them moves neither mean.
    """
    complete = [{run.repeat for run in each if run.complete and run.score is not None} for each in runs]
    if interleaved:
        both = sorted(complete[0] & complete[1])
        kept = [pair for pair in map(means_of, both) if pair is not None]
        scores = ([baseline for baseline, _ in kept], [candidate for _, candidate in kept])
    else:
        scores = (_scores(runs[0]), _scores(runs[1]))
    interval = intervals.run_interval(*scores, paired=interleaved, level=LEVEL)
    return interval, min(len(scores[0]), len(scores[1]))


def _scores(runs: Sequence[RunSummary]) -> list[float]:
    return [run.score for run in runs if run.complete and run.score is not None]


def clustered(difference: NDArray[np.float64], clusters: Clusters) -> tuple[Interval, CrossCheck]:
    """The item interval of the ``difference`` (items,; NaN: not paired), and its check against the standard error.

    Whether the clusters make sense is judged on those of all items, not only of the paired ones.
    """
    paired = ~np.isnan(difference)
    values = difference[paired]
    theirs = [clusters[place] for place in np.flatnonzero(paired).tolist()]
    item = intervals.item_interval(values, level=LEVEL, clusters=theirs)
    return item, clustering_check(values, item, clusters=theirs, declared=clusters)


def _named(interval: Interval) -> str:
    return interval.method if " over " in interval.method else f"{interval.method} over {interval.unit}"


def _told_check(check: CrossCheck) -> CheckSummary:
    return CheckSummary(_told(check.sem), check.ratio, check.agrees, check.note)


def _told(interval: Interval) -> IntervalSummary:
    return IntervalSummary(
        method=interval.method,
        unit=interval.unit,
        estimand=interval.estimand,
        low=interval.low,
        high=interval.high,
        level=interval.level,
        n=interval.n,
        note=interval.note,
    )
