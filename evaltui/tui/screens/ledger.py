"""The ledger of studies: what runs now on top, then the latest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Footer
from textual.worker import get_current_worker

from evaltui.core.errors import EvaltuiError
from evaltui.core.format import duration, points, span
from evaltui.core.status import StudyState
from evaltui.core.study import StudyInfo
from evaltui.core.text import clean
from evaltui.report.summary import Summary
from evaltui.tui.actions import bindings, is_owner_action
from evaltui.tui.cells import cut
from evaltui.tui.drawn import MUTED, Drawn
from evaltui.tui.launcher import Launcher
from evaltui.tui.marks import Marks
from evaltui.tui.rows import Rows
from evaltui.tui.screens.view import View, too_small
from evaltui.tui.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    from evaltui.store import LeaseWatch

RELOAD_S: Final = 2.0
COLUMNS: Final = (
    Column("state", 10),
    Column("study", 16, grow=True),
    Column("headline", 28, rank=1),
    Column("arms", 20, rank=4),
    Column("items", 7, right=True, rank=2),
    Column("repeats", 7, right=True, rank=3),
    Column("age", 8, right=True, rank=1),
    Column("id", 10, rank=5),
)
TONES: Final = {
    StudyState.RUNNING: "good",
    StudyState.PAUSED: "warn",
    StudyState.STOPPED: "warn",
    StudyState.FINISHED: "plain",
}


@dataclass(frozen=True, slots=True)
class Known:
    """A study's headline, and the state in which it was read."""

    state: StudyState
    text: str


class Listed(Message):
    """The studies of the file, or why they cannot be read."""

    def __init__(self, found: tuple[StudyInfo, ...], fault: str = "") -> None:
        super().__init__()
        self.found = found
        self.fault = fault


class Headline(Message):
    def __init__(self, study_id: str, known: Known) -> None:
        super().__init__()
        self.study_id = study_id
        self.known = known


class OpenStudy(Message):
    """Show this study."""

    def __init__(self, study_id: str) -> None:
        super().__init__()
        self.study_id = study_id


class NewStudy(Message):
    """Show the launch screen."""


class Ledger(View):
    SCOPE: ClassVar[str] = "ledger"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("ledger")]

    def __init__(
        self, path: Path, launcher: Launcher | None, marks: Marks, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__()
        self._path = path
        self._clock = clock
        self._watch: LeaseWatch | None = None
        self._launcher = launcher
        self._marks = marks
        self.headlines: dict[str, Known] = {}
        self.found: tuple[StudyInfo, ...] = ()

    def compose(self) -> ComposeResult:
        yield too_small()
        yield Drawn(id="ledger-title")
        yield Table(COLUMNS, id="studies")
        yield Drawn(id="ledger-empty")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        table = self.query_one("#studies", Table)
        for pane in (table, self.query_one("#ledger-empty", Drawn)):
            pane.add_class("panel")
            pane.border_title = Content("Studies")
        path = clean(str(self._path), limit=300)
        self.query_one("#ledger-title", Drawn).show(
            lambda width: [Content.assemble(("evaltui", "bold $primary"), ("  " + cut(path, max(0, width - 9)), MUTED))]
        )
        table.focus()
        self.action_reload()
        self.set_interval(RELOAD_S, self.action_reload)

    def action_reload(self) -> None:
        if self.is_current:
            self._read(dict(self.headlines))

    @work(thread=True, exclusive=True)
    def _read(self, known: dict[str, Known]) -> None:
        from evaltui import store
        from evaltui.report.read import read

        worker = get_current_worker()
        if not self._path.exists():
            self.post_message(Listed(()))
            return
        try:
            # Another host's lease is judged by its heartbeat, so the memory of it must outlast one look.
            self._watch = self._watch or store.LeaseWatch()
            stored = store.studies(self._path, watch=self._watch)
            found = tuple(sorted(stored, key=lambda info: (not info.live, -info.created)))
            self.post_message(Listed(found))
            for info in found:
                if worker.is_cancelled:
                    return
                before = known.get(info.id)
                if before is None or info.live or before.state is not info.state:
                    text = headline(read(self._path, info.id))
                    self.post_message(Headline(info.id, Known(info.state, text)))
        except EvaltuiError as error:
            self.post_message(Listed((), str(error)))

    @on(Listed)
    def _listed(self, message: Listed) -> None:
        self.found = message.found
        self._draw()
        table, empty = self.query_one("#studies", Table), self.query_one("#ledger-empty", Drawn)
        table.display, empty.display = bool(message.found), not message.found
        self.set_focus(table if message.found else None)
        fault, launch = message.fault, self._launcher is not None
        empty.show(lambda width: _empty(fault, launch=launch))

    @on(Headline)
    def _headline(self, message: Headline) -> None:
        self.headlines[message.study_id] = message.known
        self._draw()

    def _draw(self) -> None:
        now = self._clock()
        rows = [study_row(info, self.headlines.get(info.id), now, self._marks) for info in self.found]
        self.query_one("#studies", Table).show(rows)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if is_owner_action(self.SCOPE, action):
            return self._launcher is not None
        return True

    def action_launch(self) -> None:
        self.app.post_message(NewStudy())

    @on(Rows.Selected, "#studies")
    def _open(self) -> None:
        key = self.query_one("#studies", Table).key
        if key is not None:
            self.app.post_message(OpenStudy(key))


def study_row(info: StudyInfo, known: Known | None, now: float, marks: Marks) -> Row:
    """One study as a row; the key is its id."""
    design = info.design
    tone = "bad" if info.crashed else TONES.get(info.state, "muted")
    return Row(
        info.id,
        (
            Cell(f"{marks.live if info.live else marks.idle} {info.status}", tone),
            Cell(clean(design.name, limit=200), "strong"),
            Cell(known.text if known else "", "plain"),
            Cell(clean(", ".join(design.arm_names), limit=200), "muted"),
            Cell(f"{design.n_items:,}"),
            Cell(f"{design.repeats}"),
            Cell(duration(max(0.0, now - info.created)), "muted"),
            Cell(clean(info.id, limit=60), "muted"),
        ),
    )


def headline(summary: Summary) -> str:
    """What a study says in a few words, in points."""
    progress = summary.progress
    share = "" if progress.done == progress.total else f"{100 * progress.done // max(1, progress.total)} %: "
    if summary.comparisons:
        first = summary.comparisons[0]
        lead = first.headline
        between = f" ({span(lead.low, lead.high, signed=True)})" if lead and lead.low is not None else ""
        return f"{share}{points(first.difference, signed=True)}{between}"
    arm = summary.arms[0]
    return f"{share}{points(arm.mean)}" + (f" ±{points(arm.band.band)}" if arm.band.measured else "")


def _empty(fault: str, *, launch: bool) -> list[Content]:
    if fault:
        return [Content.styled(clean(fault, limit=500), "bold $error")]
    lines = [Content.styled("No studies yet.", "bold")]
    if launch:
        lines.append(Content.assemble(("n", "bold $primary"), " starts one from a study file; "))
    lines.append(Content.assemble(("evaltui demo", "bold"), " shows the whole thing with nothing to configure."))
    return lines
