"""Tables and widths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from evaltui.core.text import clean
from evaltui.tui.cells import cut, fit
from evaltui.tui.table import Cell, Column, Row, Table

COLUMNS = (Column("name", 6, grow=True), Column("n", 4, right=True, rank=2), Column("note", 8, rank=1))


class TableApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Table(COLUMNS)


def row(key: str, number: int = 1) -> Row:
    return Row(key, (Cell(key), Cell(str(number)), Cell("note")))


@given(st.text(max_size=40), st.integers(0, 30), st.booleans())
def test_fitted_text_has_exactly_the_width(text: str, width: int, right: bool) -> None:
    assert cell_len(fit(clean(text), width, right=right)) == width


@given(st.text(max_size=40), st.integers(1, 30))
def test_cut_text_is_never_wider(text: str, width: int) -> None:
    assert cell_len(cut(clean(text), width)) <= width


@pytest.mark.parametrize(("text", "shown"), [("計算する", "計算…"), ("abcdefg", "abcd…"), ("ab", "ab   ")])
def test_a_cut_never_splits_a_character(text: str, shown: str) -> None:
    assert fit(text, 5) == shown


@pytest.mark.parametrize(
    ("width", "header"),
    [
        (40, " name" + " " * 17 + "    n note"),
        (21, " name      n note"),
        (20, " name   note"),
        (12, " name"),
        (3, " na"),
    ],
)
async def test_columns_leave_by_rank_and_what_is_left_over_goes_to_the_growing_one(width: int, header: str) -> None:
    app = TableApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        drawn = app.query_one(Table).draw_header(0, width).text
        assert len(drawn) == width
        assert drawn.split() == header.split()


async def test_the_cursor_follows_its_key() -> None:
    app = TableApp()
    async with app.run_test() as pilot:
        table = app.query_one(Table)
        table.show([row("a"), row("b"), row("c")])
        table.focus()
        await pilot.press("down", "down")
        assert table.key == "c"
        table.show([row("c"), row("a"), row("b")])
        assert table.key == "c"
        table.show([row("a")])
        assert table.key == "a"
        table.show([])
        assert table.key is None


async def test_a_heading_leaves_out_whole_what_does_not_fit() -> None:
    app = TableApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        table = app.query_one(Table)
        table.show([Row("h", (Cell("baseline"), Cell("mean"), Cell("81.2"), Cell("range 1.9")), heading=True)])
        assert table.draw_row(0, 22, cursor=False).text == " baseline mean 81.2   "
