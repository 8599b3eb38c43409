"""Every action of every screen, once: keys, footer, help and command palette are all read from this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Action:
    """``scope`` is the screen it belongs to, ``app`` for all. ``owner``: only where studies may be controlled."""

    scope: str
    name: str
    keys: str
    label: str
    help: str
    owner: bool = False
    footer: bool = True
    shown_key: str | None = None


ACTIONS: Final = (
    Action("app", "help", "question_mark", "Help", "What is on this screen and which keys it has"),
    Action("app", "theme", "t", "Theme", "Choose a theme; moving through the list shows each at once", footer=False),
    Action("app", "leave", "q", "Quit", "Leave the screen; a running study goes on without it"),
    Action("ledger", "launch", "n", "New study", "Start a study from a file, after a look at its price", owner=True),
    Action("ledger", "reload", "ctrl+r", "Reload", "Read the list of studies again", footer=False),
    Action("launch", "start", "ctrl+s", "Start", "Start the study as it is shown", owner=True),
    Action("launch", "back", "escape", "Back", "Return without starting anything"),
    Action("monitor", "back", "escape", "Studies", "Return to the list of studies"),
    Action("monitor", "sort", "s", "Sort", "Sort the items by flip rate, planned order, category or last change"),
    Action("monitor", "freeze", "space", "Freeze", "Hold the picture still; the study goes on", shown_key="space"),
    Action("monitor", "pause", "p", "Pause", "Ask the engine to send no further calls", owner=True),
    Action("monitor", "resume", "r", "Resume", "Go on with a paused, stopped or crashed study", owner=True),
    Action("monitor", "stop", "x", "Stop", "End the study early, after a question; what is done stays", owner=True),
    Action("monitor", "candidate", "c", "Next arm", "Compare the baseline with the next arm", footer=False),
    Action("monitor", "pane('runs')", "1", "Runs", "Go to the runs", footer=False),
    Action("monitor", "pane('items')", "2", "Items", "Go to the items", footer=False),
    Action("monitor", "pane('compare')", "3", "Comparison", "Go to the comparison", footer=False),
    Action("monitor", "pane('events')", "4", "Events", "Go to the events", footer=False),
    Action("item", "back", "escape,q", "Back", "Return to the study"),
    Action("help", "back", "escape,q,question_mark", "Back", "Return to where you were"),
    Action("confirm", "yes", "y", "Yes", "Do it"),
    Action("confirm", "back", "escape,n,q", "No", "Leave everything as it is"),
    Action("rows", "cursor(-1)", "up,k", "Up", "One row up", footer=False),
    Action("rows", "cursor(1)", "down,j", "Down", "One row down", footer=False),
    Action("rows", "page(-1)", "pageup,ctrl+b", "Page up", "One page up", footer=False),
    Action("rows", "page(1)", "pagedown,ctrl+f", "Page down", "One page down", footer=False),
    Action("rows", "edge(-1)", "home,g", "First", "The first row", footer=False),
    Action("rows", "edge(1)", "end,G", "Last", "The last row", footer=False),
    Action("rows", "select", "enter", "Open", "Open what is under the cursor"),
    Action("heatmap", "sideways(-1)", "left,h", "Earlier runs", "Move the window over the runs left", footer=False),
    Action("heatmap", "sideways(1)", "right,l", "Later runs", "Move the window over the runs right", footer=False),
)

KEY_NAMES: Final = {"question_mark": "?", "escape": "esc", "pageup": "page up", "pagedown": "page down"}


def actions(*scopes: str) -> tuple[Action, ...]:
    """The actions of some screens, in the order of the table."""
    return tuple(action for action in ACTIONS if action.scope in scopes)


def bindings(scope: str) -> list[Binding]:
    """Textual bindings of one scope; their ids are stable, so that a keymap may move them."""
    return [
        Binding(
            action.keys,
            action.name,
            action.label,
            show=action.footer,
            key_display=action.shown_key or key_name(action.keys.split(",")[0]),
            id=f"{scope}.{action.name}",
        )
        for action in actions(scope)
    ]


def key_name(key: str) -> str:
    """A key as people write it: ``ctrl+r`` -> ``^r``, ``question_mark`` -> ``?``."""
    return KEY_NAMES.get(key, key.replace("ctrl+", "^"))


def is_owner_action(scope: str, name: str) -> bool:
    """Whether an action of a screen is for those who may control studies."""
    return any(action.owner for action in actions(scope) if action.name == name)
