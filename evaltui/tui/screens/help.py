"""Help: the keys of the screen it was called from, and what its marks and words mean."""

from __future__ import annotations

from textwrap import wrap
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Footer

from evaltui.tui.actions import Action, actions, bindings, key_name
from evaltui.tui.cells import fit
from evaltui.tui.drawn import MUTED, Drawn
from evaltui.tui.marks import STATUS_LETTERS, STATUS_WORDS, Marks
from evaltui.tui.screens.view import View, too_small

TITLES: Final = {"ledger": "The studies", "launch": "A new study", "monitor": "A study as it runs", "item": "One item"}
ALSO: Final = {"ledger": ("rows",), "monitor": ("rows", "heatmap")}
KEY_WIDTH: Final = 19
WORDS: Final = {
    "score": "in points; of a run under way, of the part of the order without a gap so far",
    "of 200": "how many of the items have a verdict",
    "range": "highest minus lowest score of the complete runs",
    "band": "how far a run's score moves by itself: twice the sd of the complete runs",
    "rerun": "how many items would change their verdict if the arm ran once more",
    "time parse rate": "cells that ended in a timeout, a parse failure, a rate limit",
    "trunc other retry": "cut off, ended otherwise without a score; calls made again",
    "p50 p95": "latency of half, and of 95 in 100, of the last calls",
    "gaps": "more verdicts are missing than the study allows: do not compare this run with others",
    "batching": "fewer or more calls in flight than in the other runs of its arm, which can move answers",
    "in flight": "verdicts that wait for an earlier item of the order, so that fast items do not lead",
    ">": "the interval that leads",
}


class Help(View):
    SCOPE: ClassVar[str] = "help"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("help")]

    def __init__(self, scope: str, *, owner: bool, marks: Marks) -> None:
        super().__init__()
        self._scope = scope
        self._owner = owner
        self._marks = marks

    def compose(self) -> ComposeResult:
        yield too_small()
        with VerticalScroll(id="help", classes="panel"):
            yield Drawn(id="help-text")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#help").border_title = Content("Help")
        self.query_one("#help-text", Drawn).show(self._lines)

    def action_back(self) -> None:
        self.app.pop_screen()

    def _lines(self, width: int) -> list[Content]:
        lines = [_title(TITLES.get(self._scope, "Help"))]
        for scope in (self._scope, *ALSO.get(self._scope, ())):
            lines += key_lines(scope, width, owner=self._owner)
        lines += [_title("Everywhere"), *key_lines("app", width, owner=self._owner)]
        lines += _entry("^p", "Every action by name", width)
        if not self._owner:
            text = "This screen only reads: pausing, stopping and starting are for who started the study."
            lines += [Content(""), Content.styled(text, MUTED)]
        if self._scope == "monitor":
            lines += legend(self._marks, width)
        return lines


def key_lines(scope: str, width: int, *, owner: bool) -> list[Content]:
    """The actions of a scope: their keys and what they do."""
    shown = [action for action in actions(scope) if owner or not action.owner]
    return [line for action in shown for line in _entry(_keys(action), action.help, width)]


def legend(marks: Marks, width: int) -> list[Content]:
    """What the heatmap's marks, the run table's headings and the panes' words mean."""
    items = {
        marks.passed: "passed",
        marks.failed: "failed",
        marks.otherwise: "failed, with another answer than the usual one of this item in this arm",
        marks.partial: "between the two",
        marks.pending: "no verdict yet",
        "full colour": "a flip: not the usual verdict of this item in this arm",
        "flip": "of two runs of an arm picked at random, in how many percent the verdict differs",
        **{letter: STATUS_WORDS[status] for status, letter in STATUS_LETTERS.items()},
    }
    lines = [_title("The items")]
    for key, text in items.items():
        lines += _entry(key, text, width)
    lines.append(_title("The runs and the comparison"))
    for key, text in WORDS.items():
        lines += _entry(key, text, width)
    return lines


def _title(text: str) -> Content:
    return Content.assemble("\n", (text, "bold"), "\n")


def _keys(action: Action) -> str:
    return action.shown_key or " ".join(key_name(key) for key in action.keys.split(","))


def _entry(keys: str, text: str, width: int) -> list[Content]:
    """Keys, then what they mean, wrapped beside them."""
    first, *rest = wrap(text, max(12, width - KEY_WIDTH))
    head = Content.assemble((fit(f"  {keys}", KEY_WIDTH), "bold $primary"), first)
    return [head, *(Content(" " * KEY_WIDTH + line) for line in rest)]
