"""The engine alone, with the simulator inside its process: memory, large studies, and taking one up again."""

from __future__ import annotations

import sqlite3
import statistics
from contextlib import closing
from pathlib import Path

from engine_http import told_behind, told_memory
from engine_process import Result, Study, child, headless_peak, stored
from engine_table import Report, Scale

MEMORY_GOAL_MB = 150
CPU_GOAL = 1.25
BYTES_GOAL = 1.10
RESUME_GOAL_S = 2.0
FIRST = 10_000
REPEATS = 10
ARMS = 2
LEFT = 10

DONE, COMMITTED, CPU, BYTES = range(4)


def memory(report: Report, scale: Scale, folder: Path) -> None:
    items, repeats = scale.memory_items, scale.memory_repeats
    report.part(f"{items:,} items x {repeats} repeats x {ARMS} arms, simulator inside the engine; peak memory")
    result = stored(folder, items, repeats).run(sampled=True)
    peak, loaded = result["peak"] / 1e6, result["loaded"] / 1e6
    report.row("engine process", f"{peak:,.0f} MB", f"before a call: {loaded:,.0f} MB", peak, MEMORY_GOAL_MB, " MB")
    whole = headless_peak(stored(folder, items, repeats)) / 1e6
    report.row("`evaltui resume --headless` with its report", f"{whole:,.0f} MB", "", whole, None, " MB")
    report.note(f"{told_memory(result)}; {result['count'] / result['seconds']:,.0f} verdicts/s; {told_behind(result)}")


def large(report: Report, scale: Scale, folder: Path) -> None:
    """From 10,000 verdicts to the last, and the same file taken up again."""
    report.part(f"from {FIRST:,} to {scale.large:,} verdicts in one study, simulator inside the engine")
    study = stored(folder, scale.large // REPEATS // ARMS, REPEATS)
    result = study.run(sampled=True)
    width = max(scale.large // 10, 2 * FIRST)
    early, late = (FIRST, FIRST + width), (scale.large - width, scale.large)
    for what, by, column, limit, unit, factor in (
        ("CPU a verdict", DONE, CPU, CPU_GOAL, "us", 1e6),
        ("bytes a verdict, file and log", COMMITTED, BYTES, BYTES_GOAL, "B", 1),
    ):
        first, last = (factor * slope(result, by, column, *window) for window in (early, late))
        report.row(
            f"{what}, last {width:,}",
            f"{last:,.0f} {unit}",
            f"{early[0]:,} to {early[1]:,}: {first:,.0f} {unit}",
            last / first,
            limit,
        )
    small = stored(folder, FIRST // REPEATS // ARMS, REPEATS)
    ended = small.run()
    few, many = small.db.stat().st_size / ended["count"], study.db.stat().st_size / result["count"]
    report.row(
        "bytes a verdict of a finished file",
        f"{many:,.0f} B",
        f"a study of {FIRST:,}: {few:,.0f} B",
        many / few,
        BYTES_GOAL,
    )
    report.note(f"{told_memory(result)}; {result['count'] / result['seconds']:,.0f} verdicts/s")
    report.note(told_behind(result))
    _resume(report, study, result["count"], scale.resumes)


def slope(result: Result, by: int, column: int, start: int, stop: int) -> float:
    """What of a column one verdict costs between two counts of verdicts."""
    first, last = (_between(result["samples"], by, column, at) for at in (start, stop))
    return (last - first) / (stop - start)


def _between(samples: list[list[float]], by: int, column: int, at: int) -> float:
    """A column when so many verdicts were done or committed, on the line between the samples around that."""
    after = next(place for place, sample in enumerate(samples) if sample[by] >= at)
    below, above = samples[after - 1], samples[after]
    share = (at - below[by]) / (above[by] - below[by])
    return below[column] + share * (above[column] - below[column])


def _resume(report: Report, study: Study, verdicts: int, times: int) -> None:
    report.part(f"a study of {verdicts:,} verdicts taken up again, {LEFT} cells left; seconds, median of {times}")
    runs = []
    for _ in range(times):
        _undo(study)
        runs.append(child("resume", db=str(study.db), study=study.id))
    read = child("fetch", db=str(study.db))["seconds"]
    spent = {name: statistics.median([run[name] for run in runs]) for name in ("load", "open", "first", "committed")}
    report.row(
        "opening to the first attempt recorded",
        f"{spent['first']:.2f} s",
        f"reading every verdict: {read:.2f} s",
        spent["first"],
        RESUME_GOAL_S,
        " s",
    )
    report.note(
        f"of which taking the lease and reading what is done {spent['open']:.2f} s; committed and closed after "
        f"{spent['committed']:.2f} s; loading the plan before all that {spent['load']:.2f} s; "
        f"peak memory {max(run['peak'] for run in runs) / 1e6:,.0f} MB; the file is in the page cache"
    )


def _undo(study: Study) -> None:
    """Make the last cells undone and the study stopped, as if the engine had ended before them."""
    with closing(sqlite3.connect(study.db)) as connection, connection:
        connection.execute(
            f"DELETE FROM verdicts WHERE key IN (SELECT key FROM verdicts ORDER BY key DESC LIMIT {LEFT})"
        )
        connection.execute("UPDATE studies SET state = 'stopped'")
