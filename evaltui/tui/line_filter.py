"""The nets below the sanitising: what must not, or cannot, be written to the terminal does not reach it."""

from __future__ import annotations

import re

from rich.cells import cell_len
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


_PLAIN = str.maketrans({"±": "~", "–": "-", "…": ".", "↵": "|", "─": "-", "│": "|", **dict.fromkeys("▁▂▃▄▅▆▇█", "#")})


class AsciiFilter(LineFilter):
    """For terminals that are not UTF-8: every other character becomes one of ASCII, or ``?``, of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [Segment(_ascii(text), style, control) for text, style, control in segments]


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    return "".join(char if char.isascii() else "?" * cell_len(char) for char in text.translate(_PLAIN))
