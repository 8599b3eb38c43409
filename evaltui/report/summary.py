"""The report model: frozen results that the JSON report, the text report and the screen all show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaltui.core.study import StudyInfo

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds, over the last attempt of each terminal cell; None before the first."""

    p50: float | None
    p95: float | None
    max: float | None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One (arm, repeat). ``score`` is None without a counted cell; ``counts`` are terminal cells by status.

    ``in_flight`` is the mean number of calls that its endpoint was answering when one of this run was sent; None where
    no call tells. ``in_flight_of_others`` is the median of that over the arm's other runs, where this run's differs
    from it; else None. ``cached_tokens`` are those of ``prompt_tokens`` that the server had in its cache.
    """

    repeat: int
    done: int
    n_items: int
    score: float | None
    strict: float | None
    bounds: Pair | None
    counted: int
    counts: Mapping[str, int]
    retries: int
    comparable: bool
    latency: Latency
    queue_wait_s: float | None
    started: float | None
    finished: float | None
    attempts: Mapping[str, int]
    tokens: int
    cost: float
    prompt_tokens: int
    cached_tokens: int
    in_flight: float | None
    in_flight_of_others: float | None = None

    @property
    def calls(self) -> int:
        return sum(self.attempts.values())

    @property
    def complete(self) -> bool:
        return self.done == self.n_items


@dataclass(frozen=True, slots=True)
class BandSummary:
    """Run-to-run spread of complete runs: the band for the same items, asked again.

    ``measured`` is False where k is 1 or the repeats are not repeats; ``note`` says so. ``level`` is that of
    ``sd_low`` to ``sd_high`` and of ``next_run``: where one more run on the same items will land, None before three
    runs. ``sampling`` is the other band, for other items like these: ``z`` standard errors of the mean over items.
    Where every item passed, or none did, it is None and ``sampling_limits`` are the exact limits of the pass rate.
    ``sampling_note`` says what neither takes into account.
    """

    k: int
    mean: float | None
    sd: float | None
    sd_low: float | None
    sd_high: float | None
    z: float
    band: float | None
    measured: bool
    level: float
    next_run: Pair | None = None
    sampling: float | None = None
    sampling_limits: Pair | None = None
    sampling_note: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class FlipSummary:
    """How verdicts change between runs. ``items`` have at least two verdicts; ``items_that_flip`` have two labels.

    The ``score_`` fields count only changes of the score: two wrong answers that differ are one score and two labels.
    """

    pairwise: float | None
    between_runs: float | None
    minority: float | None
    items_that_flip: int
    items: int
    text_changes: int
    expected_changes: float | None
    score_pairwise: float | None
    score_items_that_flip: int


@dataclass(frozen=True, slots=True)
class ExcessSummary:
    """Variance of run means over what independent flips of items give, and the test that it is more; None: unknown."""

    ratio: float | None
    p: float | None
    method: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """``mean`` and ``range`` are over complete runs; None where there is none (range: fewer than two)."""

    name: str
    runs: tuple[RunSummary, ...]
    mean: float | None
    range: float | None
    band: BandSummary
    flips: FlipSummary
    excess_spread: ExcessSummary


@dataclass(frozen=True, slots=True)
class IntervalSummary:
    """``unit`` is items, runs or clusters; ``estimand`` says in words what the interval is about."""

    method: str
    unit: str
    estimand: str
    low: float | None
    high: float | None
    level: float
    n: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Headline:
    method: str
    low: float | None
    high: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """The item interval beside the clustered standard error, ``sem``, of the same values.

    ``ratio`` is half-width over half-width, each as a multiple of its own quantile; ``agrees`` is None where nothing
    independent could be compared. ``note`` says to check the clustering, and why; empty where there is no need.
    """

    sem: IntervalSummary
    ratio: float | None
    agrees: bool | None
    note: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What stops a comparison, or goes with it: a stable code, a sentence, and the same in a few words."""

    code: str
    text: str
    short: str


@dataclass(frozen=True, slots=True)
class NotCompared:
    """Two arms that may not be compared, and each thing that stops it."""

    baseline: str
    candidate: str
    stops: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """Candidate minus baseline over the counted cells of the frontier. ``gained``/``lost`` are items by mean score.

    ``headline`` leads among ``intervals``, all of a fixed size: none of them may end a study early. ``sequence`` is
    valid at every look as long as whole runs do not move; ``stopping`` says whether it may end a study early, and is
    empty once the study is finished. ``forecast`` is the probability that the finished headline excludes zero, None
    where ``forecast_note`` says why.
    ``marks`` are what has to be said wherever the comparison is shown: pins that differ, arms that ran at other
    times, runs that are not comparable. ``sentence`` ends with them. ``cross_check`` is None where items do not
    come in clusters.
    """

    baseline: str
    candidate: str
    difference: float | None
    baseline_mean: float | None
    candidate_mean: float | None
    n_items: int
    n_in_flight: int
    n_left_out: int
    intervals: tuple[IntervalSummary, ...]
    headline: Headline | None
    sequence: IntervalSummary
    forecast: float | None
    forecast_note: str
    stopping: str
    gained: int
    lost: int
    sentence: str
    marks: tuple[Mark, ...] = ()
    cross_check: CheckSummary | None = None


@dataclass(frozen=True, slots=True)
class CategorySummary:
    """``p_adjusted`` (Holm) bounds the chance of any false alarm among categories, ``q`` (Benjamini and Hochberg) the
    share of false ones among those called."""

    category: str
    n: int
    difference: float | None
    low: float | None
    high: float | None
    p_adjusted: float | None
    q: float | None


@dataclass(frozen=True, slots=True)
class Notice:
    """A stable code and a sentence."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Progress:
    """``eta_s`` is None before it can be told. ``cost`` is in the currency of the prices.

    ``cost`` and ``requests`` are of all calls, those of warm-up runs too, whose cells are counted apart.
    """

    done: int
    total: int
    cost: float
    requests: int
    eta_s: float | None
    warmup_done: int = 0
    warmup_total: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    info: StudyInfo
    arms: tuple[ArmSummary, ...]
    comparisons: tuple[ComparisonSummary, ...]
    not_compared: tuple[NotCompared, ...]
    categories: tuple[CategorySummary, ...]
    warnings: tuple[Notice, ...]
    progress: Progress
