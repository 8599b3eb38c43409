"""Foreign text made safe to show: every character of it visible, none of it obeyed."""

from __future__ import annotations

import re
from typing import Final

CUT: Final = "…"
"""What stands where text was cut off."""

_INVISIBLE: Final = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f\xad"  # C0, DEL, C1, soft hyphen
    "\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"  # joiner, Arabic number signs and marks
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # Hangul fillers, Khmer and Mongolian format characters
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, bidi controls
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"  # fillers, variation selectors, byte order mark
    "\ud800-\udfff"  # halves of surrogate pairs
    "\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff"  # flag letters and skin tones: terminals disagree on their width
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and further variation selectors
    "]"
)
_COMBINING: Final = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_MARKS_IN_A_ROW: Final = re.compile(f"({_COMBINING}{{3}}){_COMBINING}+")


def clean(text: str, *, limit: int = 4000, newlines: bool = False) -> str:
    """``text`` as it may be put on a screen.

    At most ``limit`` characters are looked at; a longer text ends in ``…``. Control characters become their pictures
    (``␛``), tabs blanks, line ends ``↵`` (or stay, with ``newlines``), and what would be invisible or turn the writing
    direction becomes ``⟨U+202E⟩``. Everything else stays letter for letter: no markup is read or removed. A fourth
    combining mark on one letter, and those after it, are dropped.
    """
    if len(text) > limit:
        text = text[: max(limit, 0)] + CUT
    text = text.replace("\r\n", "\n")
    text = _INVISIBLE.sub(_kept_line_end if newlines else _stand_in, text)
    return _MARKS_IN_A_ROW.sub(r"\1", text)


def _kept_line_end(match: re.Match[str]) -> str:
    return "\n" if match[0] in "\n\u2028\u2029" else _stand_in(match)


def _stand_in(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x09:
        return "    "
    if code in (0x0A, 0x2028, 0x2029):
        return "↵"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩"
