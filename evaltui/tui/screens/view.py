"""What all screens share: a class for the room at hand, and one line where there is none."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

SMALLEST: Final = (40, 10)
WIDE: Final = 160
MEDIUM: Final = (100, 28)


class View(Screen[None]):
    """CSS classes ``tiny``, ``narrow``, ``medium`` and ``wide`` follow the size of the terminal.

    ``SCOPE`` names the screen in the table of actions.
    """

    SCOPE: ClassVar[str] = ""

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        kind = layout_class(width, height)
        for each in ("tiny", "narrow", "medium", "wide"):
            self.set_class(each == kind, each)
        needed, here = f"{SMALLEST[0]} x {SMALLEST[1]}", f"{width} x {height}"
        notices = (f"evaltui needs {needed}, this is {here}", f"needs {needed}, is {here}", f"needs {needed}")
        notice = next((each for each in notices if len(each) <= width), "too small")
        self.query_one("#too-small", Static).update(Content(notice[: max(0, width)]))


def too_small() -> Static:
    """The line shown instead of a screen that has no room; every view composes one."""
    return Static(id="too-small")


def layout_class(width: int, height: int) -> str:
    """Which arrangement a terminal of this size gets."""
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return "tiny"
    if width < MEDIUM[0] or height < MEDIUM[1]:
        return "narrow"
    return "wide" if width >= WIDE else "medium"
