"""A short table: columns that give way in a stated order when there is no room, tones instead of markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from evaltui.tui.cells import cut, fit
from evaltui.tui.rows import Rows

TONES: Final = ("plain", "muted", "strong", "good", "warn", "bad", "heading")


@dataclass(frozen=True, slots=True)
class Column:
    """``rank`` 0 always stays; higher ranks leave first. ``grow`` takes what is left over."""

    title: str
    width: int
    right: bool = False
    rank: int = 0
    grow: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Text that is clean already, and the tone it is written in."""

    text: str
    tone: str = "plain"


@dataclass(frozen=True, slots=True)
class Row:
    """A row with one cell a column; with ``heading`` its cells follow one another over the whole width instead."""

    key: str
    cells: tuple[Cell, ...]
    heading: bool = False


class Table(Rows):
    """Rows keyed by name: the cursor stays on its key when rows come and go."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"table--{tone}" for tone in TONES} | {"table--header", "table--cursor"}
    DEFAULT_CSS = """
    Table {
        & > .table--plain { color: $foreground; }
        & > .table--muted { color: $foreground 55%; }
        & > .table--strong { color: $foreground; text-style: bold; }
        & > .table--good { color: $success; }
        & > .table--warn { color: $warning; }
        & > .table--bad { color: $error; text-style: bold; }
        & > .table--heading { color: $primary; text-style: bold; }
        & > .table--header { color: $foreground 55%; }
        & > .table--cursor { background: $primary 22%; }
    }
    """

    def __init__(self, columns: Sequence[Column], *, id: str | None = None) -> None:
        super().__init__(header_lines=1, id=id)
        self.columns = tuple(columns)
        self.rows: tuple[Row, ...] = ()
        self._styles: dict[str, Style] = {}

    def show(self, rows: Sequence[Row]) -> None:
        """Replace the rows; the cursor follows its key."""
        key = self.key
        self.rows = tuple(rows)
        found = next((index for index, row in enumerate(self.rows) if row.key == key), None)
        self.set_rows(len(self.rows))
        if found is not None:
            self.row = found

    @property
    def key(self) -> str | None:
        """The key under the cursor, None in an empty table."""
        return self.rows[self.row].key if self.row < len(self.rows) else None

    def draw_header(self, line: int, width: int) -> Strip:
        style = self._style("header")
        shown = self._shown(width)
        return self._strip([(Cell(column.title, "header"), column, size) for column, size in shown], width, style)

    def draw_row(self, row: int, width: int, *, cursor: bool) -> Strip:
        content = self.rows[row]
        base = self._style("cursor") if cursor else self.rich_style
        if content.heading:
            return self._heading(content, width, base)
        by_title = dict(zip((column.title for column in self.columns), content.cells, strict=True))
        shown = self._shown(width)
        return self._strip([(by_title[column.title], column, size) for column, size in shown], width, base)

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()

    def _shown(self, width: int) -> list[tuple[Column, int]]:
        """The columns that fit, with their widths; one blank stands before each."""
        columns = list(self.columns)
        while len(columns) > 1 and sum(column.width + 1 for column in columns) > width:
            worst = max(columns, key=lambda column: column.rank)
            if worst.rank == 0:
                break
            columns.remove(worst)
        spare = max(0, width - 1 - sum(column.width + 1 for column in columns))
        return [(column, column.width + (spare if column.grow else 0)) for column in columns]

    def _strip(self, cells: list[tuple[Cell, Column, int]], width: int, base: Style) -> Strip:
        segments = []
        for cell, column, size in cells:
            segments.append(Segment(" ", base))
            segments.append(Segment(fit(cell.text, size, right=column.right), self._on(cell.tone, base)))
        return Strip(segments).adjust_cell_length(width, base)

    def _heading(self, row: Row, width: int, base: Style) -> Strip:
        """The cells one after another; one that does not fit is left out with all that follow, the first is cut."""
        segments: list[Segment] = []
        room = width
        for cell in row.cells:
            text = cell.text if segments else cut(cell.text, max(1, width - 2))
            room -= 1 + cell_len(text)
            if room < 0:
                break
            segments += [Segment(" ", base), Segment(text, self._on(cell.tone, base))]
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, name: str) -> Style:
        if name not in self._styles:
            self._styles[name] = self.get_component_rich_style(f"table--{name}")
        return self._styles[name]

    def _on(self, tone: str, base: Style) -> Style:
        style = self._style(tone)
        return Style(color=style.color, bgcolor=base.bgcolor, bold=style.bold)
