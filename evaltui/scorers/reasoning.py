"""Separates a model's visible reasoning from its answer, so that early guesses are not graded."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG = re.compile(r"<(/?)think(?:ing)?>|\[(/?)THINK\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Split:
    """``unfinished``: the text opened with reasoning that was never closed, so there is no answer."""

    answer: str
    reasoning: str = ""
    unfinished: bool = False


def split_reasoning(text: str) -> Split:
    """Takes ``<think>…</think>``, ``<thinking>…</thinking>`` and ``[THINK]…[/THINK]`` out of ``text``.

    A closed block is reasoning wherever it stands. A closing tag on its own means that the chat template had already
    written the opening one: all before it is reasoning. An opening tag that is never closed means that the reasoning
    was cut off when it opens the text, and is part of the answer anywhere else.
    """
    kept: list[str] = []
    thought: list[str] = []
    start = 0
    tags = list(_TAG.finditer(text))
    if not tags:
        return Split(text)
    opened: re.Match[str] | None = None
    for tag in tags:
        closing = bool(tag[1] or tag[2])
        if not closing:
            opened = opened or tag
        elif opened is None:
            thought += [*kept, text[start : tag.start()]]
            kept.clear()
            start = tag.end()
        else:
            kept.append(text[start : opened.start()])
            thought.append(text[opened.end() : tag.start()])
            start, opened = tag.end(), None
    if opened is not None and not "".join(kept).strip() and not text[start : opened.start()].strip():
        return Split("", "".join([*thought, text[opened.end() :]]), unfinished=True)
    return Split("".join(kept) + text[start:], "".join(thought))
