"""The net below the sanitising: no line with a control character in it reaches the terminal."""

from __future__ import annotations

import re

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class ControlFilter(LineFilter):
    """Deletes control and direction characters; they have no width, so nothing moves."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not any(_CONTROL.search(segment.text) for segment in segments):
            return segments
        return [Segment(_CONTROL.sub("", text), style, control) for text, style, control in segments]
