"""From the numbers of arms and pairs to the report model: which are told, in what order, with which warnings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaltui.core.delta import NO_WARMUP, Warmup
from evaltui.core.grid import Grid
from evaltui.core.status import StudyState
from evaltui.core.study import Design, ScorerDesign, StudyInfo
from evaltui.core.tally import Tally
from evaltui.report.arms import ArmNumbers, Scoring, summarise_arm
from evaltui.report.comparability import arms_comparability, comparability_notices, marks, not_compared
from evaltui.report.comparisons import PairNumbers, compare
from evaltui.report.notices import notices
from evaltui.report.summary import CategorySummary, Progress, RunSummary, Summary

Runs = tuple[Sequence[RunSummary], Sequence[RunSummary]]


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
    clustered: bool = False,
    warmup: Warmup = NO_WARMUP,
) -> Summary:
    """The report from the numbers of each arm and, for each arm that may be compared, those of it and the baseline.

    ``pairs`` and ``categories`` give those by the arm's index, ``time_left`` the seconds that so many cells still take;
    ``item_ids`` name the items in the study's random order; ``clustered``: some of them share a cluster's name.
    """
    design = info.design
    score_range = primary_scorer(design).score_range
    told = [
        summarise_arm(name, arm, grid, tally, numbers[arm], score_range=score_range, clustered=clustered)
        for arm, name in enumerate(design.arm_names)
    ]
    arms = tuple(arm for arm, _ in told)
    first = design.arm_names.index(design.baseline)
    rivals = [arm for arm in range(len(arms)) if arm != first]
    answers = {arm: arms_comparability(design, arms[first], arms[arm]) for arm in rivals}
    others = [arm for arm in rivals if answers[arm].comparable]
    finished = info.state is StudyState.FINISHED
    comparisons = tuple(
        compare(
            pairs(other, (arms[first].runs, arms[other].runs)),
            arms[first],
            arms[other],
            marks=marks(answers[other], (arms[first], arms[other]), design.missing, score_range),
            finished=finished,
        )
        for other in others
    )
    return Summary(
        info=info,
        arms=arms,
        comparisons=comparisons,
        not_compared=tuple(not_compared(arms[first], arms[arm], answers[arm]) for arm in rivals if arm not in others),
        categories=tuple(categories(others[0])) if others else (),
        warnings=tuple(
            notices(
                info,
                grid,
                arms,
                comparisons,
                about_arms=[notice for _, about in told for notice in about],
                compared=comparability_notices(arms[first], [arms[arm] for arm in rivals], list(answers.values())),
                score_range=score_range,
                item_ids=item_ids,
            )
        ),
        progress=_progress(info, grid, tally, warmup, time_left),
    )


def scoring_of(design: Design) -> Scoring:
    """How a study turns cells into scores."""
    return Scoring(design.missing, primary_scorer(design).score_range)


def primary_scorer(design: Design) -> ScorerDesign:
    """The scorer whose verdicts are compared: the one marked primary, else the first."""
    return next((scorer for scorer in design.scorers if scorer.primary), design.scorers[0])


def _progress(
    info: StudyInfo, grid: Grid, tally: Tally, warmup: Warmup, time_left: Callable[[int], float | None]
) -> Progress:
    done = sum(grid.done(arm, repeat) for arm in range(grid.n_arms) for repeat in range(1, grid.repeats + 1))
    total = info.design.n_cells
    moving = info.state is StudyState.RUNNING and not info.crashed and done < total
    return Progress(
        done=done,
        total=total,
        cost=tally.total_cost + warmup.cost,
        requests=tally.requests + warmup.requests,
        eta_s=time_left(total - done) if moving else None,
        warmup_done=warmup.cells,
        warmup_total=len(info.design.arms) * info.design.warmup * info.design.n_items,
    )
