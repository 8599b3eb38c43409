"""Start a study from a file: what it pins, what it warns of and what it costs, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Button, Checkbox, Footer, Input, Static

from evaltui.core.errors import EvaltuiError, Fault, InputError
from evaltui.core.preview import Preview
from evaltui.core.text import clean
from evaltui.tui.actions import bindings
from evaltui.tui.drawn import MUTED, Drawn
from evaltui.tui.launcher import Launcher
from evaltui.tui.preview import fault_lines, preview_lines
from evaltui.tui.screens.ledger import OpenStudy
from evaltui.tui.screens.view import View, too_small

MOST_SUGGESTIONS = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """What would be started. ``repeats`` and ``arms`` are None where the file decides."""

    path: Path
    repeats: int | None = None
    arms: tuple[str, ...] | None = None


class Inspected(Message):
    """The preview of a choice, or what is wrong with it."""

    def __init__(self, choice: Choice, preview: Preview | None, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__()
        self.choice = choice
        self.preview = preview
        self.faults = faults


class Launched(Message):
    def __init__(self, study_id: str | None, fault: str = "") -> None:
        super().__init__()
        self.study_id = study_id
        self.fault = fault


class ArmBox(Checkbox):
    """A check box that is empty while it is off: Textual's own tells the two apart by colour alone."""

    def watch_value(self) -> None:
        self.BUTTON_INNER = "X" if self.value else " "
        super().watch_value()


class Launch(View):
    SCOPE: ClassVar[str] = "launch"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("launch")]

    def __init__(self, launcher: Launcher) -> None:
        super().__init__()
        self._launcher = launcher
        self._choice: Choice | None = None
        self._ready: Choice | None = None
        self._arms: tuple[str, ...] = ()
        self._faults: list[Content] = []
        self._starting = False
        self.preview: Preview | None = None

    def compose(self) -> ComposeResult:
        yield too_small()
        with VerticalScroll(id="launch", classes="panel"):
            with Horizontal(id="source"):
                yield Static("Study file", classes="field-label")
                yield Input(placeholder="study.toml, then enter", id="path", suggester=_suggestions(), compact=True)
            with Horizontal(id="adjust"):
                yield Static("Repeats", classes="field-label")
                yield Input(id="repeats", type="integer", max_length=4, compact=True)
                yield Static("Arms", classes="field-label")
                yield Horizontal(id="arms")
                yield Button("Start", id="start-button", variant="primary", compact=True)
            yield Drawn(id="launch-said")
            yield Drawn(id="launch-preview")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#launch").border_title = Content("New study")
        self.query_one("#adjust").display = False
        self._say([Content.styled("Type the path of a study file; evaltui init writes one to start from.", MUTED)])
        self.query_one("#path").focus()

    def action_back(self) -> None:
        self.app.pop_screen()

    def action_start(self) -> None:
        """Start what is shown; a choice that is still being checked, or has faults, is not started."""
        if self._ready is None or self._ready != self._choice or self._starting:
            first = Content.styled("Nothing to start yet: the file must be checked and free of faults.", "$warning")
            self._say([first, *self._faults])
            return
        self._starting = True
        self._say([Content.styled("starting", MUTED)])
        self._launch(self._ready)

    @on(Button.Pressed, "#start-button")
    def _pressed(self) -> None:
        self.action_start()

    @on(Input.Submitted, "#path")
    def _path_given(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if text:
            self._arms = ()
            self._look(Choice(Path(text).expanduser()))

    @on(Input.Changed, "#path")
    def _path_changed(self, event: Input.Changed) -> None:
        """What is shown belongs to another path now, so it is not started under this one."""
        shown = self._choice
        if shown is not None and Path(event.value.strip()).expanduser() != shown.path:
            self._choice = self._ready = None
            self._faults = []
            self._say([Content.assemble(("enter", "bold $primary"), " checks this file")])
            self.query_one("#adjust").display = False
            self.query_one("#launch-preview", Drawn).show(lambda width: ())

    @on(Input.Changed, "#repeats")
    @on(Checkbox.Changed)
    def _adjusted(self) -> None:
        if self._choice is None or not self._arms:
            return
        text = self.query_one("#repeats", Input).value
        boxes = self.query("#arms Checkbox").results(Checkbox)
        arms = tuple(name for name, box in zip(self._arms, boxes, strict=True) if box.value)
        repeats = int(text) if text.isdecimal() else 0
        if repeats < 1 or not arms:
            self._ready = None
            self._say([Content.styled("A study needs at least one repeat and one arm.", "$warning")])
            return
        self._look(Choice(self._choice.path, repeats, arms))

    def _look(self, choice: Choice) -> None:
        if choice == self._choice and self._ready == choice:
            return
        self._choice, self._ready, self._faults = choice, None, []
        self._say([Content.styled("checking", MUTED)])
        self._inspect(choice)

    @work(thread=True)
    def _inspect(self, choice: Choice) -> None:
        try:
            preview = self._launcher.inspect(choice.path, repeats=choice.repeats, arms=choice.arms)
        except InputError as error:
            self.post_message(Inspected(choice, None, error.faults))
        except EvaltuiError as error:
            self.post_message(Inspected(choice, None, (Fault("", str(error)),)))
        else:
            self.post_message(Inspected(choice, preview))

    @on(Inspected)
    async def _inspected(self, message: Inspected) -> None:
        if message.choice != self._choice:
            return
        self.preview = preview = message.preview
        if preview is None:
            self._faults = fault_lines(message.choice.path, message.faults)
            self._say(self._faults)
            self.query_one("#launch-preview", Drawn).show(lambda width: ())
            if not self._arms:
                self.query_one("#adjust").display = False
            return
        self._ready = message.choice
        if not self._arms:
            await self._fill(preview)
        self._say([Content.assemble(("ctrl+s", "bold $primary"), " starts this study")])
        self.query_one("#launch-preview", Drawn).show(lambda width: preview_lines(preview, width))

    async def _fill(self, preview: Preview) -> None:
        """Set the adjustable fields to what the file says."""
        self._arms = tuple(arm.name for arm in preview.arms)
        arms = self.query_one("#arms")
        await arms.remove_children()
        with self.prevent(Checkbox.Changed, Input.Changed):
            await arms.mount_all(
                ArmBox(Content(clean(name, limit=40)), value=True, compact=True) for name in self._arms
            )
            self.query_one("#repeats", Input).value = str(preview.repeats)
        self.query_one("#adjust").display = True

    @work(thread=True)
    def _launch(self, choice: Choice) -> None:
        try:
            study_id = self._launcher.start(choice.path, repeats=choice.repeats, arms=choice.arms)
        except EvaltuiError as error:
            self.post_message(Launched(None, str(error)))
        else:
            self.post_message(Launched(study_id))

    @on(Launched)
    def _launched(self, message: Launched) -> None:
        self._starting = False
        if message.study_id is None:
            self._say([Content.styled(clean(message.fault, newlines=True), "bold $error")])
            return
        self.app.post_message(OpenStudy(message.study_id))

    def _say(self, lines: list[Content]) -> None:
        self.query_one("#launch-said", Drawn).show(lambda width: lines)


def _suggestions() -> SuggestFromList:
    """Study files of the working folder whose names are safe to show as they are."""
    names = (str(path) for folder in (Path(), Path("sample_configs")) for path in sorted(folder.glob("*.toml")))
    plain = [name for name in names if clean(name) == name and name != "pyproject.toml"]
    return SuggestFromList(plain[:MOST_SUGGESTIONS])
