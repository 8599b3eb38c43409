"""The headline interval as it narrowed: a filled band over the progress of the study, with its zero line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from evaltui.core.format import points as in_points
from evaltui.tui.history import TracePoint
from evaltui.tui.marks import UNICODE, Marks

AXIS_WIDTH: Final = 7
LEAST_SPAN: Final = 0.005
EARLY: Final = 0.25
"""The share of the way so far whose wide intervals do not set the scale."""


class Trace(Widget):
    """Time runs to the right, zero is the middle line, and the band is drawn in half lines."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"trace--band", "trace--line", "trace--zero", "trace--axis"}
    DEFAULT_CSS = """
    Trace {
        height: 10;
        & > .trace--band { color: $primary 30%; }
        & > .trace--line { color: $primary; text-style: bold; }
        & > .trace--zero { color: $foreground 70%; }
        & > .trace--axis { color: $foreground 55%; }
    }
    """

    def __init__(self, *, id: str | None = None, marks: Marks = UNICODE) -> None:
        super().__init__(id=id)
        self.marks = marks
        self._points: tuple[TracePoint, ...] = ()
        self._total = 1

    def show(self, points: tuple[TracePoint, ...], total: int) -> None:
        """Draw these points; ``total`` is the number of cells at which the right edge is reached."""
        if points != self._points or total != self._total:
            self._points, self._total = points, max(1, total)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        base = self.rich_style
        room, middle = width - AXIS_WIDTH, (height - 2) // 2
        if room <= 0 or not self._points:
            return Strip.blank(width, base)
        if y > 2 * middle:
            caption = "" if y > 2 * middle + 1 else self._caption(room)
            segment = Segment(" " * AXIS_WIDTH + caption, self.get_component_rich_style("trace--axis"))
            return Strip([segment]).adjust_cell_length(width, base)
        top = scale(self._points)
        label = {0: in_points(top, signed=True), middle: "0", 2 * middle: in_points(-top, signed=True)}.get(y, "")
        segments = [Segment(label.rjust(AXIS_WIDTH - 1) + " ", self.get_component_rich_style("trace--axis"))]
        segments += [self._cell(point, y, middle, top) for point in columns(self._points, room, self._total)]
        return Strip(segments).adjust_cell_length(width, base)

    def _caption(self, room: int) -> str:
        """What runs to the right, and where it ends."""
        left, right = "verdicts", f"{self._total:,}"
        return left + right.rjust(room - len(left)) if room > len(left) + len(right) else ""

    def _cell(self, point: TracePoint | None, y: int, middle: int, top: float) -> Segment:
        marks, base = self.marks, self.rich_style
        band = self.get_component_rich_style("trace--band")
        upper, lower = (False, False) if point is None else _halves(point, y, middle, top)
        inside = Style(bgcolor=band.color) if upper and lower else Style(bgcolor=base.bgcolor)
        if point is not None and y == _line_of(point.difference, middle, top):
            return Segment(marks.point, inside + _ink(self.get_component_rich_style("trace--line")))
        if y == middle:
            return Segment(marks.line, inside + _ink(self.get_component_rich_style("trace--zero")))
        mark = marks.block if upper and lower else marks.upper if upper else marks.lower if lower else " "
        return Segment(mark, Style(color=band.color, bgcolor=base.bgcolor))


def scale(points: Sequence[TracePoint]) -> float:
    """The value at the top edge: the furthest end of the intervals, the early ones aside."""
    start = EARLY * points[-1].done
    ends = [abs(value) for point in points if point.done >= start for value in _values(point)]
    return max([LEAST_SPAN, *ends])


def columns(points: Sequence[TracePoint], width: int, total: int) -> list[TracePoint | None]:
    """One point a column: the last that had arrived by then; None after the latest and before the first."""
    found: list[TracePoint | None] = []
    latest, at = points[-1].done, 0
    current: TracePoint | None = None
    for column in range(width):
        reached = (column + 1) * total / width
        while at < len(points) and points[at].done <= reached:
            current = points[at]
            at += 1
        ahead = column * total / width >= latest
        found.append(None if ahead else current)
    return found


def _values(point: TracePoint) -> list[float]:
    return [value for value in (point.difference, point.low, point.high) if value is not None]


def _line_of(value: float, middle: int, top: float) -> int:
    return round(middle - middle * value / top)


def _halves(point: TracePoint, y: int, middle: int, top: float) -> tuple[bool, bool]:
    """Whether the upper and the lower half of a line lie in the interval."""
    if point.low is None or point.high is None:
        return False, False
    above, below = ((middle - y + shift) * top / max(1, middle) for shift in (0.25, -0.25))
    return point.low <= above <= point.high, point.low <= below <= point.high


def _ink(style: Style) -> Style:
    return Style(color=style.color, bold=style.bold)
