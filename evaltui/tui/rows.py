"""A scrolling list of rows drawn line by line: only what is visible costs anything, and the cursor has a row."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from evaltui.tui.actions import bindings


class Rows(ScrollView, can_focus=True):
    """Subclasses say how many rows there are and draw the header and one row; scrolling and cursor are here."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("rows")]
    DEFAULT_CSS = """
    Rows { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """

    class Selected(Message):
        """Enter or a second click on a row."""

        def __init__(self, rows: Rows, row: int) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        @property
        def control(self) -> Rows:
            return self.rows

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, rows: Rows, row: int) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

    row: reactive[int] = reactive(0, repaint=True)

    def __init__(self, *, header_lines: int, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.header_lines = header_lines
        self.n_rows = 0
        self.placed = False
        """Whether somebody has put the cursor where it is; at first, and after going to the first row, nobody has."""

    @abstractmethod
    def draw_header(self, line: int, width: int) -> Strip:
        """One of the lines that stay at the top; ``width`` cells."""

    @abstractmethod
    def draw_row(self, row: int, width: int, *, cursor: bool) -> Strip:
        """A row; ``width`` cells."""

    def set_rows(self, count: int) -> None:
        """Say how many rows there are now and redraw."""
        if count != self.n_rows:
            self.n_rows = count
            self.virtual_size = Size(self.size.width, self.header_lines + count)
        self.row = max(0, min(self.row, count - 1))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if width <= 0:
            return Strip.blank(0)
        if y < self.header_lines:
            return self.draw_header(y, width)
        row = y - self.header_lines + self.scroll_offset.y
        if row >= self.n_rows:
            return Strip.blank(width, self.rich_style)
        return self.draw_row(row, width, cursor=row == self.row and self.has_focus)

    @property
    def page_lines(self) -> int:
        """How many rows fit below the header."""
        return max(1, self.scrollable_content_region.height - self.header_lines)

    def show_row(self, row: int, *, at: int | None = None) -> None:
        """Scroll as little as it takes to see a row, or so that it stands on screen line ``at`` of the rows."""
        top = self.scroll_offset.y
        if at is not None:
            top = row - max(0, min(at, self.page_lines - 1))
        elif row < top:
            top = row
        elif row > top + self.page_lines - 1:
            top = row - self.page_lines + 1
        self.scroll_to(y=max(0, min(top, self.n_rows - self.page_lines)), animate=False, immediate=True)

    def watch_row(self, before: int, row: int) -> None:
        if self.is_mounted and self.n_rows:
            self.show_row(row)
            self.post_message(self.Moved(self, row))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self.virtual_size = Size(self.size.width, self.header_lines + self.n_rows)
        if self.n_rows:
            self.show_row(self.row)

    def on_click(self, event: events.Click) -> None:
        line = event.get_content_offset(self)
        if line is None or line.y < self.header_lines:
            return
        row = line.y - self.header_lines + self.scroll_offset.y
        if 0 <= row < self.n_rows:
            again = row == self.row
            self.row, self.placed = row, True
            if again or event.chain > 1:
                self.action_select()

    def action_cursor(self, step: int) -> None:
        self.row, self.placed = max(0, min(self.row + step, self.n_rows - 1)), True

    def action_page(self, step: int) -> None:
        self.action_cursor(step * self.page_lines)

    def action_edge(self, side: int) -> None:
        self.row, self.placed = (0, False) if side < 0 else (max(0, self.n_rows - 1), True)

    def action_select(self) -> None:
        if self.n_rows:
            self.post_message(self.Selected(self, self.row))
