"""From the grid to the report model: every number that a screen or a report shows is made here."""

from __future__ import annotations

from collections.abc import Sequence

from evaltui.core.grid import Grid
from evaltui.core.score import contributions
from evaltui.core.status import StudyState
from evaltui.core.study import Design, ScorerDesign, StudyInfo
from evaltui.core.tally import Tally
from evaltui.report.arms import Scoring, arm_numbers, summarise_arm
from evaltui.report.comparability import arms_comparability, comparability_notices, marks
from evaltui.report.comparisons import by_category, compare
from evaltui.report.notices import notices
from evaltui.report.pace import time_left
from evaltui.report.pairing import pair
from evaltui.report.summary import Progress, Summary


def summarise(
    info: StudyInfo,
    grid: Grid,
    tally: Tally,
    *,
    categories: Sequence[str | None],
    clusters: Sequence[str | None],
    now: float,
    item_ids: Sequence[str] = (),
) -> Summary:
    """The report of a study as it stands: a function of the cells and calls, not of the order in which they came.

    ``categories``, ``clusters`` and ``item_ids`` name those of each item in the study's random order; without ids,
    missing items are named by position. ``now`` (seconds since the epoch) is used for the time left only. Raises
    ValueError where a column does not have one entry per item.
    """
    design = info.design
    for name, column in (("categories", categories), ("clusters", clusters), ("item_ids", item_ids or categories)):
        if len(column) != design.n_items:
            raise ValueError(f"{name} must have one entry per item: {len(column)} for {design.n_items} items")
    scoring = Scoring(design.missing, primary_scorer(design).score_range)
    added = contributions(grid.status, grid.score, scoring.policy, scoring.score_range)
    numbers = [arm_numbers(arm, grid, added[arm], scoring) for arm in range(len(design.arm_names))]
    told = [summarise_arm(name, arm, grid, tally, numbers[arm]) for arm, name in enumerate(design.arm_names)]
    arms = tuple(arm for arm, _ in told)
    grouping = clusters if any(cluster is not None for cluster in clusters) else None
    first = design.arm_names.index(design.baseline)
    rivals = [arm for arm in range(len(arms)) if arm != first]
    answers = {arm: arms_comparability(design, arms[first], arms[arm]) for arm in rivals}
    others = [arm for arm in rivals if answers[arm].comparable]
    pairings = [pair(grid, added, first, other) for other in others]
    comparisons = tuple(
        compare(
            grid,
            added,
            pairing,
            arms[first],
            arms[other],
            arms=(first, other),
            interleaved=design.schedule == "interleaved",
            clusters=grouping,
            marks=marks(answers[other]),
        )
        for other, pairing in zip(others, pairings, strict=True)
    )
    return Summary(
        info=info,
        arms=arms,
        comparisons=comparisons,
        categories=tuple(by_category(pairings[0], categories, grouping)) if pairings else (),
        warnings=tuple(
            notices(
                info,
                grid,
                arms,
                comparisons,
                bands=[notice for _, about in told for notice in about],
                compared=comparability_notices(arms[first], [arms[arm] for arm in rivals], list(answers.values())),
                score_range=scoring.score_range,
                item_ids=item_ids,
            )
        ),
        progress=_progress(info, grid, tally, now),
    )


def primary_scorer(design: Design) -> ScorerDesign:
    """The scorer whose verdicts are compared: the one marked primary, else the first."""
    return next((scorer for scorer in design.scorers if scorer.primary), design.scorers[0])


def _progress(info: StudyInfo, grid: Grid, tally: Tally, now: float) -> Progress:
    done = sum(grid.done(arm, repeat) for arm in range(grid.n_arms) for repeat in range(1, grid.repeats + 1))
    total = info.design.n_cells
    moving = info.state is StudyState.RUNNING and not info.crashed and done < total
    return Progress(
        done=done,
        total=total,
        cost=tally.total_cost,
        requests=tally.requests,
        eta_s=time_left(grid.finished, total - done, now) if moving else None,
    )
