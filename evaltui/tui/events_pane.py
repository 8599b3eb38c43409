"""The event feed: the newest line first, the hour, and a mark for warnings and errors."""

from __future__ import annotations

import time
from collections.abc import Sequence

from textual.content import Content

from evaltui.core.records import Event
from evaltui.core.text import clean
from evaltui.tui.drawn import MUTED

MOST_LINES = 100
LEVELS = {"warning": ("!", "$warning"), "error": ("x", "$error")}


def event_lines(events: Sequence[Event]) -> list[Content]:
    """The latest events, newest first."""
    if not events:
        return [Content.styled("nothing has happened yet", MUTED)]
    return [_line(event) for event in list(events)[: -MOST_LINES - 1 : -1]]


def _line(event: Event) -> Content:
    mark, style = LEVELS.get(event.level, (" ", ""))
    where = "" if event.arm is None else clean(event.arm, limit=40)
    where += f"#{event.repeat}" if event.repeat is not None else ""
    return Content.assemble(
        (time.strftime("%H:%M:%S", time.localtime(event.at)), MUTED),
        (f" {mark} ", style),
        (f"{where}: " if where else "", "$primary"),
        (clean(event.text, limit=400), style),
    )
