"""From the grid to the report model: every number that a screen or a report shows is made here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaltui.core.grid import Grid
from evaltui.core.score import contributions
from evaltui.core.status import StudyState
from evaltui.core.study import Design, ScorerDesign, StudyInfo
from evaltui.core.tally import Tally
from evaltui.report.arms import ArmNumbers, Scoring, arm_numbers, summarise_arm
from evaltui.report.comparability import arms_comparability, comparability_notices, marks
from evaltui.report.comparisons import PairNumbers, by_category, compare, pair_numbers
from evaltui.report.notices import notices
from evaltui.report.pace import time_left
from evaltui.report.pairing import pair
from evaltui.report.summary import CategorySummary, Progress, RunSummary, Summary

Runs = tuple[Sequence[RunSummary], Sequence[RunSummary]]


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
    scoring = scoring_of(design)
    added = contributions(grid.status, grid.score, scoring.policy, scoring.score_range)
    numbers = [arm_numbers(arm, grid, added[arm], scoring) for arm in range(len(design.arm_names))]
    grouping = clusters if any(cluster is not None for cluster in clusters) else None
    first = design.arm_names.index(design.baseline)
    pairings = {arm: pair(grid, added, first, arm) for arm in range(len(numbers)) if arm != first}

    def numbers_of(other: int, runs: Runs) -> PairNumbers:
        return pair_numbers(
            grid,
            added,
            pairings[other],
            arms=(first, other),
            runs=runs,
            interleaved=design.schedule == "interleaved",
            clusters=grouping,
        )

    return assemble(
        info,
        grid,
        tally,
        numbers,
        pairs=numbers_of,
        categories=lambda other: by_category(pairings[other], categories, grouping),
        time_left=lambda remaining: time_left(grid.finished, remaining, now),
        item_ids=item_ids,
    )


def assemble(
    info: StudyInfo,
    grid: Grid,
    tally: Tally,
    numbers: Sequence[ArmNumbers],
    *,
    pairs: Callable[[int, Runs], PairNumbers],
    categories: Callable[[int], Sequence[CategorySummary]],
    time_left: Callable[[int], float | None],
    item_ids: Sequence[str],
) -> Summary:
    """The report from the numbers of each arm and, for each arm that may be compared, those of it and the baseline."""
    design = info.design
    told = [summarise_arm(name, arm, grid, tally, numbers[arm]) for arm, name in enumerate(design.arm_names)]
    arms = tuple(arm for arm, _ in told)
    first = design.arm_names.index(design.baseline)
    rivals = [arm for arm in range(len(arms)) if arm != first]
    answers = {arm: arms_comparability(design, arms[first], arms[arm]) for arm in rivals}
    others = [arm for arm in rivals if answers[arm].comparable]
    comparisons = tuple(
        compare(
            pairs(other, (arms[first].runs, arms[other].runs)), arms[first], arms[other], marks=marks(answers[other])
        )
        for other in others
    )
    return Summary(
        info=info,
        arms=arms,
        comparisons=comparisons,
        categories=tuple(categories(others[0])) if others else (),
        warnings=tuple(
            notices(
                info,
                grid,
                arms,
                comparisons,
                bands=[notice for _, about in told for notice in about],
                compared=comparability_notices(arms[first], [arms[arm] for arm in rivals], list(answers.values())),
                score_range=primary_scorer(design).score_range,
                item_ids=item_ids,
            )
        ),
        progress=_progress(info, grid, tally, time_left),
    )


def scoring_of(design: Design) -> Scoring:
    """How a study turns cells into scores."""
    return Scoring(design.missing, primary_scorer(design).score_range)


def primary_scorer(design: Design) -> ScorerDesign:
    """The scorer whose verdicts are compared: the one marked primary, else the first."""
    return next((scorer for scorer in design.scorers if scorer.primary), design.scorers[0])


def _progress(info: StudyInfo, grid: Grid, tally: Tally, time_left: Callable[[int], float | None]) -> Progress:
    done = sum(grid.done(arm, repeat) for arm in range(grid.n_arms) for repeat in range(1, grid.repeats + 1))
    total = info.design.n_cells
    moving = info.state is StudyState.RUNNING and not info.crashed and done < total
    return Progress(
        done=done,
        total=total,
        cost=tally.total_cost,
        requests=tally.requests,
        eta_s=time_left(total - done) if moving else None,
    )
