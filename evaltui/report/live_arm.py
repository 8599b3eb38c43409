"""One arm while its cells come in: what they say, at the cost of what is new.

Flips are over the verdicts in the finished prefix of each run, so that fast items do not lead them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaltui.core.grid import Grid
from evaltui.core.score import ScoreSums, contributions, score_sums, scored
from evaltui.core.status import PENDING_CODE
from evaltui.report.arms import (
    ArmNumbers,
    RunNumbers,
    Scoring,
    excess_summary,
    known_latencies,
    last_finish,
    told_flips,
    told_latency,
)
from evaltui.report.summary import ExcessSummary
from evaltui.stats import excess
from evaltui.stats.exact import ExactSums
from evaltui.stats.live_flips import LiveFlips

_N_CODES = 256


class LiveArm:
    """Sums over the cells of arm ``arm`` of a grid. A cell that is revised makes its run be summed anew."""

    def __init__(self, arm: int, grid: Grid, scoring: Scoring) -> None:
        self._arm = arm
        self._grid = grid
        self._scoring = scoring
        self._runs = [_LiveRun(arm, column, grid, scoring) for column in range(grid.repeats)]
        self._verdicts, self._scores, self._texts = (LiveFlips(grid.n_items, grid.repeats) for _ in range(3))
        self._score_codes: dict[float, int] = {}
        self._revisions = 0
        self._complete: tuple[bytes, int] | None = None
        self._over_complete: tuple[excess.TextsOverRuns, ExcessSummary]

    def update(self, position: NDArray[np.intp], column: NDArray[np.intp], revised: NDArray[np.bool_]) -> None:
        """Take in the cells (m,) that the grid has just been given; ``revised`` ones had been terminal before."""
        again = set(column[revised].tolist())
        self._revisions += int(np.count_nonzero(revised))
        touched = [position[position < self._grid.prefix(self._arm)[column]]]
        for each in np.unique(column).tolist():
            if each in again:
                self._runs[each] = _LiveRun(self._arm, each, self._grid, self._scoring)
                everything = np.flatnonzero(self._grid.status[self._arm, :, each] != PENDING_CODE)
                self._runs[each].update(everything)
                touched.append(np.arange(self._runs[each].prefix))
            else:
                touched.append(self._runs[each].update(np.unique(position[column == each])))
        self._flip(np.unique(np.concatenate(touched)))

    def numbers(self) -> ArmNumbers:
        """Everything about the arm as it stands."""
        complete = self._grid.complete(self._arm)
        state = (complete.tobytes(), self._revisions)
        if state != self._complete:
            status, score = self._grid.status[self._arm][:, complete], self._grid.score[self._arm][:, complete]
            added = contributions(status, score, self._scoring.policy, self._scoring.score_range)
            repeated = excess.same_texts(self._grid.text[self._arm][:, complete])
            self._over_complete = repeated, excess_summary(added)
            self._complete = state
        repeated, spread = self._over_complete
        return ArmNumbers(
            runs=tuple(run.numbers() for run in self._runs),
            flips=told_flips(self._verdicts.flips(), self._scores.flips(), self._texts.items_that_flip),
            repeated=repeated,
            excess=spread,
        )

    def _flip(self, rows: NDArray[np.intp]) -> None:
        """Compare anew what these items have in the finished prefix of each run."""
        grid, arm = self._grid, self._arm
        reached = rows[:, None] < grid.prefix(arm)[None, :]
        status, score, label = grid.status[arm, rows], grid.score[arm, rows], grid.label[arm, rows]
        carries = scored(status, score)
        by_score = np.full(carries.shape, -1, dtype=np.int64)
        values, places = np.unique(score[carries], return_inverse=True)
        known = self._score_codes
        codes = np.array([known.setdefault(value, len(known)) for value in values.tolist()], dtype=np.int64)
        by_score[carries] = codes[places.reshape(-1)]
        # A verdict without a label is told by its score; codes only have to be equal where verdicts are.
        verdicts = np.where(carries & (label >= 0), 2 * label.astype(np.int64), np.where(carries, 2 * by_score + 1, -1))
        self._verdicts.update(rows, np.where(reached, verdicts, -1))
        self._scores.update(rows, np.where(reached, by_score, -1))
        self._texts.update(rows, np.where(reached, grid.text[arm, rows], -1))


class _LiveRun:
    """Sums over the finished prefix of one run, and over its terminal cells."""

    def __init__(self, arm: int, column: int, grid: Grid, scoring: Scoring) -> None:
        self._at = (arm, column)
        self._grid = grid
        self._scoring = scoring
        self.prefix = 0
        self._sums = ExactSums(2)
        self._counted = 0
        self._scored = 0
        self._by_code = np.zeros(_N_CODES, dtype=np.int64)
        self._retries = 0
        self._latencies: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self._told: RunNumbers | None = None

    def update(self, position: NDArray[np.intp]) -> NDArray[np.intp]:
        """Take in new cells at ``position``, each once; returns the positions that the prefix has moved over."""
        arm, column = self._at
        grid = self._grid
        attempts = grid.attempts[arm, position, column].astype(np.int64)
        self._retries += int(np.maximum(attempts - 1, 0).sum())
        news = np.sort(known_latencies(grid.latency[arm, position, column]))
        self._latencies = np.insert(self._latencies, np.searchsorted(self._latencies, news), news)
        entered = np.arange(self.prefix, int(grid.prefix(arm)[column]))
        status, score = grid.status[arm, entered, column], grid.score[arm, entered, column]
        added = contributions(status, score, self._scoring.policy, self._scoring.score_range)
        counts, carries = ~np.isnan(added), scored(status, score)
        self._sums.add(np.column_stack((np.where(counts, added, 0.0), np.where(carries, score, 0.0))))
        self._counted += int(np.count_nonzero(counts))
        self._scored += int(np.count_nonzero(carries))
        self._by_code += np.bincount(status, minlength=_N_CODES)
        self.prefix += len(entered)
        self._told = None
        return entered

    def numbers(self) -> RunNumbers:
        if self._told is None:
            arm, column = self._at
            sums = ScoreSums(self._sums.total(0), self._counted, self._sums.total(1), self._scored, self._by_code)
            self._told = RunNumbers(
                result=score_sums(
                    sums,
                    n_planned=self._grid.n_items,
                    policy=self._scoring.policy,
                    score_range=self._scoring.score_range,
                ),
                retries=self._retries,
                latency=told_latency(self._latencies),
                finished=last_finish(self._grid, arm, column),
            )
        return self._told
