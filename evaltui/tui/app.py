"""The application: screens, themes, palette. It holds no study; each monitor follows its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.filter import LineFilter
from textual.screen import Screen

from evaltui.core.study import StudyInfo
from evaltui.core.text import clean
from evaltui.tui import themes
from evaltui.tui.actions import actions, bindings
from evaltui.tui.launcher import Launcher
from evaltui.tui.line_filter import AsciiFilter, ControlFilter
from evaltui.tui.marks import ASCII, marks_for
from evaltui.tui.screens.help import Help
from evaltui.tui.screens.launch import Launch
from evaltui.tui.screens.ledger import Ledger, NewStudy, OpenStudy
from evaltui.tui.screens.monitor import Monitor, Seen, ToStudies
from evaltui.tui.screens.view import View
from evaltui.tui.theme_choice import ThemeChoice


class EvaltuiApp(App[None]):
    """Opens on one study, or on the ledger of studies.

    ``launcher`` carries the owner's actions; without it the screens only read. Nothing is written to ``path`` by the
    app itself.
    """

    TITLE = "evaltui"
    CSS_PATH = "style.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]

    def __init__(
        self,
        path: Path,
        *,
        study_id: str | None = None,
        launcher: Launcher | None = None,
        theme: str | None = None,
        theme_folders: Sequence[Path] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.marks = marks_for(getattr(sys.__stderr__, "encoding", None))
        self._path = path
        self._clock = clock
        self._study_id = study_id
        self._launcher = launcher
        self._seen: dict[str, StudyInfo] = {}
        self._theme_before_preview: str | None = None
        folders = theme_folders if theme_folders is not None else (themes.shipped_folder(), themes.user_folder())
        self._themes = themes.load(folders)
        for name in [name for name, each in self.available_themes.items() if each.ansi]:
            self.unregister_theme(name)
        for each in self._themes.loaded:
            self.register_theme(each)
        wanted = theme or themes.DEFAULT_THEME
        if wanted in self.available_themes:
            self.theme = wanted

    def get_line_filters(self) -> Sequence[LineFilter]:
        plain = [AsciiFilter()] if self.marks is ASCII else []
        return [*super().get_line_filters(), ControlFilter(), *plain]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.verdict_variables(self.current_theme, {})

    def on_mount(self) -> None:
        if self._study_id is None:
            self.push_screen(Ledger(self._path, self._launcher, self.marks, clock=self._clock))
        else:
            self.push_screen(Monitor(self._path, self._study_id, self._launcher, self.marks))
        self.set_class(self.marks is ASCII, "ascii")
        if self._themes.failed:
            faults = "\n".join(clean(str(fault), limit=300) for fault in self._themes.failed)
            self.notify(f"These themes cannot be used:\n{faults}", severity="warning", markup=False, timeout=10)

    def farewell(self) -> list[str]:
        """What goes on without the screen, as sentences for the terminal that is left."""
        return [
            f"{clean(info.design.name, limit=80)} ({clean(info.id, limit=60)}) goes on without the screen; "
            f"evaltui watch {clean(info.id, limit=60)} comes back to it"
            for info in self._seen.values()
            if info.live and self._path.exists()
        ]

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        scope = getattr(screen, "SCOPE", "")
        for action in actions(scope):
            if screen.check_action(action.name.partition("(")[0], ()):
                yield SystemCommand(action.label, action.help, partial(screen.run_action, action.name))
        for action in actions("app"):
            yield SystemCommand(action.label, action.help, partial(self.run_action, action.name))
        yield SystemCommand("Screenshot", "Save a picture of this screen as SVG", self.deliver_screenshot)

    def action_leave(self) -> None:
        self.exit()

    def action_theme(self) -> None:
        self.push_screen(CommandPalette([ThemeChoice], placeholder="Theme", id="themes"))

    def action_help(self) -> None:
        screen = self.screen
        if isinstance(screen, View):
            self.push_screen(Help(screen.SCOPE, owner=self._launcher is not None, marks=self.marks))

    @on(OpenStudy)
    def _open(self, message: OpenStudy) -> None:
        if isinstance(self.screen, Launch):
            self.switch_screen(Monitor(self._path, message.study_id, self._launcher, self.marks))
        else:
            self.push_screen(Monitor(self._path, message.study_id, self._launcher, self.marks))

    @on(NewStudy)
    def _new(self) -> None:
        if self._launcher is not None:
            self.push_screen(Launch(self._launcher))

    @on(ToStudies)
    def _to_studies(self) -> None:
        if any(isinstance(screen, Ledger) for screen in self.screen_stack[:-1]):
            self.pop_screen()
        else:
            self.switch_screen(Ledger(self._path, self._launcher, self.marks, clock=self._clock))

    @on(Seen)
    def _remember(self, message: Seen) -> None:
        self._seen[message.info.id] = message.info

    @on(CommandPalette.Opened)
    def _palette_opened(self) -> None:
        self._theme_before_preview = self.theme

    @on(CommandPalette.OptionHighlighted)
    def _preview(self, message: CommandPalette.OptionHighlighted) -> None:
        hit = getattr(message.highlighted_event.option, "hit", None)
        name = str(getattr(hit, "text", ""))
        if name in self.available_themes:
            self.theme = name

    @on(CommandPalette.Closed)
    def _palette_closed(self, message: CommandPalette.Closed) -> None:
        before, self._theme_before_preview = self._theme_before_preview, None
        if not message.option_selected and before is not None:
            self.theme = before
