"""How a study that is still running will end: the probability that its finished headline interval excludes zero.

A predictive probability under stated beliefs, not a test; it may be looked at, it may not end a study. Believed of the
true effect: none in half of all studies, otherwise normal around zero with an sd of 2 points (of 10 points in 2 of 100
studies, so that a surprise is not believed away). Believed of whole runs: in 9 of 10 studies they do not move;
otherwise the variance of run means is 2, 4, ... 64 times what single answers explain, until the complete runs say
which. Fewer than 3 planned repeats are not asked about the movement of runs, as the headline is not.

With one number per cell, d[i, r] = effect + item i + run r + noise, the finished difference D and the current one are
jointly normal, and the current one is D plus independent error. What is left to come moves D and the spread of runs
together: a D far from the current difference is one that new runs made, and that widens the interval over runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtr, ndtri, stdtrit

from evaltui.stats.intervals import FEWEST_RUNS, SMALL_N, headline_relief, item_moments
from evaltui.stats.sample import Codes, Floats, checked_level, frontier_of, mean, score_table, sum_of_squares

EFFECTS = ((0.0, 0.5), (0.02, 0.48), (0.1, 0.02))
"""The believed distribution of true effects: normal around zero with this sd, and the share of studies it holds for."""

RUNS_STAND_STILL = 0.9
FEWEST_ITEMS = 10

_MOVEMENT = 2.0 ** np.arange(7)
_MOVEMENT_WEIGHT = np.array([RUNS_STAND_STILL] + 6 * [(1 - RUNS_STAND_STILL) / 6])
_NO_MOVEMENT = np.array([1.0] + 6 * [0.0])
_NODES = ndtri((np.arange(400) + 0.5) / 400)
_ENOUGH_REPEATED = 50
_SAME = 1e-18
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Forecast:
    """``probability`` that the finished headline at ``level`` excludes zero, from ``n`` paired items of so far.

    None where nothing can be said; ``note`` says why, or what had to be assumed.
    """

    probability: float | None
    level: float
    n: int
    method: str = "predictive probability: half no effect, half normal with sd 2 points"
    unit: str = "items"
    note: str = ""


def forecast(
    baseline: ArrayLike, candidate: ArrayLike, frontier: ArrayLike, *, paired: bool = True, level: float = 0.95
) -> Forecast:
    """The probability that the headline interval of the finished study excludes zero.

    ``baseline`` and ``candidate`` (n, k) have a row for each planned item, in random order, and a column for each
    planned repeat, NaN where a cell has no score; ``frontier`` (k,) says how many leading items of a repeat are
    counted, and nothing beyond it is looked at. ``paired`` as in ``run_interval``. Scores are fractions. With one
    repeat so far the items' spread is taken for noise of answers. Clusters are not in it. Raises ValueError for unlike
    shapes, infinities and a frontier beyond the items.
    """
    tables = score_table(baseline, "baseline"), score_table(candidate, "candidate")
    if tables[0].shape != tables[1].shape:
        raise ValueError(f"both arms must have the same items and repeats: {tables[0].shape} and {tables[1].shape}")
    reach = frontier_of(frontier, *tables[0].shape)
    counted = np.arange(len(tables[0]))[:, None] < reach[None, :]
    return forecast_from(_counted(np.where(counted, np.stack(tables), np.nan), reach), paired=paired, level=level)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a forecast needs to know of the counted cells of a study of ``planned`` items.

    ``n`` items are paired; ``difference`` is that of the arms' means over them, ``spread`` the variance of the item
    differences, ``noise`` the mean variance between repeats of one item, summed over the arms (None: too few items
    have two). ``answers`` (k, k + 1) counts the scored cells of both arms by repeat and by how many the item has.
    ``runs`` are the means (baseline, candidate) of complete repeats, ``furthest`` is the end of the longest frontier.
    """

    planned: int
    n: int
    difference: float
    spread: float
    noise: float | None
    answers: Codes
    runs: Sequence[tuple[float, float]]
    furthest: int


def forecast_from(counted: Counted, *, paired: bool = True, level: float = 0.95) -> Forecast:
    """``forecast`` from what it needs, whoever has counted it."""
    n = counted.n
    blank = Forecast(None, checked_level(level), n)
    if n < FEWEST_ITEMS:
        return replace(blank, note=f"needs more: {FEWEST_ITEMS} items at least, there are {n}")
    state = _state(counted, paired)
    if state.noise + state.between <= _SAME:
        return replace(blank, note="all items differ by the same: how much others would is not known")
    return replace(blank, probability=_probability(state, level), note=state.note)


def enough_repeated(several: int, n: int) -> bool:
    """Whether the ``several`` of ``n`` items that have two repeats or more can say how far answers move."""
    return several >= min(_ENOUGH_REPEATED, n / 2)


@dataclass(frozen=True, slots=True)
class _State:
    """What has been counted, in the terms of the model; variances are those of one cell difference.

    ``inverse`` is the mean over items of 1 / (their repeats), ``concentration`` the sum of squared shares of the runs
    in the current difference, ``squares`` the squared deviations of complete runs, with ``df`` degrees of freedom.
    """

    difference: float
    n: int
    final_n: int
    k: int
    complete: int
    noise: float
    between: float
    inverse: float
    concentration: float
    squares: float
    arms: int
    note: str

    @property
    def df(self) -> int:
        return self.arms * max(self.complete - 1, 0)


def _counted(scores: Floats, reach: Codes) -> Counted:
    """``scores`` is (2, items, repeats), NaN where not counted; ``reach`` (k,) the frontier."""
    total = scores.shape[1]
    rows = np.isfinite(scores).any(axis=2).all(axis=0)
    used = scores[:, rows]
    present = np.isfinite(used)
    m, means, variances = item_moments(used)
    n = int(rows.sum())
    several = m >= 2
    noise = None
    if n and enough_repeated(int(several.sum(axis=1).min()), n):
        noise = sum(mean(variances[arm][several[arm]].tolist()) for arm in (0, 1))
    run_means = [_run_means(scores[:, :, run]) for run in np.flatnonzero(reach == total).tolist()]
    return Counted(
        planned=total,
        n=n,
        difference=mean(means[1].tolist()) - mean(means[0].tolist()) if n else 0.0,
        spread=sum_of_squares(means[1] - means[0]) / (n - 1) if n > 1 else 0.0,
        noise=noise,
        answers=answers_by_repeat(present),
        runs=[pair for pair in run_means if pair is not None],
        furthest=int(reach.max(initial=0)),
    )


def answers_by_repeat(present: NDArray[np.bool_]) -> Codes:
    """How many cells of ``present`` (..., k) there are, (k, k + 1): by repeat and by how many their item has."""
    k = present.shape[-1]
    places = np.arange(k) * (k + 1) + present.sum(axis=-1)[..., None]
    return np.bincount(places[present], minlength=k * (k + 1)).reshape(k, k + 1)


def _state(counted: Counted, paired: bool) -> _State:
    n, answers = counted.n, counted.answers
    m = np.maximum(np.arange(answers.shape[1]), 1)
    inverse = float((answers.sum(axis=0) / m**2).sum()) / (2 * n)
    shares = (answers / m).sum(axis=1) / (2 * n)
    noise, note = counted.noise, ""
    if noise is None:
        noise, between = counted.spread / inverse, 0.0
        note = "hardly an item has two repeats: the spread of items is taken for noise of answers"
    else:
        between = max(0.0, counted.spread - noise * inverse)
    runs = np.array(counted.runs).reshape(-1, 2)
    movements = [runs[:, 1] - runs[:, 0]] if paired else [runs[:, 0], runs[:, 1]]
    return _State(
        difference=counted.difference,
        n=n,
        final_n=max(n, round(counted.planned * n / counted.furthest)),
        k=len(answers),
        complete=len(runs),
        noise=noise,
        between=between,
        inverse=inverse,
        concentration=float((shares**2).sum()),
        squares=sum(sum_of_squares(each) for each in movements) if len(runs) > 1 else 0.0,
        arms=len(movements),
        note=note,
    )


def _run_means(run: Floats) -> tuple[float, float] | None:
    shared = run[:, np.isfinite(run).all(axis=0)]
    return (mean(shared[0].tolist()), mean(shared[1].tolist())) if shared.size else None


def _probability(state: _State, level: float) -> float:
    """Average over how much runs move and whether there is an effect.

    The movement is judged by the runs alone: a difference beyond all belief would otherwise be put down to it.
    """
    quiet = state.noise / state.final_n
    movements = _weights_of_movement(state, quiet)
    total = 0.0
    for factor, weight in zip(_MOVEMENT.tolist(), (movements / movements.sum()).tolist(), strict=True):
        moving = (factor - 1) * quiet
        final = state.between / state.final_n + moving / state.k + quiet / state.k
        error = (
            state.between * (1 / state.n - 1 / state.final_n)
            + moving * max(0.0, state.concentration - 1 / state.k)
            + state.noise * max(0.0, state.inverse / state.n - 1 / (state.final_n * state.k))
        )
        chances = [_given_effect(state, sd**2, final, error, moving + quiet, level) for sd, _ in EFFECTS]
        total += weight * float(_effect_weights(state, final + error) @ np.array(chances))
    return min(1.0, max(0.0, round(total, _DIGITS)))


def _given_effect(state: _State, effect: float, final: float, error: float, run_variance: float, level: float) -> float:
    """The probability if true effects have variance ``effect``, the finished difference ``final`` around them."""
    share = (effect + final) / (effect + final + error)
    finished = state.difference * share + math.sqrt(share * error) * _NODES
    return _excluding(state, finished, error, run_variance, level)


def _effect_weights(state: _State, variance: float) -> Floats:
    """Posterior weights of ``EFFECTS``, given the current difference with ``variance`` around the true effect."""
    wide = variance + np.array([sd**2 for sd, _ in EFFECTS])
    log_weights = np.log([weight for _, weight in EFFECTS]) - state.difference**2 / (2 * wide) - np.log(wide) / 2
    weights = np.exp(log_weights - log_weights.max())
    normalised: Floats = weights / weights.sum()
    return normalised


def _weights_of_movement(state: _State, quiet: float) -> Floats:
    """Posterior weights, up to a factor, of the variance of run means being 1, 2, 4, ... times ``quiet``."""
    prior: Floats = _MOVEMENT_WEIGHT if state.k >= FEWEST_RUNS else _NO_MOVEMENT
    if quiet <= _SAME or not state.df:
        return prior
    variances = _MOVEMENT * quiet / state.arms
    log_likelihood = -state.df / 2 * np.log(variances) - state.squares / (2 * variances)
    weights: Floats = prior * np.exp(log_likelihood - log_likelihood.max())
    return weights


def _excluding(state: _State, finished: Floats, error: float, run_variance: float, level: float) -> float:
    """Share of the ``finished`` differences (equally likely) whose headline leaves out zero."""
    n, k = state.final_n, state.k
    tail = (1 + level) / 2
    z = float(ndtri(tail))
    quantile = float(stdtrit(n - 1, tail)) if n < SMALL_N else z
    beyond_items = finished**2 - quantile**2 * (state.between + state.noise / k) / n
    if k < FEWEST_RUNS:
        return float((beyond_items > 0).mean())
    runs = k if state.arms == 1 else 2 * k
    t = float(stdtrit(state.arms * (k - 1), tail))
    allowed = (beyond_items + headline_relief(runs) * z**2 * state.noise / (k * n)) * k * (k - 1) / t**2
    variance = run_variance / state.arms
    known = np.full(len(finished), state.squares)
    df = state.arms * (k - max(state.complete, 1))
    if 0 < state.complete < k and error > 0:
        known += (finished - state.difference) ** 2 / error * variance
        df -= 1
    left = allowed - known
    if df and variance > 0:
        fits = np.where(left > 0, chdtr(df, np.maximum(left, 0.0) / variance), 0.0)
    else:
        fits = (left > 0).astype(np.float64)
    return float(np.where(beyond_items > 0, fits, 0.0).mean())
