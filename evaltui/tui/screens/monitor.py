"""The live monitor of one study: it shows snapshots and sends actions, nothing else."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Footer

from evaltui.core.errors import EvaltuiError
from evaltui.core.status import Command, StudyState
from evaltui.core.study import StudyInfo
from evaltui.core.text import clean
from evaltui.tui.actions import bindings, is_owner_action
from evaltui.tui.comparison import interval_lines, means_lines, verdict_lines
from evaltui.tui.drawn import MUTED, Drawn
from evaltui.tui.events_pane import event_lines
from evaltui.tui.heat import Order
from evaltui.tui.heatmap import Heatmap
from evaltui.tui.launcher import Launcher
from evaltui.tui.live import TICK_S, Arrived, Feed, Snapshot, Unreadable
from evaltui.tui.marks import Marks
from evaltui.tui.rows import Rows
from evaltui.tui.run_table import run_columns, run_rows
from evaltui.tui.screens.confirm import Confirm
from evaltui.tui.screens.item import ItemScreen
from evaltui.tui.screens.view import View, too_small
from evaltui.tui.study_header import Standing, header_lines
from evaltui.tui.table import Table
from evaltui.tui.trace import Trace

PANES = {"runs": "1 Runs", "items": "2 Items", "compare": "3 Comparison", "events": "4 Events"}


class Answered(Message):
    """What came of an owner's action."""

    def __init__(self, text: str, *, failed: bool) -> None:
        super().__init__()
        self.text = text
        self.failed = failed


class Seen(Message):
    """The state of the study as this screen last saw it; the app uses it to say what goes on without it."""

    def __init__(self, info: StudyInfo) -> None:
        super().__init__()
        self.info = info


class Monitor(View):
    SCOPE: ClassVar[str] = "monitor"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("monitor")]

    def __init__(self, path: Path, study_id: str, launcher: Launcher | None, marks: Marks) -> None:
        super().__init__()
        self._path = path
        self._study_id = study_id
        self._launcher = launcher
        self._marks = marks
        self._feed = Feed(path, study_id, self.post_message)
        self.held: Snapshot | None = None
        self._frozen = False
        self._unreadable = ""
        self._order = Order.FLIP
        self._which = 0
        self.snapshot: Snapshot | None = None

    def compose(self) -> ComposeResult:
        yield too_small()
        yield Drawn(id="study")
        yield Drawn(id="tabs")
        with Container(id="body"):
            yield Table((), id="runs")
            with VerticalScroll(id="compare"):
                yield Drawn(id="means")
                yield Drawn(id="intervals")
                yield Trace(id="trace", marks=self._marks)
                yield Drawn(id="verdict")
            yield Heatmap(id="items", marks=self._marks)
            with VerticalScroll(id="events"):
                yield Drawn(id="feed")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        for name, title in PANES.items():
            pane = self.query_one(f"#{name}")
            pane.add_class("panel")
            pane.border_title = Content(title)
        self.query_one("#study", Drawn).show(lambda width: [Content.styled("reading the study", MUTED)])
        self.action_pane("items")
        self._feed.start()
        self.set_interval(TICK_S, self._feed.tick)

    def on_unmount(self) -> None:
        self._feed.close()

    @on(Arrived)
    def _arrived(self, message: Arrived) -> None:
        self._unreadable = ""
        if self._frozen:
            self.held = message.snapshot
        else:
            self._apply(message.snapshot)
        self._feed.applied()

    @on(Unreadable)
    def _cannot_read(self, message: Unreadable) -> None:
        self._unreadable = message.reason
        self._draw_header()

    def _apply(self, snapshot: Snapshot) -> None:
        before, self.snapshot = self.snapshot, snapshot
        summary = snapshot.summary
        rows = snapshot.rows
        if snapshot.order is not self._order:
            self._feed.sort(self._order)
        with self.app.batch_update():
            table, heatmap = self.query_one("#runs", Table), self.query_one("#items", Heatmap)
            if before is None:
                table.columns = run_columns(summary.info.design.n_items)
            table.show(run_rows(summary))
            heatmap.show(snapshot.heat, rows, snapshot.order, snapshot.items, summary.info.design.arm_names)
            if snapshot.order is not self._order:
                heatmap.sort(self._order)
            self._draw_header()
            self._draw_comparison()
            events = snapshot.events
            if before is None or events != before.events:
                self.query_one("#feed", Drawn).show(lambda width: event_lines(events))
        if before is None or before.summary.info != summary.info:
            self.refresh_bindings()
            self.app.post_message(Seen(summary.info))

    def _draw_header(self) -> None:
        snapshot, unreadable = self.snapshot, self._unreadable
        standing = Standing(frozen=self._frozen, unreadable=unreadable)
        header = self.query_one("#study", Drawn)
        if snapshot is None:
            header.show(lambda width: [Content.styled(clean(unreadable, limit=500), "bold $warning")])
            return
        summary, which = snapshot.summary, self._which
        header.show(lambda width: header_lines(summary, which, standing, self._marks, width))
        self.query_one("#items").border_subtitle = Content(
            f"{snapshot.heat.n_items:,} by {self._order}  {self._marks.passed} pass {self._marks.failed} fail"
        )

    def _draw_comparison(self) -> None:
        if self.snapshot is None:
            return
        summary, which = self.snapshot.summary, self._which
        parts = {"means": means_lines, "intervals": interval_lines, "verdict": verdict_lines}
        for name, lines in parts.items():
            self.query_one(f"#{name}", Drawn).show(partial(lines, summary, which))
        many = len(summary.comparisons)
        self.query_one("#compare").border_subtitle = Content(
            f"{which + 1} of {many}, c for the next" if many > 1 else ""
        )
        for name in ("intervals", "trace"):
            self.query_one(f"#{name}").display = bool(summary.comparisons)
        if which < len(self.snapshot.traces):
            self.query_one("#trace", Trace).show(self.snapshot.traces[which], summary.progress.total)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if is_owner_action(self.SCOPE, action) and self._launcher is None:
            return False
        info = None if self.snapshot is None else self.snapshot.summary.info
        if action in ("pause", "resume", "stop"):
            return info is not None and _possible(action, info)
        if action == "candidate":
            return self.snapshot is not None and len(self.snapshot.summary.comparisons) > 1
        return True

    def action_pane(self, name: str) -> None:
        """Go to a pane; on a narrow terminal it is the only one in sight."""
        for each in PANES:
            self.set_class(each == name, f"-show-{each}")
        self.query_one("#tabs", Drawn).show(lambda width: [_tabs(name)])
        self.query_one(f"#{name}").focus()

    def action_sort(self) -> None:
        self._order = self._order.next
        self._feed.sort(self._order)
        self.query_one("#items", Heatmap).sort(self._order)
        self._draw_header()

    def action_freeze(self) -> None:
        self._frozen = not self._frozen
        held, self.held = self.held, None
        if not self._frozen and held is not None:
            self._apply(held)
        self._draw_header()

    def action_candidate(self) -> None:
        if self.snapshot is not None and self.snapshot.summary.comparisons:
            self._which = (self._which + 1) % len(self.snapshot.summary.comparisons)
            self._draw_header()
            self._draw_comparison()

    def action_pause(self) -> None:
        self._control(Command.PAUSE)

    def action_resume(self) -> None:
        self._control(Command.RESUME)

    def action_stop(self) -> None:
        name = "" if self.snapshot is None else clean(self.snapshot.summary.info.design.name, limit=80)

        def answered(yes: bool | None) -> None:
            if yes:
                self._control(Command.STOP)

        question = Content.assemble("Stop ", (name, "bold"), " before its last verdict?")
        consequence = Content.styled(
            "What is done stays, and calls in flight finish; asked again, they are cut off. r goes on with it later.",
            MUTED,
        )
        self.app.push_screen(Confirm(question, consequence), answered)

    def action_back(self) -> None:
        self.app.post_message(ToStudies())

    @work(thread=True)
    def _control(self, command: Command) -> None:
        if self._launcher is None:
            return
        try:
            said = self._launcher.control(self._study_id, command)
        except EvaltuiError as error:
            self.post_message(Answered(str(error), failed=True))
        else:
            self.post_message(Answered(said, failed=False))

    @on(Answered)
    def _answered(self, message: Answered) -> None:
        text = clean(message.text, limit=500)
        self.notify(text, severity="error" if message.failed else "information", markup=False)
        self._feed.tick()

    @on(Rows.Selected, "#items")
    def _open_item(self, message: Rows.Selected) -> None:
        position = self.query_one("#items", Heatmap).position
        if self.snapshot is None or position is None:
            return
        design = self.snapshot.summary.info.design
        item = self.snapshot.items[position]
        self.app.push_screen(ItemScreen(self._path, self._study_id, item, design.arm_names, design.repeats))

    @on(Rows.Selected, "#runs")
    def _open_run(self, message: Rows.Selected) -> None:
        self.action_pane("items")


class ToStudies(Message):
    """Show the ledger instead of this study."""


def _possible(action: str, info: StudyInfo) -> bool:
    going = info.live and info.state is StudyState.RUNNING
    if action == "pause":
        return going
    if action == "stop":
        return info.live
    return not going and info.state is not StudyState.FINISHED


def _tabs(active: str) -> Content:
    parts = []
    for name, title in PANES.items():
        parts += [Content.styled(f" {title} ", "bold reverse $primary" if name == active else MUTED), Content(" ")]
    return Content("").join(parts)
