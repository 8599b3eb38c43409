"""The comparison in words and numbers: both arms in one row, every interval, what it says and what it leaves out."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from evaltui.core.format import count, points, span
from evaltui.core.text import clean
from evaltui.report.sentence import about_stop
from evaltui.report.summary import ArmSummary, ComparisonSummary, IntervalSummary, NotCompared, Summary
from evaltui.report.text import (
    band_line,
    excess_line,
    flips_line,
    next_run_line,
    other_warnings,
    percent,
    sampling_line,
)
from evaltui.tui.cells import cut, fit
from evaltui.tui.drawn import MUTED

LABEL_WIDTH = 13
SPAN_WIDTH = 16
"""``-100.0 to +100.0``: the longest there is where scores lie between 0 and 1."""
MEAN_WIDTH = 15
RANGE_WIDTH = 37
ONE_LINE_WIDTH = 64
THESE_ITEMS = "exactly these items"
"""The estimand of the interval that leaves the choice of items out."""


def means_lines(summary: Summary, which: int, width: int) -> list[Content]:
    """Means, ranges and difference of comparison ``which`` in one row, with what marks it.

    Arms that are not compared are named with the reason; it leads where nothing is compared, before each arm's noise.
    """
    stops = [line for pair in summary.not_compared for line in _stop_lines(pair)]
    if not summary.comparisons:
        return [*stops, *([Content("")] if stops else []), *noise_lines(summary)]
    comparison = _shown(summary, which)
    arms = {arm.name: arm for arm in summary.arms}
    return [
        *_means(comparison, arms[comparison.baseline], arms[comparison.candidate], width),
        *(_warning(mark.text) for mark in comparison.marks),
        *stops,
    ]


def verdict_lines(summary: Summary, which: int, width: int) -> list[Content]:
    """What the comparison says in words, what is in it, the noise it stands against, and what else is to be known."""
    shown = [_shown(summary, which)] if summary.comparisons else []
    lines = []
    for comparison in shown:
        lines += [Content.styled(clean(comparison.sentence), "bold" if _decided(comparison) else "")]
        lines += [_counts(comparison), Content(""), *noise_lines(summary)]
    warnings = other_warnings(summary, shown, summary.not_compared)
    if warnings:
        lines += [Content("")] if lines else []
        lines += [_warning(notice.text) for notice in warnings]
    return lines


def _shown(summary: Summary, which: int) -> ComparisonSummary:
    return summary.comparisons[min(which, len(summary.comparisons) - 1)]


def _stop_lines(pair: NotCompared) -> list[Content]:
    return [_warning(about_stop(pair.baseline, pair.candidate, stop.text)) for stop in pair.stops]


def _warning(text: str) -> Content:
    return Content.assemble(("! ", "bold $warning"), (clean(text, limit=600), "$warning"))


def noise_lines(summary: Summary) -> list[Content]:
    """Band and flips of every arm."""
    lines = []
    for arm in summary.arms:
        lines.append(Content.styled(clean(arm.name, limit=60), "bold $primary"))
        if arm.mean is not None:
            lines.append(Content(f"mean {points(arm.mean)}, range {points(arm.range)}"))
        lines += [Content(band_line(arm.band))]
        lines += map(Content, filter(None, (next_run_line(arm.band), sampling_line(arm.band))))
        lines += [Content(flips_line(arm.flips))]
        if arm.excess_spread.ratio is not None:
            lines += [Content(excess_line(arm.excess_spread))]
    return lines


def _means(comparison: ComparisonSummary, baseline: ArmSummary, candidate: ArmSummary, width: int) -> list[Content]:
    """Both means and ranges and the difference in one row, under the arms' names."""
    column = max(MEAN_WIDTH if width >= RANGE_WIDTH else 11, width // 3)
    pairs = ((baseline, comparison.baseline_mean), (candidate, comparison.candidate_mean))
    size = max(len(points(mean)) for _, mean in pairs) + 1
    names = "".join(fit(cut(clean(arm.name, limit=60), column - 1), column) for arm, _ in pairs)
    row = [
        part
        for arm, mean in pairs
        for part in ((fit(points(mean), size), "bold"), (fit(_range(arm, column - size), column - size), MUTED))
    ]
    room = width - 2 * column
    return [
        Content.styled(names + ("difference" if room >= 10 else "diff"), MUTED),
        Content.assemble(*row, (points(comparison.difference, signed=True), "bold $primary")),
    ]


def _range(arm: ArmSummary, width: int) -> str:
    if arm.range is None:
        return ""
    text = f"range {points(arm.range)}"
    return text if len(text) < width else f"({points(arm.range)})"


def interval_lines(summary: Summary, which: int, width: int) -> list[Content]:
    """Every interval with its estimator; the one that leads is marked and comes first."""
    if not summary.comparisons:
        return []
    comparison = _shown(summary, which)
    leading = sorted(comparison.intervals, key=lambda interval: not _leads(interval, comparison))
    lines = [line for interval in leading for line in _interval(interval, comparison, width)]
    if comparison.cross_check is not None:
        sem = comparison.cross_check.sem
        lines += _row(" ", span(sem.low, sem.high, signed=True), "cross-check", _about(sem), width)
    lines += _watching(comparison, width)
    if comparison.headline is not None and comparison.headline.why:
        lines.append(Content.styled(f"> {clean(comparison.headline.why)}", MUTED))
    if comparison.stopping:
        lines.append(Content.styled(clean(comparison.stopping), MUTED))
    return lines


def _watching(comparison: ComparisonSummary, width: int) -> list[Content]:
    """The one interval that may end a study early, and how the study is likely to end."""
    sequence = comparison.sequence
    if sequence.low is None:
        lines = _row(" ", *_missing(sequence, "at every look"), width)
    else:
        about = clean(sequence.method)
        lines = _row(" ", span(sequence.low, sequence.high, signed=True), "at every look", about, width)
    if comparison.forecast is not None:
        chance = percent(comparison.forecast)
        lines += _row(" ", chance, "forecast", "chance that the end excludes zero", width)
    return lines


def _interval(interval: IntervalSummary, comparison: ComparisonSummary, width: int) -> list[Content]:
    together = interval.method.endswith(" and runs")
    label = (
        "these items" if interval.estimand == THESE_ITEMS else "items + runs" if together else f"over {interval.unit}"
    )
    about = _about(interval)
    if interval.low is None:
        return _row(" ", *_missing(interval, label), width)
    mark, bounds = ">" if _leads(interval, comparison) else " ", span(interval.low, interval.high, signed=True)
    return _row(mark, bounds, label, about, width, tone="$warning" if _doubtful(interval, comparison) else MUTED)


def _missing(interval: IntervalSummary, label: str) -> tuple[str, str, str]:
    """What stands where an interval would: whether more data will give it, and why."""
    more, note = "needs more: ", clean(interval.note)
    return ("needs more" if note.startswith(more) else "not known"), label, note.removeprefix(more) or _about(interval)


def _doubtful(interval: IntervalSummary, comparison: ComparisonSummary) -> bool:
    check = comparison.cross_check
    return check is not None and check.note != "" and interval.note.startswith(check.note)


def _about(interval: IntervalSummary) -> str:
    about = f"{clean(interval.method)}, {count(interval.n, interval.unit.removesuffix('s'))}"
    return f"{about}; {clean(interval.note)}" if interval.note else about


def _leads(interval: IntervalSummary, comparison: ComparisonSummary) -> bool:
    return comparison.headline is not None and comparison.headline.method == interval.method


def _row(mark: str, text: str, label: str, about: str, width: int, *, tone: str = MUTED) -> list[Content]:
    """One line where there is room for what the interval is about, two where there is not."""
    strong = mark != " "
    head = Content.assemble(
        (f"{mark} ", "bold $primary"),
        (fit(text, SPAN_WIDTH), "bold" if strong else ""),
        (f" {fit(label, min(LABEL_WIDTH, max(0, width - SPAN_WIDTH - 3)))}", "" if strong else MUTED),
    )
    if width < ONE_LINE_WIDTH or cell_len(about) > width - SPAN_WIDTH - LABEL_WIDTH - 4:
        return [head, Content.styled(f"  {about}", tone)]
    return [Content.assemble(head, (f" {about}", tone))]


def _counts(comparison: ComparisonSummary) -> Content:
    net = comparison.gained - comparison.lost
    return Content.styled(
        f"{comparison.n_items:,} items in, {comparison.n_in_flight:,} verdicts in flight, "
        f"{comparison.n_left_out:,} left out; {comparison.gained:,} gained, {comparison.lost:,} lost, net {net:+,}",
        MUTED,
    )


def _decided(comparison: ComparisonSummary) -> bool:
    headline = comparison.headline
    if headline is None or headline.low is None or headline.high is None:
        return False
    return headline.low > 0 or headline.high < 0
