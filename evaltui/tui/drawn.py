"""Text whose layout depends on the width it gets: drawn again when either changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

MUTED: Final = "$foreground 60%"
Draw = Callable[[int], Sequence[Content]]


class Drawn(Widget):
    """Shows the lines that a function makes for the width at hand."""

    DEFAULT_CSS = """
    Drawn { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._draw: Draw = lambda width: ()

    def show(self, draw: Draw) -> None:
        """Draw with this function from now on."""
        self._draw = draw
        self.refresh(layout=True)

    def render(self) -> Content:
        return self._content(self.size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._content(width).get_height({}, width) if width > 0 else 0

    def _content(self, width: int) -> Content:
        return Content("\n").join(self._draw(max(1, width)))
