"""One question before something that cannot be taken back."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from evaltui.tui.actions import bindings


class Confirm(ModalScreen[bool]):
    """Dismissed with the answer."""

    SCOPE: ClassVar[str] = "confirm"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("confirm")]

    def __init__(self, question: Content, consequence: Content) -> None:
        super().__init__()
        self._question = question
        self._consequence = consequence

    def compose(self) -> ComposeResult:
        with Vertical(id="question"):
            yield Static(self._question, id="question-text")
            yield Static(self._consequence)
            yield Static(Content.assemble(("y", "bold $primary"), " yes   ", ("n", "bold $primary"), " no"), id="keys")
        yield Footer(show_command_palette=False)

    def action_yes(self) -> None:
        self.dismiss(True)

    def action_back(self) -> None:
        self.dismiss(False)
