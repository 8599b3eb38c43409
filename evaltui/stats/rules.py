"""Gate rules: whether a drop is too large, and how often each rule stops a candidate that dropped or did not."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from evaltui.stats.bands import new_run_limit
from evaltui.stats.checks import at_least_zero, count, finite
from evaltui.stats.interval import Interval
from evaltui.stats.noncentral_t import exceeds, gauss_legendre
from evaltui.stats.sample import LARGEST, Floats, checked_level

RuleName = Literal["twice_range", "range_or_threshold", "interval", "prediction", "two_sd"]

_NODES = 400
_FURTHEST = 9.0
_FURTHEST_MIDDLE = 6.5
_LOST = 1e-19


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule says of a candidate: ``value`` is its drop below the baseline, ``limit`` the most that passes.

    ``margin`` is limit - value: what was left, negative where ``blocked``. ``limit``, ``margin`` and ``blocked`` are
    None where the rule cannot decide, and ``note`` says why. ``k`` counts the baseline's runs (for an interval, what it
    rests on). Numbers are in the unit of the scores.
    """

    rule: RuleName
    value: float | None
    limit: float | None
    margin: float | None
    blocked: bool | None
    k: int | None
    unit: str = "runs"
    note: str = ""


def twice_the_range(baseline: float, candidate: float, spread: float | None, *, k: int, factor: float = 2) -> Verdict:
    """Blocks a drop of the mean by more than ``factor`` times the range of the baseline's ``k`` runs.

    A filter, not a test: ``detection_rate`` says what it means for this k. Raises ValueError for a score, spread or
    factor that is not finite, a negative spread or factor, and k below 1, as the other rules do.
    """
    drop, limit = _drop(baseline, candidate, k), _multiple("spread", spread, factor)
    blank = Verdict("twice_range", None, None, None, None, k)
    return _decided(blank, drop, limit)


def range_or_threshold(
    baseline: float, candidate: float, spread: float | None, *, k: int, threshold: float, factor: float = 2
) -> Verdict:
    """Blocks a drop by more than the larger of ``factor`` ranges and a practical ``threshold``.

    Raises ValueError for a negative threshold.
    """
    at_least_zero("threshold", threshold)
    drop, limit = _drop(baseline, candidate, k), _multiple("spread", spread, factor)
    blank = Verdict("range_or_threshold", None, None, None, None, k)
    return _decided(blank, drop, None if limit is None else max(limit, threshold))


def interval_below_zero(interval: Interval) -> Verdict:
    """Blocks where the whole interval of candidate - baseline lies below zero.

    ``value`` is how far its upper end lies below zero, and the limit is 0.
    """
    blank = Verdict("interval", None, None, None, None, interval.n, interval.unit)
    if interval.high is None:
        return replace(blank, note=interval.note or "the interval is not known")
    return _decided(blank, -interval.high, 0.0)


def prediction_limit(
    baseline: float, candidate: float, sd: float | None, *, k: int, candidate_runs: int = 1, level: float = 0.95
) -> Verdict:
    """Blocks a drop beyond the prediction limit of ``candidate_runs`` new runs against the mean of ``k``.

    t(k-1) sd sqrt(1/candidate_runs + 1/k), two-sided at ``level``: a candidate without a drop is blocked in
    (1 - level) / 2 of cases. Raises ValueError for an sd that is not positive.
    """
    drop = _drop(baseline, candidate, k)
    count("candidate_runs", candidate_runs)
    blank = Verdict("prediction", None, None, None, None, k)
    limit = new_run_limit(k, sd, level=level)
    if limit.width is None:
        return replace(blank, value=drop, note=limit.note)
    width = limit.width * _difference_sd(k, candidate_runs) / _difference_sd(k, 1)
    return _decided(blank, drop, width)


def two_sd_band(baseline: float, candidate: float, sd: float | None, *, k: int, factor: float = 2) -> Verdict:
    """Blocks a drop by more than ``factor`` sd of the baseline's runs: the usual band, which ignores that k is small.

    ``prediction_limit`` is the rule that keeps its promise.
    """
    drop, limit = _drop(baseline, candidate, k), _multiple("sd", sd, factor)
    blank = Verdict("two_sd", None, None, None, None, k)
    return _decided(blank, drop, limit)


def detection_rate(
    rule: RuleName,
    drop: float,
    *,
    k: int,
    candidate_runs: int | None = None,
    factor: float = 2,
    threshold: float = 0,
    level: float = 0.95,
    either_side: bool = False,
    paired: bool = True,
) -> float | None:
    """Probability that a rule with ``k`` baseline runs stops a candidate whose true mean is lower by ``drop``.

    ``drop`` and ``threshold`` are in sd of one run; runs are normal with the same sd in both arms. ``candidate_runs``
    is k unless given. ``either_side`` counts a step up as well as a drop. "interval" is the t interval over k runs
    paired by repeat that share nothing, or with ``paired=False`` Welch's over the runs of both arms; other rules do not
    look at pairs. None where k < 2, with Welch's where either number is.

    Exact: the range of a normal sample is independent of its mean (Basu 1955), so the rate is an integral over the
    range's distribution; with an sd it is a noncentral t; with Welch's interval a noncentral t given the share of one
    arm in the sum of squares, which is beta distributed and independent of that sum, integrated over the share.
    Raises ValueError for numbers that are not finite, k or candidate_runs below 1, a negative factor or threshold, and
    paired arms of unequal k.
    """
    runs = k if candidate_runs is None else candidate_runs
    finite("drop", drop)
    _checked(rule, k, runs, factor, threshold, level, paired)
    welch = rule == "interval" and not paired
    if k < 2 or (welch and runs < 2):
        return None
    sides = (drop, -drop) if either_side else (drop,)
    spread = _difference_sd(k, runs)
    if rule in ("twice_range", "range_or_threshold"):
        least = threshold if rule == "range_or_threshold" else 0.0
        return _rate(_range_rule(side, spread, k, factor, least) for side in sides)
    if welch:
        return _rate(_welch_rule(side, k, runs, level) for side in sides)
    multiple = {
        "two_sd": factor / spread,
        "prediction": -float(stdtrit(k - 1, (1 - level) / 2)),
        "interval": -float(stdtrit(k - 1, (1 - level) / 2)),
    }[rule]
    return _rate(float(exceeds(multiple, k - 1, side / spread)) for side in sides)


def false_alarm_rate(
    rule: RuleName,
    *,
    k: int,
    candidate_runs: int | None = None,
    factor: float = 2,
    threshold: float = 0,
    level: float = 0.95,
    either_side: bool = False,
    paired: bool = True,
) -> float | None:
    """Probability that the rule stops a candidate without any drop; arguments as of ``detection_rate``."""
    return detection_rate(
        rule,
        0.0,
        k=k,
        candidate_runs=candidate_runs,
        factor=factor,
        threshold=threshold,
        level=level,
        either_side=either_side,
        paired=paired,
    )


def range_density(w: Floats, k: int) -> Floats:
    """Density at ``w``, shape (n,), of the range of ``k`` standard normal values (Tippett 1925).

    f(w) = k (k - 1) integral of phi(x) phi(x + w) (Phi(x + w) - Phi(x))^(k - 2) dx. Raises ValueError unless w is
    finite and at least 0 and k a whole number of at least 2.
    """
    count("k", k, 2)
    bad = ~((w >= 0) & (w <= LARGEST))
    if bad.any():
        raise ValueError(f"w must be numbers from 0 to {LARGEST:g}, not {w[bad].flat[0]}")
    # Centred on the middle of the range, where the integrand is symmetric and at most exp(-x^2) times its peak.
    x, weight = _gauss(-_FURTHEST_MIDDLE, _FURTHEST_MIDDLE)
    low, high = x[:, None] - w / 2, x[:, None] + w / 2
    with np.errstate(divide="ignore"):  # Nothing lies within a range of 0: its logarithm is -inf, the density 0.
        inside = np.log1p(-np.minimum(ndtr(low) + ndtr(-high), 1.0)) if k > 2 else np.zeros_like(low)
    log_density = math.log(k) + math.log(k - 1) - (low**2 + high**2) / 2 + (k - 2) * inside
    return np.asarray(weight @ np.exp(log_density) / (2 * math.pi), dtype=np.float64)


def _rate(sides: Iterable[float]) -> float:
    """The sum over the sides, which cannot happen together; what the last digits add beyond 0..1 is rounding."""
    return min(1.0, max(0.0, math.fsum(sides)))


def _range_rule(drop: float, spread: float, k: int, factor: float, threshold: float) -> float:
    """P(difference of means > max(factor x range, threshold)).

    Split where the two limits meet, and around the range at which the limit is the drop: many runs make a step of it.
    """
    furthest = -2 * float(ndtri(_LOST / k))
    places = (threshold, drop - _FURTHEST * spread, drop + _FURTHEST * spread) if factor else ()
    cuts = sorted({0.0, furthest, *(min(max(place / factor, 0.0), furthest) for place in places)})
    total = 0.0
    for low, high in pairwise(cuts):
        w, weight = _gauss(low, high)
        limit = np.maximum(factor * w, threshold)
        total += float(weight @ (range_density(w, k) * ndtr((drop - limit) / spread)))
    return total


def _welch_rule(drop: float, k: int, runs: int, level: float) -> float:
    """P(the Welch interval lies below zero), by integration over the angle whose squared sine is the baseline's share.

    Given the share W of the k runs in the sum of squares T ~ chi2(v), v = k + runs - 2, Welch's error is sqrt(T c(W))
    and his degrees of freedom are a function of W; drop over error is then a noncentral t(v) times a constant.
    """
    one, other = k - 1, runs - 1
    angle, weight = _angles(one - 1, other - 1)
    share, rest = np.sin(angle) ** 2, np.cos(angle) ** 2
    a, b = share / (one * k), rest / (other * runs)
    df = (a + b) ** 2 / (a**2 / one + b**2 / other)
    spread = _difference_sd(k, runs)
    limit = -stdtrit(df, (1 - level) / 2) * np.sqrt((one + other) * (a + b)) / spread
    return float(weight @ exceeds(limit, one + other, drop / spread))


def _angles(p: int, q: int) -> tuple[Floats, Floats]:
    """Nodes, and weights that sum to 1, for an angle from 0 to pi / 2 with density ~ sin^p cos^q.

    Its logarithm is nowhere less curved than (sqrt(p) + sqrt(q))^2, so that all of it lies within 9 over the root of
    that around the peak. The ratio to the peak is written so that no digit is lost where p and q are large.
    """
    peak = math.atan2(math.sqrt(p), math.sqrt(q))
    reach = _FURTHEST / (math.sqrt(p) + math.sqrt(q)) if p or q else math.pi
    angle, weight = _gauss(max(0.0, peak - reach), min(math.pi / 2, peak + reach))
    turned, sine = -2 * np.sin((angle - peak) / 2) ** 2, np.sin(angle - peak)
    log_density = np.zeros_like(angle)
    if p:
        log_density += p * np.log1p(turned + sine * math.sqrt(q / p))
    if q:
        log_density += q * np.log1p(turned - sine * math.sqrt(p / q))
    weight = weight * np.exp(log_density)
    return angle, weight / weight.sum()


def _gauss(low: float, high: float) -> tuple[Floats, Floats]:
    nodes, weights = gauss_legendre(_NODES)
    half = (high - low) / 2
    return low + half * (nodes + 1), half * weights


def _difference_sd(k: int, candidate_runs: int) -> float:
    return math.sqrt(1 / k + 1 / candidate_runs)


def _decided(blank: Verdict, value: float, limit: float | None) -> Verdict:
    if limit is None:
        return replace(blank, value=value, note="the spread of the baseline's runs has not been measured")
    # 78.4 - 75.2 exceeds 2 x 1.6 in binary; a drop equal to its limit passes.
    margin = limit - value
    blocked = margin < -1e-9 * max(abs(limit), abs(value))
    return replace(blank, value=value, limit=limit, margin=margin, blocked=blocked)


def _drop(baseline: float, candidate: float, k: int) -> float:
    count("k", k)
    return finite("baseline", baseline) - finite("candidate", candidate)


def _multiple(name: str, spread: float | None, factor: float) -> float | None:
    at_least_zero("factor", factor)
    return None if spread is None else factor * at_least_zero(name, spread)


def _checked(rule: str, k: int, runs: int, factor: float, threshold: float, level: float, paired: bool) -> None:
    checked_level(level)
    at_least_zero("factor", factor)
    at_least_zero("threshold", threshold)
    count("k", k)
    count("candidate_runs", runs)
    if rule == "interval" and paired and runs != k:
        raise ValueError(f"runs paired by repeat need equal numbers of them, not {k} and {runs}")
    names = get_args(RuleName)
    if rule not in names:
        raise ValueError(f"rule must be one of {', '.join(names)}, not {rule}")
