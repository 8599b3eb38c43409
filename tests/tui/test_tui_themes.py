"""Theme files, and screens without colour or without Unicode."""

from __future__ import annotations

import colorsys
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.segment import Segment
from screen_world import Workspace, monitor_of, screen_text, until
from textual.color import Color
from textual.command import CommandPalette

from evaltui.core.status import Status
from evaltui.tui import themes
from evaltui.tui.app import EvaltuiApp
from evaltui.tui.heatmap import Heatmap
from evaltui.tui.line_filter import ControlFilter
from evaltui.tui.marks import ASCII, STATUS_LETTERS, STATUS_WORDS, UNICODE, marks_for

Make = Callable[..., Workspace]
SHIPPED = themes.load([themes.shipped_folder()]).loaded
GOOD = (themes.shipped_folder() / "dark.toml").read_text(encoding="utf-8")


def test_the_shipped_themes_load() -> None:
    names = {"dark", "light", "colour-blind-safe", "high-contrast", "monochrome"}
    assert {theme.name for theme in SHIPPED} == names
    assert themes.load([themes.shipped_folder()]).failed == ()


@pytest.mark.parametrize("theme", SHIPPED, ids=lambda theme: theme.name)
def test_every_mark_can_be_read_on_its_tile(theme: themes.Theme) -> None:
    for verdict in themes.VERDICTS:
        for kind, least in (("", 4.5), ("-quiet", 3.0)):
            tile = Color.parse(theme.variables[f"verdict-{verdict}{kind}"])
            ink = Color.parse(theme.variables[f"verdict-{verdict}{kind}-ink"])
            assert themes.contrast(tile, ink) >= least


@pytest.mark.parametrize("theme", SHIPPED, ids=lambda theme: theme.name)
def test_text_can_be_read(theme: themes.Theme) -> None:
    surface = Color.parse(theme.surface or "")
    for name in ("foreground", "primary", "warning", "error", "success", "accent"):
        assert themes.contrast(surface, Color.parse(getattr(theme, name))) >= 4.5


def test_the_colour_blind_safe_theme_sets_blue_against_orange() -> None:
    theme = next(theme for theme in SHIPPED if theme.name == "colour-blind-safe")
    hues = {}
    for verdict in ("pass", "fail"):
        red, green, blue = Color.parse(theme.variables[f"verdict-{verdict}"]).normalized
        hues[verdict] = 360 * colorsys.rgb_to_hls(red, green, blue)[0]
    assert 190 <= hues["pass"] <= 260
    assert 25 <= hues["fail"] <= 50


def test_the_monochrome_theme_has_no_colour() -> None:
    theme = next(theme for theme in SHIPPED if theme.name == "monochrome")
    colours = [*theme.variables.values(), *(getattr(theme, name) for name in themes.COLORS)]
    assert all(color.r == color.g == color.b for color in map(Color.parse, colours))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD.replace("#4fbf98", "grün"), "verdicts.pass: 'grün' is not a colour"),
        (GOOD.replace("#4fbf98", "auto 90%"), "verdicts.pass: 'auto 90%'"),
        (GOOD.replace("#4fbf98", "#4fbf9880"), "verdicts.pass: '#4fbf9880' must be a plain colour"),
        (GOOD.replace('"#4fbf98"', "7"), "verdicts.pass: a colour is written in quotes"),
        (GOOD.replace("accent", "akzent"), "colors.akzent: unknown key"),
        (GOOD.replace("accent", "# accent"), "colors: accent missing"),
        (GOOD.replace('name = "dark"', "name = 7"), "name: a theme needs a name"),
        (GOOD.replace("dark = true", 'dark = "yes"'), "dark: must be true or false"),
        ("colors = 7\nname = 'x'", "colors: must be a table"),
        ("name = ", "Invalid value"),
    ],
)
def test_a_theme_that_cannot_be_used_is_named_with_its_key(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    found = themes.load([tmp_path])
    assert found.loaded == ()
    assert [each.where for each in found.failed] == ["mine.toml"]
    assert fault in found.failed[0].message


def test_a_theme_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    assert [each.where for each in themes.load([tmp_path]).failed] == ["mine.toml"]


def test_a_users_theme_replaces_ours_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD.replace("#6cb2f7", "#123456"), encoding="utf-8")
    loaded = {theme.name: theme for theme in themes.load([themes.shipped_folder(), tmp_path]).loaded}
    assert loaded["dark"].primary == "#123456"


async def test_faulty_themes_are_told_in_one_notice_and_the_app_starts(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD.replace("#4fbf98", "[/bold]"), encoding="utf-8")
    (tmp_path / "b.toml").write_text("name =", encoding="utf-8")
    app = EvaltuiApp(tmp_path / "t.db", theme_folders=[themes.shipped_folder(), tmp_path])
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: "a.toml" in screen_text(app) and "b.toml" in screen_text(app))


@pytest.mark.parametrize("theme", [*(theme.name for theme in SHIPPED), "nord", "textual-light"])
async def test_every_theme_draws_the_heatmap(workspace: Make, theme: str) -> None:
    study = workspace(share=0.5)
    app = EvaltuiApp(study.path, study_id=study.study_id, theme=theme)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        assert app.theme == theme
        assert "q0" in screen_text(app)


async def test_moving_through_the_themes_shows_each_and_escape_takes_it_back(workspace: Make) -> None:
    study = workspace(share=0.5)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(120, 40)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await until(pilot, lambda: app.theme == "colour-blind-safe")
        await pilot.press("down", "down")
        await until(pilot, lambda: app.theme == "high-contrast")
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == "dark")


async def test_a_chosen_theme_stays_and_repaints_the_tiles(workspace: Make) -> None:
    study = workspace(share=0.5)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        heatmap = monitor.query_one(Heatmap)
        before = heatmap.draw_row(0, 70, cursor=False)
        await pilot.press("t")
        await until(pilot, lambda: app.theme == "colour-blind-safe")
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: app.screen is monitor and app.theme == "high-contrast")
        await pilot.pause()
        after = heatmap.draw_row(0, 70, cursor=False)
        assert after.text == before.text
        assert list(after) != list(before)


async def test_without_colour_every_state_still_has_its_mark(workspace: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    study = workspace(share=0.7)
    monkeypatch.setenv("NO_COLOR", "1")
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        heatmap = monitor.query_one(Heatmap)
        rows = "".join(heatmap.draw_row(row, 70, cursor=False).text for row in range(heatmap.n_rows))
        assert {"+", "-", "·", "T"} <= set(rows)
        for strip in app.screen._compositor.render_strips():
            for segment in strip.apply_filter(app.get_line_filters()[1], Color(0, 0, 0)):
                color = segment.style.color if segment.style else None
                assert color is None or color.triplet is None or len(set(color.triplet)) == 1


def test_every_way_to_end_without_a_score_has_its_own_letter_and_words() -> None:
    expected = set(Status) - {Status.OK}
    assert set(STATUS_LETTERS) == set(STATUS_WORDS) == expected
    assert len(set(STATUS_LETTERS.values())) == len(expected)


@pytest.mark.parametrize(
    ("encoding", "marks"),
    [
        ("utf-8", UNICODE),
        ("UTF8", UNICODE),
        ("ascii", ASCII),
        ("ANSI_X3.4-1968", ASCII),
        ("cp1252", ASCII),
        (None, ASCII),
    ],
)
def test_marks_fit_the_encoding_of_the_terminal(encoding: str | None, marks: object) -> None:
    assert marks_for(encoding) is marks


def test_the_ascii_marks_are_ascii() -> None:
    assert all(getattr(ASCII, name).isascii() for name in ASCII.__slots__)
    assert all(len(getattr(ASCII, name)) == len(getattr(UNICODE, name)) for name in ASCII.__slots__)


async def test_a_terminal_that_is_not_utf8_gets_ascii_marks(
    workspace: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    study = workspace(share=0.5)
    with (tmp_path / "terminal").open("w", encoding="ascii") as stream:
        monkeypatch.setattr(sys, "__stderr__", stream)
        app = EvaltuiApp(study.path, study_id=study.study_id)
        async with app.run_test(size=(80, 24)) as pilot:
            monitor = await monitor_of(app, pilot)
            heatmap = monitor.query_one(Heatmap)
            assert all(heatmap.draw_row(row, 70, cursor=False).text.isascii() for row in range(heatmap.n_rows - 1))
            assert app.has_class("ascii")
            await pilot.press("1")
            await pilot.pause()
            assert screen_text(app).isascii()


def test_the_net_below_deletes_what_a_terminal_would_obey() -> None:
    segments = [Segment("a\x1b[2Jb"), Segment("c\u202ed\x9be")]
    shown = [segment.text for segment in ControlFilter().apply(segments, Color(0, 0, 0))]
    assert shown == ["a[2Jb", "cde"]


def test_the_net_below_leaves_clean_lines_alone() -> None:
    segments = [Segment("計算 ✔ é"), Segment("│ ▄ ·")]
    assert ControlFilter().apply(segments, Color(0, 0, 0)) is segments
