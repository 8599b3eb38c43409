"""How long the interval of a paired mean difference takes: resampled in several ways, and computed exactly.

    python bench/intervals.py [--quick]

Median times in milliseconds for B = 10,000 resamples where there are any. The plain loop is timed over few resamples
and scaled up to B, so its times are marked ~. Goals are printed with whether they were met on this machine.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evaltui.stats.bootstrap import histogram_interval, mean_interval
from evaltui.stats.live import LivePair

B = 10_000
SIZES = (200, 2_000, 20_000, 200_000)
REPEATS = (1, 5, 10)
BATCH = 250
MOST_RESAMPLED = 2 * 10**7
"""Resampled item draws at once, so that memory stays in bounds."""

Floats = NDArray[np.float64]


def study(n: int, k: int, seed: int = 1) -> Floats:
    """0/1 contributions of two arms, (2, n, k), the candidate a little better."""
    rng = np.random.default_rng(seed)
    p = rng.beta(4, 1.2, size=n)[None, :, None]
    shift = np.array([0.0, 0.02])[:, None, None]
    passed: Floats = (rng.random((2, n, k)) < np.clip(p + shift, 0, 1)).astype(np.float64)
    return passed


def median_ms(work: Callable[..., object], *given: object, least: int, budget_s: float) -> float:
    """Median ms of ``work(*given)``: ``least`` calls, more while ``budget_s`` lasts, after one uncounted."""
    work(*given)
    times: list[float] = []
    until = time.perf_counter() + budget_s
    while len(times) < least or (time.perf_counter() < until and len(times) < 200):
        start = time.perf_counter()
        work(*given)
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def plain_loop(d: list[float], resamples: int) -> list[float]:
    """As it is written first: a loop over resamples, a loop over items."""
    rng = random.Random(1)
    n = len(d)
    means = []
    for _ in range(resamples):
        total = 0.0
        for _ in range(n):
            total += d[rng.randrange(n)]
        means.append(total / n)
    return sorted(means)


def choices(d: list[float], resamples: int) -> list[float]:
    """The fastest that Python does without numpy: a resample is one call."""
    rng = random.Random(1)
    n = len(d)
    return sorted(sum(rng.choices(d, k=n)) / n for _ in range(resamples))


def scipy_percentile(d: Floats) -> object:
    from scipy.stats import bootstrap

    batch = max(1, min(B, MOST_RESAMPLED // len(d)))
    return bootstrap((d,), np.mean, n_resamples=B, vectorized=True, method="percentile", batch=batch)


def indexed(d: Floats) -> Floats:
    rng = np.random.default_rng(1)
    n = len(d)
    chunk = max(1, min(B, MOST_RESAMPLED // n))
    means = [d[rng.integers(0, n, (min(chunk, B - at), n))].mean(axis=1) for at in range(0, B, chunk)]
    bounds: Floats = np.quantile(np.concatenate(means), [0.025, 0.975])
    return bounds


def multinomial(d: Floats) -> Floats:
    values, counts = np.unique(d, return_counts=True)
    drawn = np.random.default_rng(1).multinomial(len(d), counts / len(d), size=B)
    bounds: Floats = np.quantile(drawn @ values / len(d), [0.025, 0.975])
    return bounds


def live_ns(added: Floats, batch: int, *, intervals: bool) -> float:
    """Nanoseconds a cell, the median of whole studies that arrive, after one uncounted."""
    passes = max(5, 20_000 // added.size)
    return statistics.median([_arrive(added, batch, intervals) for _ in range(1 + passes)][1:])


def _arrive(added: Floats, batch: int, intervals: bool) -> float:
    """Nanoseconds a cell for a whole study that arrives a little out of order, with or without an interval a batch."""
    _, n, k = added.shape
    arm, position, column = (axis.ravel() for axis in np.indices(added.shape))
    order = np.argsort(position + np.random.default_rng(2).random(len(position)) * 64, kind="stable")
    arm, position, repeat, value = arm[order], position[order], column[order] + 1, added.ravel()[order]
    live = LivePair(n, k)
    start = time.perf_counter()
    for at in range(0, len(arm), batch):
        rows = slice(at, at + batch)
        live.update(arm[rows], position[rows], repeat[rows], value[rows])
        if intervals:
            live.interval()
    return 1e9 * (time.perf_counter() - start) / len(arm)


def mid_run(n: int, k: int) -> Floats:
    """Item differences while the repeats stand at different places: denominators from 1 to k."""
    added = study(n, k)
    ends = np.linspace(n, n // 3, k).astype(np.int64)
    counted = np.where(np.arange(n)[:, None] < ends, added, np.nan)
    means = np.nanmean(counted, axis=2)
    difference: Floats = means[1] - means[0]
    return difference


def goal(text: str, value: float, limit: float, unit: str, *, at_least: bool = False) -> None:
    met = value >= limit if at_least else value <= limit
    limits = f"goal: {'>=' if at_least else '<='} {limit:,g}"
    print(f"  {'met' if met else 'NOT MET':7}  {text}: {value:,.3g} {unit} ({limits})")


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    sizes = SIZES[:2] if quick else SIZES
    print("ms for one interval; ~: scaled up from fewer resamples; 'histogram' is ours from distinct values and counts")
    heads = ("n", "k", "~loop", "~choices", "scipy", "indexing", "multinom", "ours", "histogram", "x scipy", "x loop")
    print("".join(f"{head:>11}" for head in heads))
    ratios: dict[tuple[int, int], tuple[float, float]] = {}
    largest = 0.0
    for n in sizes:
        for k in (5,) if quick else REPEATS:
            means = study(n, k).mean(axis=2)
            d = means[1] - means[0]
            listed, few = d.tolist(), max(2, 200_000 // n)
            loop = median_ms(plain_loop, listed, few, least=3, budget_s=0) * B / few
            chosen = median_ms(choices, listed, few, least=3, budget_s=0) * B / few
            times = 1 if n > 2_000 else 3
            theirs = median_ms(scipy_percentile, d, least=times, budget_s=0) if n < 200_000 else math.nan
            index = median_ms(indexed, d, least=times, budget_s=0) if n < 200_000 else math.nan
            many = median_ms(multinomial, d, least=3, budget_s=0)
            ours = median_ms(mean_interval, d, least=20, budget_s=0.3)
            values, counts = np.unique(d, return_counts=True)
            histogram = median_ms(histogram_interval, values, counts, least=20, budget_s=0.3)
            largest = max(largest, histogram)
            ratios[n, k] = theirs / ours, loop / ours
            row = (loop, chosen, theirs, index, many, ours, histogram, *ratios[n, k])
            print(f"{n:11,}{k:11}" + "".join(f"{value:11,.{3 if value < 10 else 0}f}" for value in row))
    print("\nmid-run, unequal repeats, k = 10 (ms for one interval)")
    slowest = 0.0
    for n in sizes:
        d = mid_run(n, 10)
        took = median_ms(mean_interval, d, least=10, budget_s=0.3)
        slowest = max(slowest, took)
        print(f"{n:8,}     {len(np.unique(d)):5,} distinct differences  {took:8.3f}")
    print(f"\nlive, cells in batches of {BATCH} and of 1,000, k = 5 (ns a cell; with an interval after each batch)")
    update = 0.0
    for n in sizes:
        added = study(n, 5)
        small, with_interval = live_ns(added, BATCH, intervals=False), live_ns(added, BATCH, intervals=True)
        big = live_ns(added, 1_000, intervals=False)
        update = max(update, small)
        print(f"{n:8,}     {small:8.0f} ({with_interval:,.0f})   {big:8.0f}")
    print("\ngoals")
    goal("n = 2,000, k = 5 against scipy's vectorised percentile", ratios[2_000, 5][0], 500, "times", at_least=True)
    goal("n = 2,000, k = 5 against the plain loop", ratios[2_000, 5][1], 15_000, "times", at_least=True)
    goal(f"n = {sizes[-1]:,} from the histogram, slowest k", largest, 1, "ms")
    goal("mid-run with unequal repeats, slowest n", slowest, 8, "ms")
    goal("live update a cell", update / 1000, 1, "us")


if __name__ == "__main__":
    main()
