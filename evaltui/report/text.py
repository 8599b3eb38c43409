"""The report for a terminal. Points on screen; foreign text only as cleaned ``Text``, never as markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evaltui.core.format import NOTHING, count, duration, money, points, seconds, span
from evaltui.core.text import clean
from evaltui.report.counters import COUNTERS, counted
from evaltui.report.sentence import about_pair, about_stop
from evaltui.report.summary import (
    ArmSummary,
    BandSummary,
    ComparisonSummary,
    ExcessSummary,
    FlipSummary,
    IntervalSummary,
    NotCompared,
    Notice,
    RunSummary,
    Summary,
)

_NAME_LIMIT = 60


def render(summary: Summary) -> RenderableType:
    """The whole report, top to bottom: what ran, each arm, each comparison, categories, warnings."""
    parts: list[RenderableType] = [_header(summary)]
    for arm in summary.arms:
        parts += ["", Text(_name(arm.name), style="bold"), *_arm_lines(arm), run_table(arm)]
    for comparison in summary.comparisons:
        parts += ["", *_comparison(comparison)]
    for pair in summary.not_compared:
        parts += ["", *_not_compared(pair)]
    if summary.categories:
        parts += ["", Text("By category", style="bold"), category_table(summary)]
    warnings = other_warnings(summary, summary.comparisons, summary.not_compared)
    if warnings:
        parts += ["", Text("Warnings", style="bold"), *_warnings(warnings)]
    return Group(*parts)


def run_table(arm: ArmSummary) -> Table:
    """One row per run: score, completion, what went wrong, how long calls took, and what keeps it from counting."""
    table = _table(gap=1)
    for heading in ("run", "score", "done", *COUNTERS, "retry", "p50", "p95"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for run in arm.runs:
        table.add_row(
            f"#{run.repeat}",
            points(run.score),
            f"{run.done:,}/{run.n_items:,}",
            *(_count(run, kind) for kind in COUNTERS),
            f"{run.retries:,}" if run.retries else "",
            seconds(run.latency.p50),
            seconds(run.latency.p95),
            _mark(run),
        )
    return table


def interval_table(comparison: ComparisonSummary) -> Table:
    """The intervals of a comparison, each with its method, unit and what it is about; the headline is marked.

    The standard error that the item interval is checked against comes last.
    """
    table = _table()
    table.add_column("interval", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("about", overflow="fold")
    headline = comparison.headline
    for each in comparison.intervals:
        leads = headline is not None and headline.method == each.method
        about = each.estimand + (f"; {each.note}" if each.note else "")
        table.add_row(
            Text(f"{'>' if leads else ' '} {each.method}"),
            span(each.low, each.high, signed=True),
            f"{each.n:,} {each.unit}",
            Text(about),
        )
    if comparison.cross_check is not None:
        sem = comparison.cross_check.sem
        about = f"cross-check of the first; {sem.note}" if sem.note else "cross-check of the first"
        bounds = span(sem.low, sem.high, signed=True)
        table.add_row(Text(f"  {sem.method}"), bounds, f"{sem.n:,} {sem.unit}", Text(about))
    return table


def category_table(summary: Summary) -> Table:
    """Differences by category with paired intervals and p-values adjusted for looking at many (Holm; q: BH)."""
    table = _table()
    table.add_column("category", overflow="fold")
    for heading in ("items", "difference", "interval", "p adjusted", "q"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in summary.categories:
        table.add_row(
            Text(_name(each.category)),
            f"{each.n:,}",
            points(each.difference, signed=True),
            span(each.low, each.high, signed=True),
            _p_value(each.p_adjusted),
            _p_value(each.q),
        )
    return table


def band_line(band: BandSummary) -> str:
    """The run-to-run band in points, or why there is none."""
    if not band.measured:
        return "run-to-run band not measured"
    sd = f"sd {points(band.sd, decimals=2)} ({span(band.sd_low, band.sd_high)})"
    return f"band ±{points(band.band)} on the same items, {band.z:g} sd over {count(band.k, 'run')}; {sd}"


def next_run_line(band: BandSummary) -> str:
    """Where one more run on the same items will land, as the client asks it; empty where it is not known."""
    if band.next_run is None:
        return ""
    return f"one more run will probably land at {span(*band.next_run)} ({100 * band.level:g} %)"


def sampling_line(band: BandSummary) -> str:
    """The band that belongs to other items, which ones happened to be in the set; empty where it is not known."""
    if band.sampling is not None:
        said = f"band ±{points(band.sampling)} on other items like these, {band.z:g} standard errors over items"
    elif band.sampling_limits is not None:
        said = f"on other items like these {span(*band.sampling_limits)} ({100 * band.level:g} %, exact limits)"
    else:
        return ""
    return f"{said}; {band.sampling_note}" if band.sampling_note else said


def flips_line(flips: FlipSummary) -> str:
    """How many items change their verdict by themselves."""
    if flips.pairwise is None:
        return "flips: not known before an item has two verdicts"
    expected = f"{flips.expected_changes:,.0f}" if flips.expected_changes is not None else NOTHING
    return (
        f"flips: {flips.items_that_flip:,} of {count(flips.items, 'item')} change their verdict, "
        f"{flips.score_items_that_flip:,} of them their score; run it again and about {expected} of {flips.items:,} "
        f"change ({100 * flips.pairwise:.1f} %); {flips.text_changes:,} changed their text"
    )


def excess_line(excess: ExcessSummary) -> str:
    """Whether whole runs move, or only items by themselves."""
    if excess.ratio is None:
        return "variance between runs: not known"
    return (
        f"variance between runs: {excess.ratio:.2f} times what independent flips give "
        f"(p {_p_value(excess.p)}, {excess.method})"
    )


def other_warnings(
    summary: Summary, comparisons: Sequence[ComparisonSummary], not_compared: Sequence[NotCompared]
) -> list[Notice]:
    """The warnings without those that already stand as marks and stops beside these comparisons."""
    said = {mark.text for each in comparisons for mark in each.marks}
    said |= {about_pair(each.baseline, each.candidate, mark.text) for each in comparisons for mark in each.marks}
    said |= {about_stop(each.baseline, each.candidate, stop.text) for each in not_compared for stop in each.stops}
    return [notice for notice in summary.warnings if notice.text not in said]


def percent(chance: float) -> str:
    """A probability in whole percent; never 0 or 100, which it is not."""
    if chance < 0.005:
        return "<1 %"
    return ">99 %" if chance > 0.995 else f"{100 * chance:.0f} %"


def watching_line(sequence: IntervalSummary) -> str:
    """The interval that is valid at every look."""
    if sequence.low is None:
        return f"at every look: not known, {sequence.note.removeprefix('needs more: ')}"
    bounds = span(sequence.low, sequence.high, signed=True)
    return f"at every look: {bounds} ({sequence.method}, {100 * sequence.level:g} %)"


def _table(gap: int = 2) -> Table:
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="underline")


def _header(summary: Summary) -> Text:
    info, design, progress = summary.info, summary.info.design, summary.progress
    reason = f" ({clean(info.reason, limit=200)})" if info.reason else ""
    lines = [
        f"{_name(design.name)}  {clean(info.id)}  {info.status}{reason}",
        f"{count(design.n_items, 'item')} x {count(design.repeats, 'repeat')}, {design.schedule}, "
        f"order seed {design.order_seed}, {count(design.concurrency, 'call')} in flight",
        f"{progress.done:,} of {count(progress.total, 'verdict')}, {count(progress.requests, 'request')}, "
        f"cost {money(progress.cost)}"
        + (f", about {duration(progress.eta_s)} left" if progress.eta_s is not None else ""),
    ]
    if design.disclosure:
        lines.insert(0, clean(design.disclosure))
    return Text("\n".join(lines))


def _arm_lines(arm: ArmSummary) -> Iterator[Text]:
    yield Text(f"mean {points(arm.mean)}  range {points(arm.range)}  {band_line(arm.band)}")
    yield from map(Text, filter(None, (next_run_line(arm.band), sampling_line(arm.band))))
    yield Text(flips_line(arm.flips))
    if arm.excess_spread.ratio is not None:
        yield Text(excess_line(arm.excess_spread))


def _comparison(comparison: ComparisonSummary) -> Iterator[RenderableType]:
    yield Text(f"{_name(comparison.candidate)} against {_name(comparison.baseline)}", style="bold")
    yield Text(clean(comparison.sentence))
    yield from (_warning(mark.text) for mark in comparison.marks)
    yield Text(
        f"{count(comparison.n_items, 'item')} compared, {count(comparison.n_in_flight, 'verdict')} in flight, "
        f"{count(comparison.n_left_out, 'item')} left out; {comparison.gained:,} gained, {comparison.lost:,} lost, "
        f"net {comparison.gained - comparison.lost:+,}"
    )
    if comparison.intervals:
        yield interval_table(comparison)
    if comparison.headline is not None and comparison.headline.why:
        yield Text(f"> headline: {comparison.headline.why}")
    yield Text(watching_line(comparison.sequence))
    if comparison.stopping:
        yield Text(comparison.stopping)
    if comparison.forecast is not None:
        yield Text(
            f"forecast: {percent(comparison.forecast)} that the headline of the finished study excludes zero "
            "(half of all effects none, half normal with sd 2 points); it may not stop a study"
        )


def _not_compared(pair: NotCompared) -> Iterator[Text]:
    yield Text(f"{_name(pair.candidate)} against {_name(pair.baseline)}", style="bold")
    yield from (_warning(f"not compared: {stop.text}") for stop in pair.stops)


def _warning(text: str) -> Text:
    return Text.assemble(("! ", "bold"), clean(text))


def _warnings(notices: Sequence[Notice]) -> Iterator[RenderableType]:
    for notice in notices:
        yield Padding(Text(clean(f"- {notice.text}")), (0, 0, 0, 1))


def _count(run: RunSummary, kind: str) -> str:
    total = counted(run, kind)
    return f"{total:,}" if total else ""


def _mark(run: RunSummary) -> str:
    said = [_gaps(run)]
    if run.in_flight is not None and run.in_flight_of_others is not None:
        said.append(f"{run.in_flight:.1f} in flight, others {run.in_flight_of_others:.1f}")
    return "; ".join(filter(None, said))


def _gaps(run: RunSummary) -> str:
    if not run.complete:
        return "part"
    said = "" if run.comparable else "missing too many: "
    if run.bounds is None or run.bounds[0] == run.bounds[1]:
        return said.removesuffix(": ")
    return f"{said}{span(*run.bounds)} with those missing"


def _p_value(p: float | None) -> str:
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _name(name: str) -> str:
    return clean(name, limit=_NAME_LIMIT)
