"""Bands: how far the score of one arm moves from run to run, and how far a new run may lie from old ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, ndtri, stdtrit

from evaltui.stats.sample import all_equal, checked_level, mean, sample, sum_of_squares

HALF_POINT = 0.005
VAGUE_BELOW = 8
POOR_VALUE_ABOVE = 12


@dataclass(frozen=True, slots=True)
class Band:
    """The run-to-run spread of ``k`` scores, in the unit of the scores.

    ``sd`` has k - 1 degrees of freedom, ``sd_low`` and ``sd_high`` are its chi-square interval at ``level``,
    ``relative_uncertainty`` is 1 / sqrt(2k - 2). ``band`` is z sd; ``quoted`` is z times the sd at one significant
    figure, to the nearest half point and never less than one. ``measured`` is False where the runs cannot show a
    spread; the band is then None, never zero.
    """

    k: int
    mean: float | None
    sd: float | None
    sd_low: float | None
    sd_high: float | None
    relative_uncertainty: float | None
    z: float
    band: float | None
    quoted: float | None
    range: float | None
    scores: tuple[float, ...]
    level: float
    measured: bool
    method: str = "z x sd over runs"
    unit: str = "runs"
    note: str = ""


def band(run_scores: ArrayLike, *, z: float = 2.0, level: float = 0.95, not_repeats: str = "") -> Band:
    """The band of an arm from the scores of its complete runs, shape (k,).

    ``not_repeats``: why the runs are not independent repeats (``excess.same_texts``), which leaves the band unmeasured.
    Raises ValueError for NaN or infinity, with the index.
    """
    scores = sample(run_scores, "run_scores")
    k = len(scores)
    average = mean(scores.tolist()) if k else None
    spread = float(np.ptp(scores)) if k > 1 else None
    bare = Band(
        k, average, None, None, None, None, z, None, None, spread, tuple(scores.tolist()), checked_level(level), False
    )
    if k < 2:
        return replace(bare, note=f"needs more: 2 complete runs at least, there {'is 1' if k == 1 else 'are none'}")
    if not_repeats:
        return replace(bare, note=not_repeats)
    if all_equal(scores):
        return replace(bare, note=f"all {k} runs have the same score: how far a run can move cannot be known from them")
    variance = sum_of_squares(scores) / (k - 1)
    sd = math.sqrt(variance)
    tail = (1 - level) / 2
    return replace(
        bare,
        sd=sd,
        sd_low=sd * math.sqrt((k - 1) / float(chdtri(k - 1, tail))),
        sd_high=sd * math.sqrt((k - 1) / float(chdtri(k - 1, 1 - tail))),
        relative_uncertainty=1 / math.sqrt(2 * k - 2),
        band=z * sd,
        quoted=_quotable(sd, z),
        measured=True,
        note=_on_k(k),
    )


def sampling_band(p: float, n: int) -> float:
    """Standard error sqrt(p (1 - p) / n) of a pass rate: which ``n`` items happened to be in the set.

    Raises ValueError unless 0 <= p <= 1 and n >= 1. For 0 of n or n of n it is 0, and ``clopper_pearson`` says more.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must lie between 0 and 1, not {p}")
    if n < 1:
        raise ValueError(f"n must be at least 1, not {n}")
    return math.sqrt(p * (1 - p) / n)


def two_set_band(p: float, n: int, q: float, m: int) -> float:
    """Standard error of the difference between pass rates on two separate item sets: the root of the summed squares."""
    return math.hypot(sampling_band(p, n), sampling_band(q, m))


@dataclass(frozen=True, slots=True)
class Limit:
    """How far a new run may lie away before it is outside a prediction interval; ``width`` is None where unknown."""

    width: float | None
    level: float
    method: str
    k: int | None
    unit: str = "runs"
    note: str = ""


def new_run_limit(k: int, sd: float | None, *, level: float = 0.95) -> Limit:
    """Prediction limit of one new run against the mean of ``k`` runs with sample sd ``sd``: t(k-1) sd sqrt(1 + 1/k).

    ``sd`` None (not measured) or k < 2 gives an unknown limit. Raises ValueError for a negative sd.
    """
    blank = Limit(None, checked_level(level), "prediction limit, one new run against a mean", k)
    if k < 2 or sd is None:
        return replace(blank, note="the spread of runs has not been measured")
    return replace(blank, width=float(stdtrit(k - 1, (1 + level) / 2)) * _positive(sd) * math.sqrt(1 + 1 / k))


def two_run_limit(sd: float | None, *, level: float = 0.95) -> Limit:
    """Prediction limit of the difference between two single runs, for a known ``sd``: sqrt(2) z sd."""
    blank = Limit(None, checked_level(level), "prediction limit, two single runs", None)
    if sd is None:
        return replace(blank, note="the spread of runs has not been measured")
    return replace(blank, width=math.sqrt(2) * float(ndtri((1 + level) / 2)) * _positive(sd))


def _positive(sd: float) -> float:
    if not 0 < sd < math.inf:
        raise ValueError(f"sd must be a positive number, not {sd}; pass None where it has not been measured")
    return sd


def _quotable(sd: float, z: float) -> float:
    one_figure = float(f"{sd:.0e}")
    halves = max(1, math.floor(z * one_figure / HALF_POINT + 0.5 + 1e-9))
    return halves * 5 / 1000


def _on_k(k: int) -> str:
    if k == 2:
        return "two runs: the sd is little more than a guess"
    if k < 5:
        return f"{k} runs: the range leads, the sd is unstable"
    if k < VAGUE_BELOW:
        return f"{k} runs: the sd is vague; 10 are the usual number"
    if k > POOR_VALUE_ABOVE:
        return f"{k} runs: beyond {POOR_VALUE_ABOVE} another run adds little"
    return ""
