"""Bands: how far the score of one arm moves from run to run, and how far a new run may lie from old ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, fdtrc, gammainccinv, gammaincinv, ndtri, stdtrit

from evaltui.stats.checks import at_least_zero, count, positive, share
from evaltui.stats.pvalue import PValue
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
    Raises ValueError for NaN or infinity, with the index, and unless z > 0.
    """
    positive("z", z)
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
    low, high = _sd_interval(sd, k - 1, level)
    return replace(
        bare,
        sd=sd,
        sd_low=low,
        sd_high=high,
        relative_uncertainty=1 / math.sqrt(2 * k - 2),
        band=z * sd,
        quoted=_quotable(sd, z),
        measured=True,
        note=_on_k(k),
    )


def sampling_band(p: float, n: int) -> float:
    """Standard error sqrt(p (1 - p) / n) of a pass rate: which ``n`` items happened to be in the set.

    Raises ValueError unless 0 <= p <= 1 and n is a whole number of at least 1. For 0 of n or n of n it is 0, and
    ``clopper_pearson`` says more.
    """
    share("p", p)
    count("n", n)
    return math.sqrt(p * (1 - p) / n)


def two_set_band(p: float, n: int, q: float, m: int) -> float:
    """Standard error of the difference between pass rates on two separate item sets: the root of the summed squares.

    Raises ValueError as ``sampling_band``.
    """
    share("q", q)
    count("m", m)
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

    ``sd`` None (not measured) or k < 2 gives an unknown limit. Raises ValueError unless sd > 0 and k is a whole number
    of at least 0.
    """
    count("k", k, 0)
    _check_sd(sd)
    blank = Limit(None, checked_level(level), "prediction limit, one new run against a mean", k)
    if k < 2 or sd is None:
        return replace(blank, note="the spread of runs has not been measured")
    t = -float(stdtrit(k - 1, (1 - level) / 2))  # The lower tail: the upper one rounds to 1 for a level close to it.
    return replace(blank, width=t * sd * math.sqrt(1 + 1 / k))


def two_run_limit(sd: float | None, *, level: float = 0.95) -> Limit:
    """Prediction limit of the difference between two single runs, for a known ``sd``: sqrt(2) z sd.

    ``sd`` None (not measured) gives an unknown limit. Raises ValueError for one that is not a positive number.
    """
    _check_sd(sd)
    blank = Limit(None, checked_level(level), "prediction limit, two single runs", None)
    if sd is None:
        return replace(blank, note="the spread of runs has not been measured")
    return replace(blank, width=-math.sqrt(2) * float(ndtri((1 - level) / 2)) * sd)


def rubric_band(p: float, claims: int) -> float:
    """Standard deviation sqrt(p (1 - p) claims) of a count: which claims happened to be written into a rubric.

    Raises ValueError unless 0 <= p <= 1 and claims is a whole number of at least 1.
    """
    count("claims", claims)
    return claims * sampling_band(p, claims)


@dataclass(frozen=True, slots=True)
class Projection:
    """A same-item sd carried over to ``n`` items and means of ``k`` runs, in the unit of the scores.

    ``independent`` is the part of it from items that flip on their own, which shrinks with n; ``shared`` the part in
    which whole runs move together, which does not. More runs lessen both. ``relative_uncertainty`` is that of an sd
    measured from k runs.
    """

    sd: float
    independent: float
    shared: float
    n: int
    k: int
    relative_uncertainty: float | None
    method: str = "root of the squared shared and independent parts over k"
    unit: str = "runs"
    note: str = ""


def project(sd: float, independent_sd: float, n: int, *, to_n: int | None = None, to_k: int = 1) -> Projection:
    """What the ``sd`` of single runs over ``n`` items will be over ``to_n`` items and means of ``to_k`` runs.

    ``independent_sd`` is what independent flips give on these n items (``Excess.independent_sd``): only that part
    scales, with sqrt(n / to_n). Where it exceeds sd, no run was seen to move as a whole and all of sd is independent.
    Raises ValueError unless sd > 0, independent_sd >= 0 and n, to_n and to_k are whole numbers of at least 1.
    """
    positive("sd", sd)
    at_least_zero("independent_sd", independent_sd)
    count("n", n)
    count("to_k", to_k)
    items = n if to_n is None else count("to_n", to_n)
    single = min(sd, independent_sd)
    independent = single * math.sqrt(n / items / to_k)
    shared = math.sqrt((sd - single) * (sd + single) / to_k)
    note = "" if independent_sd < sd else "the runs spread no more than independent flips do: no part of it is shared"
    uncertainty = 1 / math.sqrt(2 * to_k - 2) if to_k > 1 else None
    return Projection(math.hypot(independent, shared), independent, shared, items, to_k, uncertainty, note=note)


def bartlett(groups: Sequence[ArrayLike]) -> PValue:
    """Bartlett's test (1937) of equal variances, from the run scores of each band; exact only for normal scores.

    ``n`` counts the runs of all groups. Raises ValueError for NaN or infinity.
    """
    runs = [sample(group, f"groups[{place}]") for place, group in enumerate(groups)]
    n = sum(len(group) for group in runs)
    problem = _not_testable(runs)
    if problem:
        return PValue(None, None, "Bartlett", n, note=problem)
    free = np.array([len(group) - 1 for group in runs], dtype=np.float64)
    variances = np.array([sum_of_squares(group) for group in runs]) / free
    pooled = math.fsum((free * variances).tolist()) / free.sum()
    excess = free.sum() * math.log(pooled) - math.fsum((free * np.log(variances)).tolist())
    correction = 1 + (math.fsum((1 / free).tolist()) - 1 / free.sum()) / (3 * (len(runs) - 1))
    statistic = max(0.0, float(excess / correction))
    return PValue(float(chdtrc(len(runs) - 1, statistic)), statistic, "Bartlett", n, len(runs) - 1)


def brown_forsythe(groups: Sequence[ArrayLike]) -> PValue:
    """Levene's test of equal variances around medians (Brown and Forsythe 1974): holds for scores that are not normal.

    ``df`` is that of the numerator. Raises ValueError for NaN or infinity.
    """
    runs = [sample(group, f"groups[{place}]") for place, group in enumerate(groups)]
    n = sum(len(group) for group in runs)
    problem = _not_testable(runs)
    if problem:
        return PValue(None, None, "Brown-Forsythe", n, note=problem)
    distances = [np.abs(group - np.median(group)) for group in runs]
    within = math.fsum(sum_of_squares(group) for group in distances)
    between = sum_of_squares(np.concatenate(distances)) - within
    df, rest = len(runs) - 1, n - len(runs)
    if all(all_equal(group) for group in distances):
        return PValue(None, None, "Brown-Forsythe", n, note="two runs a band: their distances cannot be compared")
    statistic = max(0.0, between / df / (within / rest))
    return PValue(float(fdtrc(df, rest, statistic)), statistic, "Brown-Forsythe", n, df)


@dataclass(frozen=True, slots=True)
class Pool:
    """Several bands of one configuration as one floor. ``sd`` is None where they were not pooled; ``note`` says why.

    ``df`` is the sum of their k - 1; ``sd_low`` and ``sd_high`` are the chi-square interval at ``level``. ``test`` is
    the equal-variance test that decided. ``history`` has the sd of each band in the order given, None if unmeasured.
    """

    sd: float | None
    sd_low: float | None
    sd_high: float | None
    df: int
    test: PValue
    history: tuple[float | None, ...]
    level: float
    method: str = "root of the mean variance, weighted by k - 1"
    unit: str = "runs"
    note: str = ""


def pool(bands: Sequence[Band], *, alpha: float = 0.05, level: float = 0.95) -> Pool:
    """Pool measured bands into one sd unless Bartlett's test rejects equal variances at ``alpha``.

    Bands that were not measured do not enter. Raises ValueError unless alpha and level lie between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, for example 0.05, not {alpha}")
    measured = [one for one in bands if one.measured and one.sd is not None]
    test = bartlett([one.scores for one in measured])
    df = sum(one.k - 1 for one in measured)
    bare = Pool(None, None, None, df, test, tuple(one.sd for one in bands), checked_level(level))
    if not measured:
        return replace(bare, note="no band has been measured")
    if test.p is not None and test.p < alpha:
        return replace(bare, note=f"the bands differ (p = {test.p:.2g}): the floor has moved, use the newest alone")
    sd = math.sqrt(math.fsum((one.k - 1) * one.sd**2 for one in measured if one.sd is not None) / df)
    low, high = _sd_interval(sd, df, level)
    return replace(
        bare,
        sd=sd,
        sd_low=low,
        sd_high=high,
        note="one band only: nothing was pooled" if len(measured) == 1 else "",
    )


def _not_testable(groups: Sequence[NDArray[np.float64]]) -> str:
    if len(groups) < 2:
        return "needs more: two measured bands at least"
    if any(len(group) < 2 or all_equal(group) for group in groups):
        return "a band without a measured spread cannot be compared"
    return ""


def _sd_interval(sd: float, df: int, level: float) -> tuple[float, float]:
    """The chi-square interval. Each end from its own tail: 1 - tail would round to 1 for a level close to it."""
    tail = (1 - level) / 2
    low, high = (sd * math.sqrt(df / 2 / float(invert(df / 2, tail))) for invert in (gammainccinv, gammaincinv))
    return low, high


def _check_sd(sd: float | None) -> None:
    if sd is not None:
        positive("sd", sd, "pass None where it has not been measured")


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
