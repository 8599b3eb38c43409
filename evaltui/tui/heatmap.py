"""Items x runs: a letter and a colour for every verdict, the odd ones out in full strength."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.strip import Strip

from evaltui.core.records import Item
from evaltui.core.status import STATUS_BY_CODE
from evaltui.core.text import clean
from evaltui.tui import heat
from evaltui.tui.actions import bindings
from evaltui.tui.cells import cut, fit
from evaltui.tui.heat import HeatFrame, Order
from evaltui.tui.marks import STATUS_LETTERS, UNICODE, Marks
from evaltui.tui.rows import Rows

RATE_WIDTH: Final = 7
LABEL_WIDTH: Final = 12
"""What the item's name needs at least."""
ARM_GAP: Final = 2


class Heatmap(Rows):
    """The cursor stays on its item, and the item on its line, when the order changes."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("heatmap")]
    VERDICTS: ClassVar[tuple[str, ...]] = ("pass", "partial", "fail", "missing")
    COMPONENT_CLASSES: ClassVar[set[str]] = (
        {f"heatmap--{verdict}" for verdict in VERDICTS}
        | {f"heatmap--{verdict}-quiet" for verdict in VERDICTS}
        | {f"heatmap--{part}" for part in ("pending", "arm", "run", "label", "note", "calm", "warm", "hot", "cursor")}
    )
    DEFAULT_CSS = """
    Heatmap {
        & > .heatmap--pass { color: $verdict-pass-ink; background: $verdict-pass; text-style: bold; }
        & > .heatmap--pass-quiet { color: $verdict-pass-quiet-ink; background: $verdict-pass-quiet; }
        & > .heatmap--fail { color: $verdict-fail-ink; background: $verdict-fail; text-style: bold; }
        & > .heatmap--fail-quiet { color: $verdict-fail-quiet-ink; background: $verdict-fail-quiet; }
        & > .heatmap--partial { color: $verdict-partial-ink; background: $verdict-partial; text-style: bold; }
        & > .heatmap--partial-quiet { color: $verdict-partial-quiet-ink; background: $verdict-partial-quiet; }
        & > .heatmap--missing { color: $verdict-missing-ink; background: $verdict-missing; text-style: bold; }
        & > .heatmap--missing-quiet { color: $verdict-missing; background: $verdict-missing-quiet; text-style: bold; }
        & > .heatmap--pending { color: $verdict-pending; }
        & > .heatmap--arm { color: $primary; text-style: bold; }
        & > .heatmap--run { color: $foreground 55%; }
        & > .heatmap--label { color: $foreground; }
        & > .heatmap--note { color: $foreground 55%; }
        & > .heatmap--calm { color: $foreground 55%; }
        & > .heatmap--warm { color: $warning; }
        & > .heatmap--hot { color: $error; text-style: bold; }
        & > .heatmap--cursor { background: $primary 22%; }
    }
    """

    def __init__(self, *, id: str | None = None, marks: Marks = UNICODE) -> None:
        super().__init__(header_lines=2, id=id)
        self.marks = marks
        self.frame: HeatFrame | None = None
        self.items: tuple[Item, ...] = ()
        self.arms: tuple[str, ...] = ()
        self.order = Order.FLIP
        self._rows: NDArray[np.intp] = np.arange(0)
        self._first_run = 0
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(1024)
        self._styles: dict[str, Style] = {}

    def show(
        self, frame: HeatFrame, rows: NDArray[np.intp], order: Order, items: tuple[Item, ...], arms: Sequence[str]
    ) -> None:
        """Draw this frame with its rows sorted so.

        The item under the cursor keeps its place on the screen; a cursor that nobody has placed stays on the first row.
        """
        position = self.position
        line = self.row - self.scroll_offset.y
        self.frame, self.items, self.arms, self.order = frame, items, tuple(arms), order
        self._rows = rows
        self.set_rows(len(rows))
        if not self.placed or position is None or position >= len(rows):
            return
        row = int(np.flatnonzero(rows == position)[0])
        if row != self.row:
            self.set_reactive(Rows.row, row)
            self.show_row(row, at=line)
            self.refresh()

    def sort(self, order: Order) -> None:
        """Sort what is shown."""
        if self.frame is not None:
            self.show(self.frame, heat.ordered(self.frame, order), order, self.items, self.arms)

    @property
    def position(self) -> int | None:
        """The position of the item under the cursor."""
        return int(self._rows[self.row]) if self.row < len(self._rows) else None

    def action_sideways(self, step: int) -> None:
        """Move the window over the runs by half of what it shows."""
        shown = self._window(self.scrollable_content_region.width)[1]
        wanted = self._first_run + step * max(1, shown // 2)
        self._first_run = max(0, min(wanted, self._n_runs - shown))
        self.refresh()

    def notify_style_update(self) -> None:
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    def draw_header(self, line: int, width: int) -> Strip:
        base = self.rich_style
        if self.frame is None:
            return Strip.blank(width, base)
        size, shown = self._window(width)
        if line == 1:
            segments = [Segment(" flip  ", self._style("run")), *self._run_numbers(size, shown)]
            segments.append(Segment(" item", self._style("run")))
        else:
            segments = [Segment(" " * RATE_WIDTH, base), *self._arm_names(size, shown)]
            hidden = self._n_runs - shown
            if hidden > 0:
                segments.append(Segment(f" {hidden} more", self._style("note")))
        return Strip(segments).adjust_cell_length(width, base)

    def draw_row(self, row: int, width: int, *, cursor: bool) -> Strip:
        frame = self.frame
        if frame is None:
            return Strip.blank(width, self.rich_style)
        position = int(self._rows[row])
        shades, flip = frame.shade[position], float(frame.flip[position])
        key = (position, shades.tobytes(), flip, cursor, width, self._first_run)
        strip = self._strips.get(key)
        if strip is None:
            base = self._style("cursor") if cursor else self.rich_style
            segments = [*self._rate(flip, base), *self._tiles(shades, width, base), *self._label(position, base)]
            strip = Strip(segments).adjust_cell_length(width, base)
            self._strips[key] = strip
        return strip

    @property
    def _n_runs(self) -> int:
        return 0 if self.frame is None else self.frame.shade.shape[1]

    def _window(self, width: int) -> tuple[int, int]:
        """How many cells a tile is wide, and how many runs are in sight."""
        room = width - RATE_WIDTH - LABEL_WIDTH - ARM_GAP * max(0, len(self.arms) - 1)
        for size in (2, 1):
            if self._n_runs * size <= room:
                return size, self._n_runs
        return 1, max(1, min(self._n_runs, room))

    def _columns(self, shown: int) -> list[tuple[int, int]]:
        """The runs in sight as (arm, column of the frame)."""
        repeats = self._n_runs // max(1, len(self.arms))
        first = min(self._first_run, self._n_runs - shown)
        return [(run // repeats, run) for run in range(first, first + shown)] if repeats else []

    def _arm_names(self, size: int, shown: int) -> list[Segment]:
        columns = self._columns(shown)
        present = sorted({arm for arm, _ in columns})
        segments = []
        for arm in present:
            width = size * sum(1 for each, _ in columns if each == arm)
            if arm != present[0]:
                segments.append(Segment(" " * ARM_GAP, self.rich_style))
            segments.append(Segment(fit(clean(self.arms[arm], limit=80), width), self._style("arm")))
        return segments

    def _run_numbers(self, size: int, shown: int) -> list[Segment]:
        repeats = self._n_runs // max(1, len(self.arms))
        style, text, before = self._style("run"), "", None
        for arm, run in self._columns(shown):
            number = run % repeats + 1
            gap = " " * ARM_GAP if before is not None and arm != before else ""
            text += gap + (f"{number % 100:>2}" if size == 2 else str(number % 10))
            before = arm
        return [Segment(text, style)]

    def _rate(self, flip: float, base: Style) -> list[Segment]:
        if np.isnan(flip):
            return [Segment("    –  ", self._on("calm", base))]
        tone = "calm" if flip == 0 else "warm" if flip <= 0.3 else "hot"
        level = self.marks.levels[min(7, int(flip * 8))] if flip > 0 else " "
        return [Segment(f" {100 * flip:3.0f} {level} ", self._on(tone, base))]

    def _tiles(self, shades: NDArray[np.uint8], width: int, base: Style) -> list[Segment]:
        size, shown = self._window(width)
        segments: list[Segment] = []
        before: int | None = None
        for arm, run in self._columns(shown):
            if before is not None and arm != before:
                segments.append(Segment(" " * ARM_GAP, base))
            before = arm
            mark, tone = self._tile(int(shades[run]))
            style = self._on("pending", base) if tone == "pending" else self._style(tone)
            segments.append(Segment(mark.rjust(size), style))
        return segments

    def _tile(self, shade: int) -> tuple[str, str]:
        marks = self.marks
        if shade == heat.PENDING:
            return marks.pending, "pending"
        if shade > heat.WITHOUT_SCORE:
            return STATUS_LETTERS[STATUS_BY_CODE[shade - heat.WITHOUT_SCORE]], "missing-quiet"
        if shade == heat.FAILS_OTHERWISE:
            return marks.otherwise, "fail"
        verdict, flipped = shade - (shade + 1) % 2, shade % 2 == 0
        mark, tone = {heat.PASS: (marks.passed, "pass"), heat.FAIL: (marks.failed, "fail")}.get(
            verdict, (marks.partial, "partial")
        )
        return mark, tone if flipped else f"{tone}-quiet"

    def _label(self, position: int, base: Style) -> list[Segment]:
        item = self.items[position]
        segments = [Segment(f" {cut(clean(item.id, limit=200), 60)}", self._on("label", base))]
        if item.category is not None:
            segments.append(Segment(f"  {cut(clean(item.category, limit=80), 24)}", self._on("note", base)))
        return segments

    def _style(self, name: str) -> Style:
        if name not in self._styles:
            self._styles[name] = self.get_component_rich_style(f"heatmap--{name}")
        return self._styles[name]

    def _on(self, name: str, base: Style) -> Style:
        style = self._style(name)
        return Style(color=style.color, bgcolor=base.bgcolor, bold=style.bold)
