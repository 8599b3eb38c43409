"""Text measured in terminal cells: cut and padded so that what stands to its right stays in line."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from evaltui.core.text import CUT


def fit(text: str, width: int, *, right: bool = False) -> str:
    """``text`` in exactly ``width`` cells; what is cut ends in ``…`` and no character is split."""
    if width <= 0:
        return ""
    size = cell_len(text)
    if size > width:
        return set_cell_size(set_cell_size(text, width - 1).rstrip() + CUT, width)
    blanks = " " * (width - size)
    return blanks + text if right else text + blanks


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells, without padding."""
    return fit(text, width) if cell_len(text) > width else text
