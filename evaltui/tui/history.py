"""How each comparison's interval narrowed: a thinned line of points, the same for a watcher and for a late comer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final, TypeVar

from evaltui.core.delta import NO_WARMUP, AttemptBatch, CellBatch, Delta
from evaltui.report.summary import ComparisonSummary, Summary

_Batch = TypeVar("_Batch", CellBatch, AttemptBatch)

MOST_POINTS: Final = 512
SLICES: Final = 48
"""Into how many points a whole study falls for who comes late."""


@dataclass(frozen=True, slots=True)
class TracePoint:
    """The headline interval of a comparison after ``done`` terminal cells of the study."""

    done: int
    difference: float
    low: float | None
    high: float | None


class History:
    """Points per comparison, in the order of the summary's comparisons."""

    def __init__(self) -> None:
        self._points: list[list[TracePoint]] = []

    def add(self, summary: Summary) -> None:
        """Note where each comparison stands; a summary without news adds nothing."""
        while len(self._points) < len(summary.comparisons):
            self._points.append([])
        for points, comparison in zip(self._points, summary.comparisons, strict=True):
            point = _point(summary.progress.done, comparison)
            if point is None:
                continue
            if points and points[-1].done == point.done:
                points[-1] = point
            else:
                points.append(point)
            if len(points) > MOST_POINTS:
                del points[1:-1:2]

    def points(self) -> tuple[tuple[TracePoint, ...], ...]:
        return tuple(tuple(points) for points in self._points)


def in_slices(delta: Delta) -> Iterator[Delta]:
    """A large delta as a sequence of smaller ones, so that whoever attaches late sees how the interval narrowed.

    The last one carries the attempts and events. A delta that is small beside the study stays whole.
    """
    n = len(delta.cells)
    share = max(1, delta.info.design.n_cells // SLICES)
    step = share if n >= 2 * share else max(n, 1)
    empty = _rows(delta.attempts, slice(0, 0))
    starts = range(0, max(n, 1), step)
    for start in starts:
        cells = _rows(delta.cells, slice(start, start + step))
        if start == starts[-1]:
            yield replace(delta, cells=cells)
        else:
            yield replace(delta, cells=cells, attempts=empty, events=(), warmup=NO_WARMUP)


def _point(done: int, comparison: ComparisonSummary) -> TracePoint | None:
    if comparison.difference is None:
        return None
    headline = comparison.headline
    low, high = (None, None) if headline is None else (headline.low, headline.high)
    return TracePoint(done, comparison.difference, low, high)


def _rows(batch: _Batch, rows: slice) -> _Batch:
    return type(batch)(**{field.name: getattr(batch, field.name)[rows] for field in fields(batch)})
