"""Measured tables: each rate beside its limit, and the page of the documentation that they are written into."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"


@dataclass
class Table:
    """A markdown table, and what in it breaks a limit."""

    title: str
    about: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)

    def rate(self, wrong: NDArray[np.float64], limit: float | None, where: str) -> str:
        """``wrong`` (studies,) as a percentage with its standard error, judged against ``limit`` (a percentage)."""
        share, n = float(np.mean(wrong)), len(wrong)
        error = 100 * math.sqrt(max(share * (1 - share), 1 / n) / n)
        text = f"{100 * share:.1f} ±{error:.1f}"
        return text if limit is None else self.judged(text, 100 * share, error, limit, f"{where}: {text}")

    def judged(self, text: str, value: float, error: float, limit: float, where: str) -> str:
        """``text``, marked if ``value``, known to a standard ``error``, is above ``limit``; ``where`` says whose."""
        if value <= limit:
            return text
        told = f"{self.title}: {where} is above {limit:g}"
        if value - 3 * error > limit:
            self.violations.append(told)
            return f"**{text} VIOLATED**"
        self.doubtful.append(told)
        return f"{text} above"

    def markdown(self) -> str:
        lines = [f"### {self.title}", "", self.about, ""]
        lines += ["| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


def verdict(tables: Sequence[Table]) -> str:
    """What breaks a limit, what is above one without having been shown to break it, or that nothing is."""
    lines = [f"- VIOLATED {each}" for table in tables for each in table.violations]
    lines += [f"- Above, but not by three Monte Carlo errors: {each}" for table in tables for each in table.doubtful]
    return "\n".join(lines) or "No measured number is above its limit."


def around(page: Path) -> tuple[str, str]:
    """What stands before and after the two marks of ``page``. Raises ValueError unless each is there once, in order."""
    text = page.read_text("utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(END) < text.index(BEGIN):
        raise ValueError(f"{page} needs one line {BEGIN} and one line {END} after it, to be written between them")
    return text.partition(BEGIN)[0], text.partition(END)[2]


def put_into(page: Path, text: str) -> None:
    """Replace what stands between the two marks of ``page``. Raises ValueError as ``around`` does."""
    head, tail = around(page)
    page.write_text(f"{head}{BEGIN}\n\n{text.strip()}\n\n{END}{tail}", "utf-8")
