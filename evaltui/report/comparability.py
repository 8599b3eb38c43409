"""Whether two arms of a study may be compared, asked before they are, and said beside the result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from evaltui.core.score import ScoreRange
from evaltui.core.study import Design, MissingPolicy
from evaltui.decide.comparability import Comparability, Finding, comparability
from evaltui.decide.overlap import Span, different_weeks
from evaltui.report.notices import not_comparable
from evaltui.report.sentence import about_pair, about_stop
from evaltui.report.summary import ArmSummary, Mark, NotCompared, Notice


def arms_comparability(design: Design, baseline: ArmSummary, candidate: ArmSummary) -> Comparability:
    """What stops or marks the comparison of two arms: their pins, and whether they ran side by side."""
    pins = {arm.name: arm.pins for arm in design.arms}
    answer = comparability(pins[baseline.name], pins[candidate.name], scope="arms")
    return answer.marked(different_weeks(_span(baseline), _span(candidate)))


def comparability_notices(
    baseline: ArmSummary, candidates: Sequence[ArmSummary], answers: Sequence[Comparability]
) -> Iterator[Notice]:
    """One warning for each stop and each mark, under the code of the finding."""
    for candidate, answer in zip(candidates, answers, strict=True):
        for stop in answer.stops:
            yield Notice(stop.code, about_stop(baseline.name, candidate.name, stop.text))
        for mark in answer.marks:
            yield Notice(mark.code, about_pair(baseline.name, candidate.name, mark.text))


def marks(
    answer: Comparability, arms: Sequence[ArmSummary], policy: MissingPolicy, score_range: ScoreRange | None
) -> tuple[Mark, ...]:
    """The marks that a comparison of these two arms carries wherever it is shown; runs that miss too much are one."""
    found = [_mark(finding) for finding in answer.marks]
    for arm in arms:
        notice = not_comparable(arm, policy, score_range)
        if notice is not None:
            found.append(Mark(notice.code, notice.text, f"{arm.name} misses too many verdicts"))
    return tuple(found)


def not_compared(baseline: ArmSummary, candidate: ArmSummary, answer: Comparability) -> NotCompared:
    """Why these two arms are not compared."""
    return NotCompared(baseline.name, candidate.name, tuple(_mark(finding) for finding in answer.stops))


def _mark(finding: Finding) -> Mark:
    what = finding.code.replace("_", " ") if finding.difference is None else f"{finding.difference.pin} differs"
    return Mark(finding.code, finding.text, f"across versions: {what}" if finding.code == "across_versions" else what)


def _span(arm: ArmSummary) -> Span | None:
    """From the first call to the last verdict of an arm; without end while a run that began is not complete."""
    begun = [run for run in arm.runs if run.done or run.started is not None]
    starts = [run.started for run in begun if run.started is not None]
    if not starts or len(starts) < len(begun):
        return None
    start = min(starts)
    ends = [math.inf if run.finished is None else run.finished for run in begun]
    return Span(start, max(start, *ends))
