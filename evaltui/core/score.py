"""From cells to a score: the one place that decides what a cell contributes and what a run's score is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaltui.core.status import OK_CODE, PENDING_CODE, STATUS_BY_CODE, STATUS_CODES
from evaltui.core.study import MissingPolicy

ScoreRange = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RunScore:
    """The score of one run.

    ``score`` is the mean over the ``counted`` cells that contribute under the policy, None where there is none.
    ``strict`` is the score if every planned item without a score had failed, ``bounds`` if all of them had failed and
    if all had passed; both None without a score range. ``counts`` holds terminal cells by status, ``missing`` how many
    of them have no score. ``comparable`` is False once the policy excludes more of the planned cells than its limit.
    """

    score: float | None
    strict: float | None
    bounds: tuple[float, float] | None
    counts: Mapping[str, int]
    counted: int
    missing: int
    comparable: bool


def scored(status: NDArray[np.uint8], score: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which cells carry a score: those that are ``ok`` and have a finite number."""
    carries: NDArray[np.bool_] = (status == OK_CODE) & np.isfinite(score)
    return carries


def contributions(
    status: NDArray[np.uint8], score: NDArray[np.float64], policy: MissingPolicy, score_range: ScoreRange | None
) -> NDArray[np.float64]:
    """What each cell adds to a mean; any shape.

    A scored cell adds its score, a cell whose status counts as failed the low end of the range; the others, pending
    ones among them, are excluded (NaN). Without a range nothing can be failed, so those cells are excluded too.
    """
    added = np.where(scored(status, score), score, np.nan)
    failing = [code for each, code in STATUS_CODES.items() if code != OK_CODE and policy.of(each) == "fail"]
    if score_range is not None and failing:
        table = np.zeros(256, dtype=np.bool_)
        table[failing] = True
        added[table[status]] = score_range[0]
    return added


def status_counts(by_code: NDArray[np.int64]) -> dict[str, int]:
    """Counts by status name, in the order of ``Status``, from counts by code; pending cells and zeros left out."""
    return {STATUS_BY_CODE[int(code)].value: int(by_code[code]) for code in np.flatnonzero(by_code) if code}


@dataclass(frozen=True, slots=True)
class ScoreSums:
    """What a run's score is made of: sums, correctly rounded, over ``counted`` contributions and ``scored`` cells.

    ``by_code`` holds cells by status code.
    """

    added: float
    counted: int
    total: float
    scored: int
    by_code: NDArray[np.int64]


def score_cells(
    status: NDArray[np.uint8],
    score: NDArray[np.float64],
    *,
    n_planned: int,
    policy: MissingPolicy,
    score_range: ScoreRange | None,
) -> RunScore:
    """Score one run from its cells, both columns of shape (n,) with n at most ``n_planned``.

    Planned items beyond the cells given, and pending cells among them, are unknown: they widen ``bounds`` and lower
    ``strict``, but they are not missing. Raises ValueError for more cells than planned.
    """
    if len(status) > n_planned:
        raise ValueError(f"{len(status)} cells given for {n_planned} planned items")
    added = contributions(status, score, policy, score_range)
    counted = added[~np.isnan(added)]
    carries = score[scored(status, score)]
    sums = ScoreSums(
        added=math.fsum(counted.tolist()),
        counted=len(counted),
        total=math.fsum(carries.tolist()),
        scored=len(carries),
        by_code=np.bincount(status, minlength=len(STATUS_CODES) + 1),
    )
    return score_sums(sums, n_planned=n_planned, policy=policy, score_range=score_range)


def score_sums(sums: ScoreSums, *, n_planned: int, policy: MissingPolicy, score_range: ScoreRange | None) -> RunScore:
    """Score one run from its sums, as ``score_cells`` does from its cells."""
    n_terminal = int(sums.by_code.sum()) - int(sums.by_code[PENDING_CODE])
    strict, bounds = _extremes(sums.total, sums.scored, n_planned, score_range)
    return RunScore(
        score=sums.added / sums.counted if sums.counted else None,
        strict=strict,
        bounds=bounds,
        counts=status_counts(sums.by_code),
        counted=sums.counted,
        missing=n_terminal - sums.scored,
        comparable=n_terminal - sums.counted <= policy.limit * n_planned,
    )


def _extremes(
    total: float, n_scored: int, n_planned: int, score_range: ScoreRange | None
) -> tuple[float | None, tuple[float, float] | None]:
    if score_range is None or n_planned == 0:
        return None, None
    low, high = score_range
    unknown = n_planned - n_scored
    worst = (total + low * unknown) / n_planned
    return worst, (worst, (total + high * unknown) / n_planned)
