"""Whether two arms of a study may be compared, asked before they are, and said beside the result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from evaltui.core.study import Design
from evaltui.decide.comparability import Comparability, comparability
from evaltui.decide.overlap import Span, different_weeks
from evaltui.report.summary import ArmSummary, Notice


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
        who = f"{candidate.name} against {baseline.name}"
        for stop in answer.stops:
            yield Notice(stop.code, f"{who}: not compared: {stop.text}")
        for mark in answer.marks:
            yield Notice(mark.code, f"{who}: {mark.text}")


def marks(answer: Comparability) -> tuple[Notice, ...]:
    """The marks that a comparison carries wherever it is shown."""
    return tuple(Notice(mark.code, mark.text) for mark in answer.marks)


def _span(arm: ArmSummary) -> Span | None:
    """From the first call to the last verdict of an arm; without end while a run that began is not complete."""
    begun = [run for run in arm.runs if run.done or run.started is not None]
    starts = [run.started for run in begun if run.started is not None]
    if not starts or len(starts) < len(begun):
        return None
    start = min(starts)
    ends = [math.inf if run.finished is None else run.finished for run in begun]
    return Span(start, max(start, *ends))
