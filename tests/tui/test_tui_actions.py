"""The table of actions, and what is made of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from screen_world import Bench, screen_text, until

from evaltui.tui.actions import ACTIONS, Action, bindings
from evaltui.tui.app import EvaltuiApp
from evaltui.tui.heatmap import Heatmap
from evaltui.tui.rows import Rows
from evaltui.tui.screens.confirm import Confirm
from evaltui.tui.screens.help import Help
from evaltui.tui.screens.item import ItemScreen
from evaltui.tui.screens.launch import Launch
from evaltui.tui.screens.ledger import Ledger
from evaltui.tui.screens.monitor import Monitor

PLACES: dict[str, type] = {
    "app": EvaltuiApp,
    "ledger": Ledger,
    "launch": Launch,
    "monitor": Monitor,
    "item": ItemScreen,
    "help": Help,
    "confirm": Confirm,
    "rows": Rows,
    "heatmap": Heatmap,
}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.scope}.{action.name}")
def test_every_action_exists_where_the_table_says(action: Action) -> None:
    assert callable(getattr(PLACES[action.scope], f"action_{action.name.partition('(')[0]}"))


@pytest.mark.parametrize("scope", PLACES)
def test_no_key_means_two_things_on_one_screen(scope: str) -> None:
    keys = Counter(key for action in ACTIONS if action.scope == scope for key in action.keys.split(","))
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize("scope", PLACES)
def test_bindings_have_stable_ids_and_words(scope: str) -> None:
    for binding in bindings(scope):
        assert binding.id is not None
        assert binding.id.startswith(f"{scope}.")
        assert binding.description


async def test_the_palette_offers_the_actions_of_the_screen(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Ledger))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "Start a study from a file" in screen_text(app))
        await pilot.press(*"new", "enter")
        await until(pilot, lambda: isinstance(app.screen, Launch))
