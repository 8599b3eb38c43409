"""Warnings: what a reader of the numbers has to know before believing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from evaltui.core.format import count
from evaltui.core.grid import Grid
from evaltui.core.score import ScoreRange
from evaltui.core.status import PENDING_CODE, Status, StudyState
from evaltui.core.study import MissingPolicy, StudyInfo
from evaltui.report.sentence import FEWEST_ITEMS, about_pair
from evaltui.report.summary import ArmSummary, ComparisonSummary, Notice
from evaltui.stats.bands import POOR_VALUE_ABOVE, VAGUE_BELOW

_NAMED_ITEMS = 5


def notices(
    info: StudyInfo,
    grid: Grid,
    arms: Sequence[ArmSummary],
    comparisons: Sequence[ComparisonSummary],
    *,
    about_arms: Sequence[Notice],
    compared: Iterable[Notice],
    score_range: ScoreRange | None,
    item_ids: Sequence[str],
) -> Iterator[Notice]:
    """Every warning that applies, the gravest first.

    ``about_arms`` is what has to be said of single arms, ``compared`` what stops or marks comparisons. ``item_ids``
    name missing items.
    """
    # A paused study whose engine has gone (an endpoint is down) is as much at rest as a stopped one.
    at_rest = not info.live and info.state is not StudyState.CREATED
    ended = at_rest or info.state in (StudyState.FINISHED, StudyState.STOPPED)
    if ended:
        yield from _incomplete(grid, arms, item_ids)
    yield from compared
    yield from filter(None, (not_comparable(arm, info.design.missing, score_range) for arm in arms))
    yield from about_arms
    yield from _design(info, ended, arms)
    if score_range is None:
        yield Notice(
            "no_score_range",
            "the primary scorer declares no score range, so what missing verdicts could change is not known: "
            "give the scorer a range to see strict scores and bounds",
        )
    for comparison in comparisons:
        yield from _of_comparison(comparison)


def _of_comparison(comparison: ComparisonSummary) -> Iterator[Notice]:
    names = comparison.baseline, comparison.candidate
    if comparison.cross_check is not None and comparison.cross_check.note:
        yield Notice("check_clustering", about_pair(*names, comparison.cross_check.note))
    if comparison.n_left_out:
        left_out = f"{count(comparison.n_left_out, 'item')} without a scored verdict in one of the arms; left out of "
        yield Notice("left_out", about_pair(*names, left_out + "the comparison"))


def _incomplete(grid: Grid, arms: Sequence[ArmSummary], item_ids: Sequence[str]) -> Iterator[Notice]:
    for index, arm in enumerate(arms):
        for run in arm.runs:
            if run.complete:
                continue
            missing = np.flatnonzero(grid.status[index, :, run.repeat - 1] == PENDING_CODE)
            named = [item_ids[place] for place in missing[:_NAMED_ITEMS].tolist()]
            more = f" and {len(missing) - len(named):,} more" if len(missing) > len(named) else ""
            yield Notice(
                "incomplete",
                f"{arm.name}#{run.repeat} has {run.done:,} of {run.n_items:,} verdicts; "
                f"missing: {', '.join(named)}{more}",
            )


def not_comparable(arm: ArmSummary, policy: MissingPolicy, score_range: ScoreRange | None) -> Notice | None:
    """What is to be said of runs that miss more verdicts than the policy allows; None where no run does."""
    marked = [run for run in arm.runs if not run.comparable]
    if not marked:
        return None
    shares = ", ".join(
        f"#{run.repeat} ({_excluded(run.counts, policy, score_range):,} of {run.done:,})" for run in marked
    )
    empty = [f"#{run.repeat}" for run in marked if run.score is None]
    said = ["these runs are in the numbers and should not be compared with others"] if len(empty) < len(marked) else []
    if empty:
        said = [each.replace("these runs", "the others") for each in said]
        said.insert(0, f"no verdict of {', '.join(empty)} counts, so no number is made of them")
    return Notice(
        "not_comparable",
        f"{arm.name}: more than {100 * policy.limit:g} % of the verdicts are missing in {shares}; {'; '.join(said)}",
    )


def _excluded(counts: Mapping[str, int], policy: MissingPolicy, score_range: ScoreRange | None) -> int:
    """How many verdicts are left out; those that the policy counts as failed are not, where that has a score."""
    missing = ((Status(name), n) for name, n in counts.items() if name != Status.OK)
    return sum(n for status, n in missing if score_range is None or policy.of(status) != "fail")


def _design(info: StudyInfo, ended: bool, arms: Sequence[ArmSummary]) -> Iterator[Notice]:
    design = info.design
    if design.warmup:
        are, their = ("is", "its") if design.warmup == 1 else ("are", "their")
        told = f"{count(design.warmup, 'warm-up run')} of each arm {are} in no score, band or counter"
        yield Notice("warmup", f"{told}; {their} calls are part of the requests and of the cost")
    if design.n_items < FEWEST_ITEMS:
        yield Notice("few_items", f"too few items for a claim: {design.n_items}, use at least {FEWEST_ITEMS}")
    runs = min((arm.band.k for arm in arms), default=0) if ended else design.repeats
    if runs < 2:
        yield Notice("no_band", "with fewer than two complete runs, movement from run to run cannot be measured")
    elif runs < VAGUE_BELOW:
        uncertainty = 100 / np.sqrt(2 * runs - 2)
        yield Notice(
            "few_repeats",
            f"a band over {runs} runs is vague: its sd is known to about ±{uncertainty:.0f} %; "
            f"use at least {VAGUE_BELOW} repeats, and read the range until then",
        )
    elif design.repeats > POOR_VALUE_ABOVE:
        yield Notice(
            "many_repeats",
            f"{design.repeats} repeats are poor value: beyond {POOR_VALUE_ABOVE}, more items tell more",
        )
