"""One item: what was asked, what was right, and what every run answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Footer

from evaltui.core.errors import EvaltuiError
from evaltui.core.format import count, points, seconds
from evaltui.core.records import CellRecord, Item
from evaltui.core.status import Status
from evaltui.core.text import clean
from evaltui.tui.actions import bindings
from evaltui.tui.cells import fit
from evaltui.tui.drawn import MUTED, Drawn
from evaltui.tui.marks import STATUS_WORDS
from evaltui.tui.screens.view import View, too_small

if TYPE_CHECKING:
    from evaltui.store import CellDetail

ANSWER_LIMIT = 4000
RELOAD_S = 2.0
FIELD_WIDTH = 12


@dataclass(frozen=True, slots=True)
class Answer:
    """One run's cell of the item; ``record`` is None while there is none."""

    arm: str
    repeat: int
    record: CellRecord | None
    failures: tuple[str, ...] = ()


class Loaded(Message):
    def __init__(self, answers: tuple[Answer, ...], fault: str = "") -> None:
        super().__init__()
        self.answers = answers
        self.fault = fault


class ItemScreen(View):
    SCOPE: ClassVar[str] = "item"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("item")]

    def __init__(self, path: Path, study_id: str, item: Item, arms: Sequence[str], repeats: int) -> None:
        super().__init__()
        self._path = path
        self._study_id = study_id
        self._item = item
        self.answers: tuple[Answer, ...] | None = None
        self._runs = [(arm, repeat) for arm in arms for repeat in range(1, repeats + 1)]

    def compose(self) -> ComposeResult:
        yield too_small()
        with VerticalScroll(id="item", classes="panel"):
            yield Drawn(id="item-question")
            yield Drawn(id="item-answers")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        item = self._item
        self.query_one("#item").border_title = Content(clean(item.id, limit=120))
        self.query_one("#item-question", Drawn).show(lambda width: question_lines(item))
        self.query_one("#item-answers", Drawn).show(lambda width: [Content.styled("reading the answers", MUTED)])
        self._load()
        self.set_interval(RELOAD_S, self._look_again)

    def _look_again(self) -> None:
        """Read the answers again while some are still to come."""
        if self.answers is not None and any(answer.record is None for answer in self.answers):
            self._load()

    @work(thread=True, exclusive=True)
    def _load(self) -> None:
        from evaltui import store

        try:
            answers = tuple(
                _answer(arm, repeat, store.cell_detail(self._path, self._study_id, arm, repeat, self._item.position))
                for arm, repeat in self._runs
            )
        except EvaltuiError as error:
            self.post_message(Loaded((), str(error)))
        else:
            self.post_message(Loaded(answers))

    @on(Loaded)
    def _show(self, message: Loaded) -> None:
        if message.answers == self.answers and not message.fault:
            return
        fault = message.fault
        self.answers = self.answers if fault and self.answers else message.answers
        lines = [Content.styled(clean(fault), "$error")] if fault else answer_lines(message.answers)
        self.query_one("#item-answers", Drawn).show(lambda width: lines)

    def action_back(self) -> None:
        self.app.pop_screen()


def question_lines(item: Item) -> list[Content]:
    """The item's own row: every field, the gold answer, its category."""
    fields = {str(name): value if isinstance(value, str) else repr(value) for name, value in item.fields.items()}
    said = [(name, text, MUTED) for name, text in fields.items()]
    if item.gold is not None:
        said.append(("gold", item.gold, "bold $success"))
    if item.category is not None:
        said.append(("category", item.category, MUTED))
    return [
        Content.assemble((fit(clean(name, limit=80), FIELD_WIDTH), style), clean(text, newlines=True))
        for name, text, style in said
    ]


def answer_lines(answers: Sequence[Answer]) -> list[Content]:
    """Each run's verdict and answer, arm by arm; an answer that the arm gave before is not repeated."""
    lines: list[Content] = []
    for arm in dict.fromkeys(answer.arm for answer in answers):
        of_arm = [answer for answer in answers if answer.arm == arm]
        lines += [Content(""), Content.styled(clean(arm, limit=80), "bold $primary")]
        seen: dict[str, int] = {}
        for answer in of_arm:
            lines += _run_lines(answer, seen)
        waiting = [f"#{answer.repeat}" for answer in of_arm if answer.record is None]
        if waiting:
            lines.append(Content.styled(f"no verdict yet: {' '.join(waiting)}", MUTED))
    return lines


def _run_lines(answer: Answer, seen: dict[str, int]) -> list[Content]:
    record = answer.record
    if record is None:
        return []
    head = Content.assemble((f"#{answer.repeat:<3}", "bold"), *_verdicts(record))
    if record.text is None:
        return [head, *(Content.styled(f"    {clean(failure, limit=400)}", MUTED) for failure in answer.failures[-1:])]
    earlier = seen.setdefault(record.text, answer.repeat)
    if earlier != answer.repeat:
        return [Content.assemble(head, (f"  the same answer as #{earlier}", MUTED))]
    lines = clean(record.text, limit=ANSWER_LIMIT, newlines=True).split("\n")
    said = [head, *(Content(f"    {line}") for line in lines)]
    if len(record.text) > ANSWER_LIMIT:
        said.append(Content.styled(f"    {len(record.text):,} characters in all", MUTED))
    return said


def _verdicts(record: CellRecord) -> list[Content]:
    said = []
    for verdict in record.verdicts:
        by = f" ({clean(verdict.scorer, limit=40)})" if len(record.verdicts) > 1 else ""
        note = f" {clean(verdict.note, limit=200)}" if verdict.note else ""
        if verdict.status is Status.OK:
            style = "bold $verdict-pass" if (verdict.score or 0.0) > 0 else "bold $verdict-fail"
            label = Content.styled(clean(verdict.label or "scored", limit=120), style)
            said.append(Content.assemble(label, f" {points(verdict.score)}", (f"{by}{note}  ", MUTED)))
        else:
            word = Content.styled(STATUS_WORDS[verdict.status], "bold $verdict-missing")
            said.append(Content.assemble(word, (f"{by}{note}  ", MUTED)))
    said.append(Content.styled(f"{count(record.attempts, 'call')}, {seconds(record.latency_s)}", MUTED))
    return said


def _answer(arm: str, repeat: int, detail: CellDetail) -> Answer:
    failures = tuple(attempt.message for attempt in detail.attempts if attempt.message)
    return Answer(arm, repeat, detail.record, failures)
