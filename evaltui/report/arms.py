"""One arm over its runs: scores, band, flips and excess spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaltui.core.grid import Grid
from evaltui.core.score import RunScore, ScoreRange, status_counts
from evaltui.core.study import MissingPolicy
from evaltui.core.tally import Tally
from evaltui.report.profile import beside_others, profile_notices
from evaltui.report.summary import (
    ArmSummary,
    BandSummary,
    ExcessSummary,
    FlipSummary,
    Latency,
    Notice,
    Pair,
    RunSummary,
)
from evaltui.stats import bands, excess, flips
from evaltui.stats.interval import Interval
from evaltui.stats.intervals import FEWEST_RUNS
from evaltui.stats.proportions import clopper_pearson

IN_CLUSTERS = "items come in clusters, which it does not take into account: it is too narrow"


@dataclass(frozen=True, slots=True)
class Scoring:
    """How this study turns cells into scores: the policy for missing ones and the primary scorer's range."""

    policy: MissingPolicy
    score_range: ScoreRange | None


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """What the cells of one run say. ``result`` is as of the finished prefix, the others are over terminal cells."""

    result: RunScore
    retries: int
    latency: Latency
    finished: float | None


@dataclass(frozen=True, slots=True)
class ArmNumbers:
    """What the cells of one arm say; ``repeated`` and ``excess`` are over complete runs."""

    runs: tuple[RunNumbers, ...]
    flips: FlipSummary
    repeated: excess.TextsOverRuns
    excess: ExcessSummary


def summarise_arm(
    name: str,
    arm: int,
    grid: Grid,
    tally: Tally,
    numbers: ArmNumbers,
    *,
    score_range: ScoreRange | None,
    clustered: bool = False,
) -> tuple[ArmSummary, tuple[Notice, ...]]:
    """Everything about one arm, and what has to be said about it. Mean, range and band are over complete runs.

    ``score_range`` is the primary scorer's: no run is foretold beyond it. ``clustered``: items come in clusters.
    """
    runs = beside_others([_told_run(arm, repeat, grid, tally, run) for repeat, run in enumerate(numbers.runs, start=1)])
    scores = [run.score for run in runs if run.complete and run.score is not None]
    not_repeats = numbers.repeated.note if numbers.repeated.genuine is False else ""
    spread = bands.band(scores, not_repeats=not_repeats)
    summary = ArmSummary(
        name=name,
        runs=runs,
        mean=spread.mean,
        range=spread.range,
        band=_with_sampling(_told_band(spread, score_range), runs, clustered),
        flips=numbers.flips,
        excess_spread=numbers.excess,
    )
    about = [*profile_notices(name, runs, tally.requests_differ(arm))]
    if not_repeats:
        about.insert(0, Notice("not_repeats", f"{name}: {not_repeats}; the band is not measured"))
    elif spread.k > 1 and not spread.measured:
        about.insert(0, Notice("band_not_measured", f"{name}: {spread.note}"))
    return summary, tuple(about)


def _told_band(spread: bands.Band, score_range: ScoreRange | None) -> BandSummary:
    return BandSummary(
        k=spread.k,
        mean=spread.mean,
        sd=spread.sd,
        sd_low=spread.sd_low,
        sd_high=spread.sd_high,
        z=spread.z,
        band=spread.band,
        measured=spread.measured,
        level=spread.level,
        next_run=next_run(spread, score_range),
        note=spread.note,
    )


def next_run(spread: bands.Band, score_range: ScoreRange | None) -> Pair | None:
    """Where one more run will land, at the level of the band: its prediction limits, within ``score_range`` if any.

    None below three runs, where the limits are too wide to be of use, and where the spread was not measured.
    """
    if not spread.measured or spread.mean is None or spread.k < FEWEST_RUNS:
        return None
    width = bands.new_run_limit(spread.k, spread.sd, level=spread.level).width
    if width is None:
        return None
    low, high = spread.mean - width, spread.mean + width
    if score_range is None:
        return low, high
    return max(low, min(score_range[0], spread.mean)), min(high, max(score_range[1], spread.mean))


def _told_run(arm: int, repeat: int, grid: Grid, tally: Tally, run: RunNumbers) -> RunSummary:
    return RunSummary(
        repeat=repeat,
        done=grid.done(arm, repeat),
        n_items=grid.n_items,
        score=run.result.score,
        strict=run.result.strict,
        bounds=run.result.bounds,
        counted=run.result.counted,
        counts=status_counts(grid.counts(arm, repeat)),
        retries=max(run.retries, tally.calls(arm, repeat) - grid.done(arm, repeat)),
        comparable=run.result.comparable,
        latency=run.latency,
        queue_wait_s=tally.queue_wait(arm, repeat),
        started=tally.started(arm, repeat),
        finished=run.finished,
        attempts=tally.attempts(arm, repeat),
        tokens=tally.prompt_tokens(arm, repeat) + tally.completion_tokens(arm, repeat),
        cost=tally.cost(arm, repeat),
        prompt_tokens=tally.prompt_tokens(arm, repeat),
        cached_tokens=tally.cached_tokens(arm, repeat),
        in_flight=tally.in_flight(arm, repeat),
    )


def _with_sampling(band: BandSummary, runs: Sequence[RunSummary], clustered: bool) -> BandSummary:
    """Add how far another draw of as many items would move a pass rate; nothing where scores are no rates.

    A rate of none or all has no standard error, and still is not certain: it has the exact limits.
    """
    whole = [run for run in runs if run.complete and run.score is not None and run.counted]
    rates = [run.score for run in whole if run.score is not None]
    if not rates or not all(0 <= rate <= 1 for rate in rates):
        return band
    note, n = IN_CLUSTERS if clustered else "", min(run.counted for run in whole)
    rate = sum(rates) / len(rates)
    if 0 < rate < 1:
        return replace(band, sampling=band.z * bands.sampling_band(rate, n), sampling_note=note)
    exact = clopper_pearson(n if rate else 0, n, level=band.level)
    return replace(band, sampling_limits=bounds(exact), sampling_note=note)


def bounds(interval: Interval) -> Pair | None:
    """Both ends of an interval, None where they are not known."""
    return None if interval.low is None or interval.high is None else (interval.low, interval.high)


def last_finish(grid: Grid, arm: int, column: int) -> float | None:
    """When a run ended, in seconds since the epoch; None while it is not complete."""
    done = grid.done(arm, column + 1)
    return float(np.nanmax(grid.finished[arm, :, column])) if done == grid.n_items and done else None


def known_latencies(seconds: NDArray[np.float32]) -> NDArray[np.float32]:
    known: NDArray[np.float32] = seconds[np.isfinite(seconds)]
    return known


def told_latency(known: NDArray[np.float32]) -> Latency:
    """Percentiles (linear between neighbours) of sorted finite seconds."""
    if not len(known):
        return Latency(None, None, None)
    p50, p95 = (_percentile(known, share) for share in (0.50, 0.95))
    return Latency(round(p50, 6), round(p95, 6), round(float(known[-1]), 6))


def _percentile(known: NDArray[np.float32], share: float) -> float:
    place = share * (len(known) - 1)
    below = int(place)
    low, high = float(known[below]), float(known[min(below + 1, len(known) - 1)])
    return low + (high - low) * (place - below)


def told_flips(verdicts: flips.Flips, scores: flips.Flips, text_changes: int) -> FlipSummary:
    """The flips of an arm from those of its verdicts and of its scores."""
    return FlipSummary(
        pairwise=verdicts.pairwise,
        between_runs=verdicts.between_runs,
        minority=verdicts.minority,
        items_that_flip=verdicts.items_that_flip,
        items=verdicts.items,
        text_changes=text_changes,
        expected_changes=verdicts.expected_changes,
        score_pairwise=scores.pairwise,
        score_items_that_flip=scores.items_that_flip,
    )


def excess_summary(added: NDArray[np.float64]) -> ExcessSummary:
    """Excess spread of complete runs, from their contributions (items, runs)."""
    found = excess.excess_spread(added)
    return ExcessSummary(found.ratio, found.p, found.method, found.note)
