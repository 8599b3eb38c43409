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
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtr, ndtri, stdtrit

from evaltui.stats.intervals import FEWEST_RUNS, SMALL_N, headline_relief
from evaltui.stats.sample import Floats, checked_level, mean, score_table, sum_of_squares

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
    shapes and infinities.
    """
    tables = score_table(baseline, "baseline"), score_table(candidate, "candidate")
    reach = np.asarray(frontier)
    if tables[0].shape != tables[1].shape or reach.shape != tables[0].shape[1:]:
        raise ValueError(
            f"both arms and the frontier must agree: shapes {tables[0].shape}, {tables[1].shape} and {reach.shape}"
        )
    counted = np.arange(len(tables[0]))[:, None] < reach[None, :]
    scores = np.where(counted, np.stack(tables), np.nan)
    n_paired = int(np.isfinite(scores).any(axis=2).all(axis=0).sum()) if scores.size else 0
    blank = Forecast(None, checked_level(level), n_paired)
    if n_paired < FEWEST_ITEMS:
        return Forecast(None, level, n_paired, note=f"needs more: {FEWEST_ITEMS} items at least, there are {n_paired}")
    state = _state(scores, reach, paired)
    if state.noise + state.between <= _SAME:
        return Forecast(None, level, n_paired, note="all items differ by the same: how much others would is not known")
    return Forecast(_probability(state, level), level, n_paired, blank.method, note=state.note)


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


def _state(scores: Floats, reach: np.ndarray[tuple[int, ...], np.dtype[np.int64]], paired: bool) -> _State:
    """Moments of the counted cells; ``scores`` is (2, items, repeats), NaN where not counted."""
    rows = np.isfinite(scores).any(axis=2).all(axis=0)
    used = scores[:, rows]
    present = np.isfinite(used)
    m = present.sum(axis=2)
    filled = np.where(present, used, 0.0)
    means = filled.sum(axis=2) / m
    d = means[1] - means[0]
    n = len(d)
    inverse = float((1 / m).mean())
    spread = sum_of_squares(d) / (n - 1)
    several = m >= 2
    note = ""
    if several.sum(axis=1).min() >= min(_ENOUGH_REPEATED, n / 2):
        squares = (np.where(present, used - means[:, :, None], 0.0) ** 2).sum(axis=2)
        noise = sum(mean((squares[arm] / np.maximum(m[arm] - 1, 1))[several[arm]].tolist()) for arm in (0, 1))
        between = max(0.0, spread - noise * inverse)
    else:
        noise, between = spread / inverse, 0.0
        note = "hardly an item has two repeats: the spread of items is taken for noise of answers"
    shares = (present / m[:, :, None]).mean(axis=(0, 1))
    total, k = scores.shape[1:]
    whole = np.flatnonzero(reach == total)
    run_means = [_run_means(scores[:, :, run]) for run in whole.tolist()]
    runs = np.array([pair for pair in run_means if pair is not None]).reshape(-1, 2)
    movements = [runs[:, 1] - runs[:, 0]] if paired else [runs[:, 0], runs[:, 1]]
    return _State(
        difference=mean(d.tolist()),
        n=n,
        final_n=max(n, round(total * n / int(reach.max()))),
        k=k,
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
