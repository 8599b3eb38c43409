"""The baseline against another arm: difference, intervals, which of them leads, and the categories within."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaltui.core.grid import Grid
from evaltui.report.pairing import Pairing
from evaltui.report.sentence import comparison_sentence
from evaltui.report.summary import (
    ArmSummary,
    CategorySummary,
    ComparisonSummary,
    Headline,
    IntervalSummary,
    Notice,
    RunSummary,
)
from evaltui.stats import intervals
from evaltui.stats.interval import Interval
from evaltui.stats.multiplicity import holm
from evaltui.stats.t_test import t_test

LEVEL = 0.95

Clusters = Sequence[str | None]


def compare(
    grid: Grid,
    added: NDArray[np.float64],
    pairing: Pairing,
    baseline: ArmSummary,
    candidate: ArmSummary,
    *,
    arms: tuple[int, int],
    interleaved: bool,
    clusters: Clusters | None,
    marks: tuple[Notice, ...] = (),
) -> ComparisonSummary:
    """Compare two paired arms. ``added`` (arms, items, repeats) holds contributions, ``arms`` the two indices.

    ``clusters`` names the cluster of each item, None where items stand alone. Runs are paired by repeat when the
    schedule was ``interleaved``. ``marks`` go with the result.
    """
    paired = pairing.paired
    item = intervals.item_interval(pairing.difference[paired], level=LEVEL, clusters=_of(clusters, paired))
    run, k = _over_runs(added[list(arms)], (baseline.runs, candidate.runs), interleaved)
    counted = np.where(grid.counted(*arms)[None], added[list(arms)], np.nan)
    fixed = intervals.fixed_items_interval(counted[0][paired], counted[1][paired], level=LEVEL)
    lead = intervals.headline(item, run, k=k)
    means = _means(pairing)
    return ComparisonSummary(
        baseline=baseline.name,
        candidate=candidate.name,
        difference=item.estimate,
        baseline_mean=means[0] if means else None,
        candidate_mean=means[1] if means else None,
        n_items=pairing.n_items,
        n_in_flight=pairing.n_in_flight,
        n_left_out=pairing.n_left_out,
        intervals=tuple(_told(each) for each in (item, run, fixed)),
        headline=Headline(lead.method, lead.low, lead.high, lead.why),
        sequence=None,
        forecast=None,
        gained=pairing.gained,
        lost=pairing.lost,
        sentence=comparison_sentence(
            baseline=baseline.name,
            candidate=candidate.name,
            means=means,
            interval=None if lead.low is None or lead.high is None else (lead.low, lead.high),
            level=LEVEL,
            method=_named(lead.interval),
            why=lead.interval.note,
            n_items=pairing.n_items,
            repeats=int(np.count_nonzero(grid.frontier(*arms))),
        ),
        marks=marks,
    )


def by_category(pairing: Pairing, categories: Sequence[str | None], clusters: Clusters | None) -> list[CategorySummary]:
    """The difference within each category, with a t interval of its own, sorted by name; unnamed items are left out.

    p-values are adjusted (Holm) for the number of categories.
    """
    places: dict[str, list[int]] = {}
    for place in np.flatnonzero(pairing.paired).tolist():
        name = categories[place]
        if name is not None:
            places.setdefault(name, []).append(place)
    named = sorted(places.items())
    found = [_within(pairing.difference[members], members, clusters) for _, members in named]
    adjusted = holm([t_test(interval).p for interval in found])
    return [
        CategorySummary(name, len(members), interval.estimate, interval.low, interval.high, p)
        for (name, members), interval, p in zip(named, found, adjusted, strict=True)
    ]


def _within(difference: NDArray[np.float64], members: Sequence[int], clusters: Clusters | None) -> Interval:
    if clusters is None:
        return intervals.item_t(difference, level=LEVEL)
    return intervals.cluster_t(difference, [clusters[place] for place in members], level=LEVEL)


def _over_runs(
    added: NDArray[np.float64], runs: tuple[Sequence[RunSummary], Sequence[RunSummary]], interleaved: bool
) -> tuple[Interval, int]:
    """The run interval over complete runs, and how many repeats it rests on; ``added`` is (2, items, repeats).

    Paired runs are compared on the items that count in both, so that a cell missing in one of them moves neither mean.
    """
    complete = [{run.repeat for run in each if run.complete and run.score is not None} for each in runs]
    if interleaved:
        both = sorted(complete[0] & complete[1])
        means = [_paired_means(added[:, :, repeat - 1]) for repeat in both]
        kept = [pair for pair in means if pair is not None]
        scores = ([baseline for baseline, _ in kept], [candidate for _, candidate in kept])
    else:
        scores = (_scores(runs[0]), _scores(runs[1]))
    interval = intervals.run_interval(*scores, paired=interleaved, level=LEVEL)
    return interval, min(len(scores[0]), len(scores[1]))


def _paired_means(added: NDArray[np.float64]) -> tuple[float, float] | None:
    """Both arms' means over the items that contribute in both; None where there is none. ``added`` is (2, items)."""
    shared = added[:, ~np.isnan(added).any(axis=0)]
    return (float(shared[0].mean()), float(shared[1].mean())) if shared.size else None


def _scores(runs: Sequence[RunSummary]) -> list[float]:
    return [run.score for run in runs if run.complete and run.score is not None]


def _means(pairing: Pairing) -> tuple[float, float] | None:
    if not pairing.n_items:
        return None
    paired = pairing.paired
    return float(pairing.baseline[paired].mean()), float(pairing.candidate[paired].mean())


def _of(clusters: Clusters | None, paired: NDArray[np.bool_]) -> Clusters | None:
    return None if clusters is None else [clusters[place] for place in np.flatnonzero(paired).tolist()]


def _named(interval: Interval) -> str:
    return interval.method if " over " in interval.method else f"{interval.method} over {interval.unit}"


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
