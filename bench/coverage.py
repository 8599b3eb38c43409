"""How often the intervals are wrong when there is nothing to find, how wide they are, and how true the forecast is.

    python bench/coverage.py [--quick] [--output docs/statistics.md] [--seed 1] [--processes 2]

Studies are simulated and handed to the functions that the program itself uses. Items have pass probabilities
Beta(4, 1.2). "Shift": every run moves as a whole by a normal logit amount of that sd (0.06 is about 1 point, 0.3
about 5); "own": each arm's runs separately; "shared": both arms of a repeat together. "Items differ": each item is
easier or harder for either arm by a normal logit amount of the sd given, without a difference on average. Rates are in
percent with their Monte Carlo standard error. What is above its limit by more than three of those errors is marked
VIOLATED, and the exit code is then 1. What is above it by less is marked "above": this run alone does not show on which
side of the limit the true rate lies. A column without a limit is there to be compared with.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from coverage_page import Table, around, put_into, verdict
from numpy.typing import NDArray
from scipy.special import expit, logit

from evaltui.stats.bootstrap import mean_interval
from evaltui.stats.forecast import forecast
from evaltui.stats.interval import Interval
from evaltui.stats.intervals import (
    FEW_CLUSTERS,
    fixed_items_interval,
    headline,
    item_interval,
    item_sem,
    item_t,
    run_interval,
)
from evaltui.stats.sequence import betting, confidence_sequence, over_passes

Floats = NDArray[np.float64]
Generator = np.random.Generator

SHIFTS = {
    "none": (0.0, "own"),
    "0.06 own": (0.06, "own"),
    "0.06 shared": (0.06, "shared"),
    "0.3 own": (0.3, "own"),
    "0.3 shared": (0.3, "shared"),
}
SIZES = (30, 200, 2000)
REPEATS = (1, 3, 5, 10)
PER_POINT = 0.149  # mean of p (1 - p) under Beta(4, 1.2): how far a logit moves the mean pass probability
CHUNKS = 16


def simulate(
    rng: Generator, n: int, k: int, *, shift: str = "none", differ: float = 0.0, effect: float = 0.0
) -> tuple[Floats, Floats]:
    """Scores (n, k) of a baseline and a candidate; ``effect`` and ``differ`` in logits."""
    sd, whose = SHIFTS[shift]
    items = logit(rng.beta(4, 1.2, n))[:, None]
    runs = sd * rng.standard_normal((2, k))
    if whose == "shared":
        runs[1] = runs[0]
    arms = []
    for arm in (0, 1):
        own = differ * rng.standard_normal((n, 1)) if differ else 0.0
        chance = expit(items + own + runs[arm] + arm * effect)
        arms.append((rng.random((n, k), dtype=np.float32) < chance).astype(np.float64))
    return arms[0], arms[1]


def spread_out(pool: Executor, task: Callable[[Generator, int], Floats], studies: int, seed: Sequence[int]) -> Floats:
    """``task(rng, studies)`` in chunks over the processes; the same numbers whatever their number."""
    return np.concatenate([part.result() for part in _submit(pool, task, studies, seed)])


def _submit(
    pool: Executor, task: Callable[[Generator, int], Floats], studies: int, seed: Sequence[int]
) -> list[Future[Floats]]:
    sizes = [studies // CHUNKS + (place < studies % CHUNKS) for place in range(CHUNKS)]
    return [pool.submit(task, np.random.default_rng([*seed, place]), size) for place, size in enumerate(sizes) if size]


def wrong_and_wide(interval: Interval) -> tuple[float, float]:
    return float(interval.excludes(0.0)), interval.half_width if interval.half_width is not None else math.nan


def one_setting(n: int, k: int, shift: str, differ: float, rng: Generator, studies: int) -> Floats:
    """(studies, 2 x intervals): wrong and half-width of each interval in the order of ``INTERVALS``."""
    found = np.full((studies, 2 * len(INTERVALS)), np.nan)
    for study in range(studies):
        baseline, candidate = simulate(rng, n, k, shift=shift, differ=differ)
        d = (candidate - baseline).mean(axis=1)
        item = item_interval(d)
        percentile = item if n >= 50 else mean_interval(d)
        intervals = [item, item_t(d), percentile]
        if k > 1:
            means = baseline.mean(axis=0), candidate.mean(axis=0)
            paired, welch = (run_interval(*means, paired=each) for each in (True, False))
            noise = fixed_items_interval(baseline, candidate)
            intervals += [
                paired,
                welch,
                headline(item, paired, k=k).interval,
                headline(item, paired, k=k, noise=noise).interval,
                headline(item, welch, k=k, noise=noise).interval,
            ]
        flat = [number for each in intervals for number in wrong_and_wide(each)]
        found[study, : len(flat)] = flat
    return found


INTERVALS = ("item", "t", "percentile", "paired", "welch", "wider", "headline", "unpaired headline")
_WHERE = {name: place for place, name in enumerate(INTERVALS)}


def interval_tables(pool: Executor, studies: int, seed: int) -> Iterator[Table]:
    """Type-I error and width over the grid of shifts, n and k, and over parts of it with items that differ."""
    errors = (
        "Type-I error in percent / mean half-width in points, of a nominal 5 % test. Limits: item interval 6 where "
        "runs do not move apart (none, shared); paired runs and Welch 6 where items do not differ (they are about "
        "exactly these items, which do differ otherwise); headline 6 everywhere from k = 3 on, paired and Welch (where "
        "the arms were not interleaved). 'Wider of two': what leads where the noise of single answers is not known; "
        "no limit. 'x item': width of the headline beside the item interval."
    )
    columns = [
        "n",
        "k",
        "shift",
        "item",
        "paired runs",
        "Welch runs",
        "wider of two",
        "headline",
        "x item",
        "headline, Welch",
    ]
    for title, differ, sizes, repeats in (
        ("Intervals: no true difference", 0.0, SIZES, REPEATS),
        ("Intervals: items differ (0.5), none on average", 0.5, (200, 2000), (3, 10)),
        ("Intervals: items differ much (1.5), none on average", 1.5, (200,), (3, 10)),
    ):
        table = Table(title, errors, columns)
        for n in sizes:
            for k in repeats:
                for shift in SHIFTS:
                    place = (seed, n, k, list(SHIFTS).index(shift), int(10 * differ))
                    found = spread_out(pool, partial(one_setting, n, k, shift, differ), studies, place)
                    table.rows.append(_interval_row(table, n, k, shift, found, differ))
        yield table


def _interval_row(table: Table, n: int, k: int, shift: str, found: Floats, differ: float) -> list[str]:
    where = f"n {n}, k {k}, {shift}"

    def cell(name: str, limit: float | None) -> str:
        wrong, half = found[:, 2 * _WHERE[name]], found[:, 2 * _WHERE[name] + 1]
        if np.isnan(wrong).all():
            return "-"
        return f"{table.rate(wrong, limit, f'{name}, {where}')} / {100 * np.nanmean(half):.2f}"

    fits = 6.0 if "own" not in shift else None
    about_these = 6.0 if not differ else None
    row = [str(n), str(k), shift, cell("item", fits), cell("paired", about_these), cell("welch", about_these)]
    if k < 3:
        return [*row, "-", "-", "-", "-"]
    width = [np.nanmean(found[:, 2 * _WHERE[name] + 1]) for name in ("headline", "item")]
    wider = cell("wider", None)
    return [*row, wider, cell("headline", 6.0), f"{width[0] / width[1]:.2f}", cell("unpaired headline", 6.0)]


def small(k: int, loss: float, rng: Generator, studies: int) -> Floats:
    """(studies, 2): whether t and the percentile bootstrap are wrong at n = 30; ``loss`` of the answers is lost."""
    found = np.empty((studies, 2))
    for study in range(studies):
        d, truth = lossy(rng, 30, k, loss)
        last = d[:, -1]
        found[study] = item_interval(last).excludes(truth), mean_interval(last).excludes(truth)
    return found


def small_table(pool: Executor, studies: int, seed: int) -> Table:
    """Why t below 50 items."""
    about = (
        "Percent of studies whose interval excludes the truth at n = 30, independent flips; limit 6 for t, which is "
        "the item interval there. 'drop': the candidate loses 10 % of its answers."
    )
    table = Table("Small n: t holds", about, ["k", "truth", "t over items", "percentile bootstrap"])
    for k in REPEATS:
        for loss, truth in ((0.0, "no difference"), (0.1, "drop")):
            found = spread_out(pool, partial(small, k, loss), studies, (seed, 301, k, int(100 * loss)))
            t, percentile = found.T
            table.rows.append([str(k), truth, table.rate(t, 6.0, f"k {k}, {truth}"), table.rate(percentile, None, "")])
    return table


def clustered(groups: int, size: int, rng: Generator, studies: int) -> Floats:
    """(studies, 2): whether the item interval with and without clusters is wrong; each arm moves each cluster."""
    codes = np.repeat(np.arange(groups), size)
    found = np.empty((studies, 2))
    for study in range(studies):
        items = logit(rng.beta(4, 1.2, groups * size))
        moved = [items + 0.7 * rng.standard_normal(groups)[codes] for _ in (0, 1)]
        a, b = ((rng.random(groups * size) < expit(each)).astype(np.float64) for each in moved)
        found[study] = item_interval(b - a, clusters=codes).excludes(0.0), item_interval(b - a).excludes(0.0)
    return found


def cluster_table(pool: Executor, studies: int, seed: int) -> Table:
    about = (
        "Type-I error in percent of the item interval when items of a cluster move together (logit sd 0.7 per arm), "
        f"k = 1. Below {FEW_CLUSTERS} clusters it is t over clusters. Limits: 6 where it is t and from 100 clusters "
        f"on; 7 between, because with {FEW_CLUSTERS} clusters the percentile interval is itself wrong in about 6 %."
    )
    table = Table("Clusters", about, ["clusters", "items each", "with clusters", "clusters ignored"])
    for groups, size in ((6, 20), (15, 20), (20, 20), (30, 20), (40, 20), (100, 20), (400, 5)):
        found = spread_out(pool, partial(clustered, groups, size), studies, (seed, 401, groups))
        limit = 7.0 if FEW_CLUSTERS <= groups < 100 else 6.0
        row = [str(groups), str(size), table.rate(found[:, 0], limit, f"{groups} clusters")]
        table.rows.append([*row, table.rate(found[:, 1], None, "")])
    return table


def lossy(rng: Generator, n: int, k: int, loss: float) -> tuple[Floats, float]:
    """Item differences (n, k) over repeats 1..r for each r, when the candidate loses a share ``loss``; their mean."""
    baseline, candidate = simulate(rng, n, k)
    candidate = np.where(rng.random((n, k)) < loss, 0.0, candidate)
    return np.cumsum(candidate - baseline, axis=1) / np.arange(1, k + 1), -loss * 4 / 5.2


def watched(n: int, k: int, effect: float, rng: Generator, studies: int) -> Floats:
    """(studies, 6): ever wrong from item 20 on (fixed interval, asymptotic, betting, over passes); two widths."""
    found = np.empty((studies, 6))
    looks = np.arange(20, n + 1)
    for study in range(studies):
        d, truth = lossy(rng, n, k, effect)
        last = d[:, -1]
        mean = np.cumsum(last)[looks - 1] / looks
        square = np.cumsum(last**2)[looks - 1] / looks - mean**2
        fixed = bool((np.abs(mean - truth) > 1.959964 * np.sqrt(square / (looks - 1))).any())
        passes = [d[:, place] for place in range(k)]
        one = confidence_sequence(last, planned=n)
        bet = betting(last, planned=n, bounds=(-1, 1))
        several = over_passes(passes, planned=n, planned_passes=k)
        final = item_sem(last).half_width or math.nan
        found[study] = [
            fixed,
            *(not each.known or each.excludes(truth) for each in (one, bet, several)),
            (one.half_width or math.nan) / final,
            (several.half_width or math.nan) / final,
        ]
    return found


def sequence_table(pool: Executor, studies: int, seed: int) -> Table:
    about = (
        "Percent of studies in which the interval excluded the truth at some look from item 20 on; an intersection "
        "that came out empty counts as wrong. Limit 5. Widths are those of the running intersection at the planned n, "
        "beside the fixed-n interval. 'drop': the candidate loses 3 % of its answers."
    )
    columns = ["n", "k", "truth", "fixed 95 %, watched", "asymptotic", "betting", "over passes", "width", "over passes"]
    table = Table("Watching", about, columns)
    for n in SIZES:
        for k, effect in ((1, 0.0), (1, 0.03), (5, 0.0), (10, 0.0)):
            found = spread_out(pool, partial(watched, n, k, effect), studies, (seed, 501, n, k, int(100 * effect)))
            where = f"n {n}, k {k}"
            row = [str(n), str(k), "drop" if effect else "no difference", table.rate(found[:, 0], None, "")]
            for column, name in ((1, "asymptotic"), (2, "betting"), (3, "over passes")):
                row.append(table.rate(found[:, column], 5.0, f"{name}, {where}"))
            widths = [f"{np.nanmean(found[:, column]):.2f}" for column in (4, 5)]
            table.rows.append([*row, *widths])
    return table


FORECAST_LOOKS = 4


def forecasts(shift: str, rng: Generator, studies: int) -> Floats:
    """(forecasts, 2): probability at a random moment of a study, and whether its finished headline excluded zero."""
    found = []
    for _ in range(studies):
        n, k = int(rng.choice([200, 2000])), int(rng.choice([1, 3, 5]))
        effect = rng.normal(0, 0.02) / PER_POINT if rng.random() < 0.5 else 0.0
        baseline, candidate = simulate(rng, n, k, shift=shift, effect=effect)
        run = run_interval(baseline.mean(axis=0), candidate.mean(axis=0), paired=True)
        item = item_interval((candidate - baseline).mean(axis=1))
        lead = headline(item, run, k=k, noise=fixed_items_interval(baseline, candidate))
        for moment in rng.random(FORECAST_LOOKS):
            frontier = np.clip(int(moment * n * k) - n * np.arange(k), 0, n)
            probability = forecast(baseline, candidate, frontier).probability
            if probability is not None:
                found.append((probability, float(lead.interval.excludes(0.0))))
    return np.array(found).reshape(-1, 2)


def forecast_table(pool: Executor, studies: int, seed: int, *, shift: str, limit: float | None, fewest: int) -> Table:
    """Forecast and frequency in each tenth; one with fewer than ``fewest`` forecasts is a fault of this run."""
    about = (
        "Forecasts at random moments of studies of 200 or 2,000 items and 1, 3 or 5 repeats, half without an effect, "
        "half with one of normal size, sd 2 points. "
        + (f"Limit: {limit:g} points apart in each tenth." if limit is not None else "No limit.")
    )
    columns = ["tenth", "forecasts", "mean forecast %", "came true %"]
    table = Table(f"Forecast, shift {shift}", about, columns)
    found = spread_out(pool, partial(forecasts, shift), studies, (seed, 601, list(SHIFTS).index(shift)))
    tenths = np.minimum((10 * found[:, 0]).astype(int), 9)
    for tenth in range(10):
        inside = found[tenths == tenth]
        name = f"{tenth / 10:.1f}"
        if len(inside) < max(1, fewest):
            table.violations.append(f"{table.title}: tenth {name}: only {len(inside)} forecasts")
        if not len(inside):
            table.rows.append([name, "0", "-", "-"])
            continue
        mean, share = 100 * inside.mean(axis=0)
        error = 50 / math.sqrt(len(inside) / FORECAST_LOOKS)  # looks at one study are not independent
        came = f"{share:.1f} ±{error:.1f}"
        if limit is not None:
            where = f"tenth {name}: {mean:.1f} forecast, {came} came true: the distance"
            came = table.judged(came, abs(mean - share), error, limit, where)
        table.rows.append([name, str(len(inside)), f"{mean:.1f}", came])
    return table


def tables(pool: Executor, quick: bool, seed: int) -> Iterator[Table]:
    """Every table, in the order of docs/statistics.md."""
    yield from interval_tables(pool, 200 if quick else 4500, seed)
    yield small_table(pool, 500 if quick else 20000, seed)
    yield cluster_table(pool, 500 if quick else 6000, seed)
    yield sequence_table(pool, 200 if quick else 2000, seed)
    fewest = 0 if quick else 1000
    yield forecast_table(pool, 2500 if quick else 40000, seed, shift="none", limit=5.0, fewest=fewest)
    yield forecast_table(pool, 800 if quick else 24000, seed, shift="0.06 own", limit=None, fewest=fewest)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few studies a cell, under a minute on 2 cores")
    parser.add_argument("--output", type=Path, help="write the tables into this page as well, between its two marks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.output:
        around(options.output)  # a page that cannot be written into is told of before the work, not after it
    start = time.perf_counter()
    made: list[Table] = []
    with ProcessPoolExecutor(options.processes) as pool:
        for table in tables(pool, options.quick, options.seed):
            print(table.markdown(), flush=True)
            print(f"({time.perf_counter() - start:.0f} s so far)\n", file=sys.stderr)
            made.append(table)
    print(verdict(made))
    if options.output:
        quick = " --quick" if options.quick else ""
        command = f"Made by `python bench/coverage.py{quick} --seed {options.seed} --output {options.output}`."
        about = (__doc__ or "").split("\n\n", 2)[2].strip()
        parts = [command, about, verdict(made), *(table.markdown().strip() for table in made)]
        put_into(options.output, "\n\n".join(parts))
    return 1 if any(table.violations for table in made) else 0


if __name__ == "__main__":
    sys.exit(main())
