"""How often the intervals are wrong when there is nothing to find, how wide they are, and how true the forecast is.

    python bench/coverage.py [--quick] [--output docs/coverage.md] [--seed 1] [--processes 2]

Studies are simulated and handed to the functions that the program itself uses. Items have pass probabilities
Beta(4, 1.2). "Shift": every run moves as a whole by a normal logit amount of that sd (0.06 is about 1 point, 0.3
about 5); "own": each arm's runs separately; "shared": both arms of a repeat together. "Items differ": each item is
easier or harder for either arm by a normal logit amount of sd 0.5, without a difference on average. Rates are in
percent with their Monte Carlo standard error. A rate above its limit is marked "above"; by more than three of those
errors VIOLATED, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from evaltui.stats.bootstrap import mean_interval
from evaltui.stats.forecast import forecast
from evaltui.stats.interval import Interval
from evaltui.stats.intervals import fixed_items_interval, headline, item_interval, item_sem, item_t, run_interval
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


@dataclass
class Table:
    """A markdown table, and what in it breaks a limit."""

    title: str
    about: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)

    def rate(self, wrong: Floats, limit: float | None, where: str) -> str:
        """``wrong`` (studies,) as a percentage with its standard error, judged against ``limit`` (a percentage)."""
        share, n = float(np.mean(wrong)), len(wrong)
        error = 100 * math.sqrt(max(share * (1 - share), 1 / n) / n)
        text = f"{100 * share:.1f} ±{error:.1f}"
        if limit is None:
            return text
        if 100 * share - 3 * error > limit:
            self.violations.append(f"{self.title}: {where}: {text} is above {limit:g}")
            return f"**{text} VIOLATED**"
        if 100 * share > limit:
            self.doubtful.append(f"{self.title}: {where}: {text} is above {limit:g}")
            return f"{text} above"
        return text

    def markdown(self) -> str:
        lines = [f"## {self.title}", "", self.about, ""]
        lines += ["| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


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
    """(studies, 14): wrong and half-width of each interval in the order of ``INTERVALS``."""
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
    """Type-I error and width over the grid of shifts, n and k, and over the same grid with items that differ."""
    errors = (
        "Type-I error in percent / mean half-width in points, of a nominal 5 % test. Limits: item interval 6 where "
        "runs do not move apart (none, shared); paired runs and Welch 6 where items do not differ (they are about "
        "exactly these items, which do differ otherwise); headline 6 everywhere from k = 3 on. 'Wider of two': what "
        "leads where the noise of single answers is not known. 'x item': width of the headline beside the item "
        "interval. 'Headline, Welch': where the arms were not interleaved."
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
        ("Intervals: items differ, none on average", 0.5, (200, 2000), (3, 10)),
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
    unpaired = cell("unpaired headline", None if "shared" in shift else 6.0)
    return [*row, wider, cell("headline", 6.0), f"{width[0] / width[1]:.2f}", unpaired]


def small_table(pool: Executor, studies: int, seed: int) -> Table:
    """Why t below 50 items."""
    about = "Type-I error in percent at n = 30, independent flips; limit 6 for t, which is the item interval there."
    table = Table("Small n: t holds", about, ["k", "t over items", "percentile bootstrap"])
    for k in REPEATS:
        found = spread_out(pool, partial(one_setting, 30, k, "none", 0.0), studies, (seed, 301, k))
        t, percentile = (found[:, 2 * _WHERE[name]] for name in ("t", "percentile"))
        table.rows.append([str(k), table.rate(t, 6.0, f"k {k}"), table.rate(percentile, None, "")])
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
        "k = 1. Below 20 clusters it is t over clusters. Limits: 6 from 100 clusters on, 7 below."
    )
    table = Table("Clusters", about, ["clusters", "items each", "with clusters", "clusters ignored"])
    for groups, size in ((6, 20), (15, 20), (20, 20), (40, 20), (100, 20), (400, 5)):
        found = spread_out(pool, partial(clustered, groups, size), studies, (seed, 401, groups))
        limit = 6.0 if groups >= 100 else 7.0
        row = [str(groups), str(size), table.rate(found[:, 0], limit, f"{groups} clusters")]
        table.rows.append([*row, table.rate(found[:, 1], None, "")])
    return table


def watched(n: int, k: int, effect: float, rng: Generator, studies: int) -> Floats:
    """(studies, 6): ever wrong from item 20 on (fixed interval, asymptotic, betting, over passes); two widths."""
    found = np.empty((studies, 6))
    truth = -effect * 4 / 5.2
    looks = np.arange(20, n + 1)
    for study in range(studies):
        baseline, candidate = simulate(rng, n, k)
        lost = rng.random((n, k)) < effect
        candidate = np.where(lost, 0.0, candidate)
        d = np.cumsum(candidate - baseline, axis=1) / np.arange(1, k + 1)
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


def forecast_table(pool: Executor, studies: int, seed: int, *, shift: str, limited: bool) -> Table:
    about = (
        "Forecasts at random moments of studies of 200 or 2,000 items and 1, 3 or 5 repeats, half without an effect, "
        "half with one of normal size, sd 2 points. "
        + ("Limit: 5 points apart in each tenth." if limited else "No limit.")
    )
    columns = ["tenth", "forecasts", "mean forecast %", "came true %"]
    table = Table(f"Forecast, shift {shift}", about, columns)
    found = spread_out(pool, partial(forecasts, shift), studies, (seed, 601, list(SHIFTS).index(shift)))
    tenths = np.minimum((10 * found[:, 0]).astype(int), 9)
    for tenth in range(10):
        inside = found[tenths == tenth]
        if not len(inside):
            table.rows.append([f"{tenth / 10:.1f}", "0", "-", "-"])
            continue
        mean, share = 100 * inside.mean(axis=0)
        error = 50 / math.sqrt(len(inside) / FORECAST_LOOKS)  # looks at one study are not independent
        came = f"{share:.1f} ±{error:.1f}"
        if limited and abs(mean - share) - 3 * error > 5:
            table.violations.append(f"{table.title}: tenth {tenth}: {mean:.1f} forecast, {came} came true")
            came = f"**{came} VIOLATED**"
        table.rows.append([f"{tenth / 10:.1f}", str(len(inside)), f"{mean:.1f}", came])
    return table


def tables(pool: Executor, quick: bool, seed: int) -> Iterator[Table]:
    """Every table, in the order of docs/statistics.md."""
    yield from interval_tables(pool, 300 if quick else 4500, seed)
    yield small_table(pool, 2000 if quick else 20000, seed)
    yield cluster_table(pool, 600 if quick else 6000, seed)
    yield sequence_table(pool, 300 if quick else 2000, seed)
    yield forecast_table(pool, 4000 if quick else 40000, seed, shift="none", limited=True)
    yield forecast_table(pool, 1000 if quick else 6000, seed, shift="0.06 own", limited=False)


def _verdict(broken: Sequence[str], doubtful: Sequence[str]) -> str:
    lines = [f"- VIOLATED {each}" for each in broken]
    lines += [f"- above, by less than three Monte Carlo errors: {each}" for each in doubtful]
    return "\n".join(lines) or "No rate is above its limit."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few studies a cell, under a minute on 2 cores")
    parser.add_argument("--output", type=Path, help="write the tables to this markdown file as well")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    texts: list[str] = []
    broken: list[str] = []
    doubtful: list[str] = []
    with ProcessPoolExecutor(options.processes) as pool:
        for table in tables(pool, options.quick, options.seed):
            print(table.markdown(), flush=True)
            print(f"({time.perf_counter() - start:.0f} s so far)\n", file=sys.stderr)
            texts.append(table.markdown())
            broken += table.violations
            doubtful += table.doubtful
    verdict = _verdict(broken, doubtful)
    print(verdict)
    if options.output:
        quick = " --quick" if options.quick else ""
        made = f"Made by `python bench/coverage.py{quick} --seed {options.seed} --output FILE`."
        about = (__doc__ or "").split("\n\n", 2)[2].strip()
        options.output.write_text(
            "\n".join(["# Coverage, measured", "", made, "", about, "", verdict, "", *texts]), "utf-8"
        )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
