"""The lines above every monitor: which study, how it stands, how far it is, what it costs, what it says so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from textual.content import Content

from evaltui.core.format import count, duration, money, points, span
from evaltui.core.status import StudyState
from evaltui.core.study import StudyInfo
from evaltui.core.text import clean
from evaltui.report.sentence import marked
from evaltui.report.summary import ArmSummary, ComparisonSummary, Summary
from evaltui.tui.cells import cut
from evaltui.tui.drawn import MUTED
from evaltui.tui.marks import Marks

STUCK: Final = "results are not saved (disk full or database locked): the engine goes on trying, without new calls"


@dataclass(frozen=True, slots=True)
class Standing:
    """What the header says beyond the summary: whether the picture is held, and why the study cannot be read."""

    frozen: bool = False
    unreadable: str = ""


def header_lines(summary: Summary, which: int, standing: Standing, marks: Marks, width: int) -> list[Content]:
    """Three lines, and a fourth when there is something to say about the state."""
    lines = [_identity(summary.info, standing, marks, width), _progress(summary, marks, width)]
    lines.append(_verdict(summary, which, width))
    said = standing.unreadable or (summary.info.reason if summary.info.state is not StudyState.FINISHED else "")
    if summary.info.stuck:
        said = standing.unreadable or STUCK
    if summary.info.crashed:
        said = said or "its engine is gone; what is done is kept"
    if said:
        lines.append(Content.styled(cut("! " + clean(said, limit=500), width), "bold $warning"))
    return lines


def state_style(info: StudyInfo) -> str:
    """The tone of a study's state."""
    if info.crashed:
        return "bold $error"
    return {
        StudyState.RUNNING: "bold $success",
        StudyState.PAUSED: "bold $warning",
        StudyState.STOPPED: "bold $warning",
        StudyState.FINISHED: "bold $primary",
    }.get(info.state, "bold")


def _identity(info: StudyInfo, standing: Standing, marks: Marks, width: int) -> Content:
    design = info.design
    parts_of = ((len(design.arms), "arm"), (design.repeats, "repeat"), (design.n_items, "item"))
    size = " x ".join(count(n, noun) for n, noun in parts_of)
    pins = f"pins {design.pin_hash[:8]}"
    state = f"{marks.live if info.live else marks.idle} {info.status}" + (" FROZEN" if standing.frozen else "")
    parts = [size, pins, clean(info.id, limit=40)]
    room = width - len(state) - 2
    while parts and room - sum(len(part) + 2 for part in parts) < 12:
        parts.pop()
    name = cut(clean(design.name, limit=200), max(1, room - sum(len(part) + 2 for part in parts)))
    tail = "".join(f"  {part}" for part in parts)
    return Content.assemble((name, "bold"), "  ", (state, state_style(info)), (tail, MUTED))


def _progress(summary: Summary, marks: Marks, width: int) -> Content:
    progress = summary.progress
    share = progress.done / progress.total if progress.total else 0.0
    said = [f"{int(100 * share):3} %", f"{progress.done:,} of {progress.total:,}"]
    if progress.done < progress.total and summary.info.live and summary.info.state is StudyState.RUNNING:
        said.append(f"{duration(progress.eta_s)} left" if progress.eta_s is not None else "time left unknown")
    if progress.warmup_done < progress.warmup_total:
        said.insert(2, f"warm-up {progress.warmup_done:,} of {progress.warmup_total:,}")
    limit = summary.info.design.max_cost
    said.append(f"cost {money(progress.cost)}" + (f" of {money(limit)}" if limit is not None else ""))
    said.append(f"{progress.requests:,} requests")
    while len(said) > 2 and sum(len(part) + 2 for part in said) > width - max(8, width // 4):
        said.pop()
    text = "".join(f"  {part}" for part in said)
    bar = max(4, min(60, width - len(text)))
    full = int(bar * share)
    return Content.assemble((marks.full * full, "$primary"), (marks.empty * (bar - full), "$foreground 25%"), text)


def _verdict(summary: Summary, which: int, width: int) -> Content:
    """The score, band and difference in a line, for when their panes are out of sight, with what marks or stops them.

    Where there is no room for all of it the words of the marks go first, then the bands, never that there are marks.
    """
    if not summary.comparisons:
        return _without_comparison(summary, width)
    comparison = summary.comparisons[min(which, len(summary.comparisons) - 1)]
    said = clean(marked([mark.short for mark in comparison.marks]), limit=500)
    brackets = [f"  {said}", "  [marked]"] if said else [""]
    wordings = [(word, bands) for bands in (True, False) for word in ("difference", "diff")]
    lines = [_scores(summary, comparison, word, bands=bands) for word, bands in wordings]
    choices = [(line, bracket) for line in lines for bracket in brackets]
    fitting = (each for each in choices if cell_len(each[0]) + cell_len(each[1]) <= width)
    line, bracket = next(fitting, choices[-1])
    return Content.assemble(cut(line, max(1, width - cell_len(bracket))), (bracket, "bold $warning"))


def _scores(summary: Summary, comparison: ComparisonSummary, word: str, *, bands: bool) -> str:
    arms = {arm.name: arm for arm in summary.arms}
    means = ((comparison.baseline, comparison.baseline_mean), (comparison.candidate, comparison.candidate_mean))
    difference = f"{word} {points(comparison.difference, signed=True)}"
    headline = comparison.headline
    if headline is not None and headline.low is not None:
        difference += f" ({span(headline.low, headline.high, signed=True)})"
    return "  ".join([*(_score(arms[name], mean, band=bands) for name, mean in means), difference])


def _without_comparison(summary: Summary, width: int) -> Content:
    """Why two arms are not compared leads; as many of the scores as there is room for follow, each by itself."""
    if not summary.not_compared:
        return Content(cut(_score(summary.arms[0], summary.arms[0].mean, band=True), width))
    pair = summary.not_compared[0]
    reasons = "; ".join(stop.short for stop in pair.stops)
    stop = cut(clean(f"! {pair.candidate} not compared: {reasons}", limit=500), width)
    scores = ""
    for arm in summary.arms:
        more = f"{scores}  {_score(arm, arm.mean, band=True)}"
        scores = more if cell_len(stop) + cell_len(more) <= width else scores
    return Content.assemble((stop, "bold $warning"), scores)


def _score(arm: ArmSummary, mean: float | None, *, band: bool) -> str:
    spread = f" ±{points(arm.band.band)}" if band and arm.band.measured else ""
    return f"{clean(arm.name, limit=24)} {points(mean)}{spread}"
