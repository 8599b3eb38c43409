"""One arm over its runs: scores, band, flips and excess spread."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evaltui.core.grid import Grid
from evaltui.core.score import ScoreRange, score_cells, scored, status_counts
from evaltui.core.status import PENDING_CODE
from evaltui.core.study import MissingPolicy
from evaltui.core.tally import Tally
from evaltui.report.summary import ArmSummary, BandSummary, ExcessSummary, FlipSummary, Latency, Notice, RunSummary
from evaltui.stats import bands, excess, flips


@dataclass(frozen=True, slots=True)
class Scoring:
    """How this study turns cells into scores: the policy for missing ones and the primary scorer's range."""

    policy: MissingPolicy
    score_range: ScoreRange | None


def summarise_arm(
    name: str, arm: int, grid: Grid, tally: Tally, added: NDArray[np.float64], scoring: Scoring
) -> tuple[ArmSummary, tuple[Notice, ...]]:
    """Everything about one arm, and what has to be said about its band.

    ``added`` (items, repeats) holds each cell's contribution. Means, range, band and excess spread are over complete
    runs; flips over the verdicts in the finished prefix of each run, so that fast items do not lead them either.
    """
    runs = tuple(_run(arm, repeat, grid, tally, scoring) for repeat in range(1, grid.repeats + 1))
    complete = grid.complete(arm)
    scores = [run.score for run in runs if run.complete and run.score is not None]
    repeated = excess.same_texts(grid.text[arm][:, complete])
    not_repeats = repeated.note if repeated.genuine is False else ""
    spread = bands.band(scores, not_repeats=not_repeats)
    summary = ArmSummary(
        name=name,
        runs=runs,
        mean=spread.mean,
        range=spread.range,
        band=BandSummary(
            k=spread.k,
            mean=spread.mean,
            sd=spread.sd,
            sd_low=spread.sd_low,
            sd_high=spread.sd_high,
            z=spread.z,
            band=spread.band,
            measured=spread.measured,
        ),
        flips=_flips(arm, grid),
        excess_spread=_excess(np.ascontiguousarray(added[:, complete]).tobytes(), int(complete.sum())),
    )
    if not_repeats:
        return summary, (Notice("not_repeats", f"{name}: {not_repeats}; the band is not measured"),)
    if spread.k > 1 and not spread.measured:
        return summary, (Notice("band_not_measured", f"{name}: {spread.note}"),)
    return summary, ()


def _run(arm: int, repeat: int, grid: Grid, tally: Tally, scoring: Scoring) -> RunSummary:
    column = repeat - 1
    prefix = int(grid.prefix(arm)[column])
    result = score_cells(
        grid.status[arm, :prefix, column],
        grid.score[arm, :prefix, column],
        n_planned=grid.n_items,
        policy=scoring.policy,
        score_range=scoring.score_range,
    )
    terminal = grid.status[arm, :, column] != PENDING_CODE
    done = grid.done(arm, repeat)
    return RunSummary(
        repeat=repeat,
        done=done,
        n_items=grid.n_items,
        score=result.score,
        strict=result.strict,
        bounds=result.bounds,
        counted=result.counted,
        counts=status_counts(grid.counts(arm, repeat)),
        retries=int(np.maximum(grid.attempts[arm, terminal, column].astype(np.int64) - 1, 0).sum()),
        comparable=result.comparable,
        latency=_latency(grid.latency[arm, terminal, column]),
        queue_wait_s=tally.queue_wait(arm, repeat),
        started=tally.started(arm, repeat),
        finished=float(np.nanmax(grid.finished[arm, :, column])) if done == grid.n_items and done else None,
        attempts=tally.attempts(arm, repeat),
        tokens=tally.prompt_tokens(arm, repeat) + tally.completion_tokens(arm, repeat),
        cost=tally.cost(arm, repeat),
    )


def _latency(seconds: NDArray[np.float32]) -> Latency:
    known = seconds[np.isfinite(seconds)].astype(np.float64)
    if not len(known):
        return Latency(None, None, None)
    p50, p95 = np.percentile(known, [50, 95])
    return Latency(round(float(p50), 6), round(float(p95), 6), round(float(known.max()), 6))


def _flips(arm: int, grid: Grid) -> FlipSummary:
    reached = np.arange(grid.n_items)[:, None] < grid.prefix(arm)[None, :]
    found = flips.flips(np.where(reached, verdict_codes(arm, grid), -1))
    of_scores = flips.flips(np.where(reached, _score_codes(arm, grid), -1))
    return FlipSummary(
        pairwise=found.pairwise,
        between_runs=found.between_runs,
        minority=found.minority,
        items_that_flip=found.items_that_flip,
        items=found.items,
        text_changes=flips.text_changes(np.where(reached, grid.text[arm], -1)),
        expected_changes=found.expected_changes,
        score_pairwise=of_scores.pairwise,
        score_items_that_flip=of_scores.items_that_flip,
    )


def verdict_codes(arm: int, grid: Grid) -> NDArray[np.int64]:
    """The verdict of each cell as flips compare it: its label, or its score where the scorer gave none; -1: missing.

    Shape (items, repeats). Only cells that carry a score have a verdict.
    """
    by_score = _score_codes(arm, grid)
    carries = by_score >= 0
    labelled = carries & (grid.label[arm] >= 0)
    codes = np.where(labelled, grid.label[arm], -1).astype(np.int64)
    unlabelled = carries & ~labelled
    codes[unlabelled] = len(grid.labels) + by_score[unlabelled]
    return codes


def _score_codes(arm: int, grid: Grid) -> NDArray[np.int64]:
    """The score of each cell as a code, equal for equal scores; -1 where a cell carries none."""
    carries = scored(grid.status[arm], grid.score[arm])
    codes = np.full(carries.shape, -1, dtype=np.int64)
    if carries.any():
        codes[carries] = np.unique(grid.score[arm][carries], return_inverse=True)[1].reshape(-1)
    return codes


@lru_cache(maxsize=8)
def _excess(contributions: bytes, repeats: int) -> ExcessSummary:
    """Remembered, because complete runs rarely change between two looks and the permutation test takes long."""
    found = excess.excess_spread(np.frombuffer(contributions).reshape(-1, repeats) if repeats else np.empty((0, 0)))
    return ExcessSummary(found.ratio, found.p)
