"""The table of the engine's benchmark, printed row by row, and how large its studies are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

WIDTHS = (8, 47, 21, 33, 10, 10)
HEADS = ("goal", "what", "evaltui", "alternative", "value", "limit")


@dataclass(frozen=True, slots=True)
class Scale:
    """Calls in flight and verdicts of each part; ``pairs`` are interleaved runs of both sides."""

    pairs: int = 3
    calls: tuple[tuple[int, int], ...] = ((64, 3_200), (256, 12_800))
    idle_calls: int = 12_000
    screen_pairs: int = 5
    memory_items: int = 2_000
    memory_repeats: int = 10
    large: int = 1_000_000
    resumes: int = 3
    soak: int = 200_000
    peer_items: int = 2_000
    peer_epochs: int = 5


FULL = Scale()
QUICK = Scale(
    pairs=1,
    calls=((64, 640), (256, 2_560)),
    idle_calls=3_000,
    screen_pairs=1,
    memory_repeats=2,
    large=50_000,
    resumes=1,
    soak=10_000,
    peer_items=200,
    peer_epochs=2,
)


class Report:
    """Prints rows and counts the goals that were met."""

    def __init__(self) -> None:
        self.met: list[bool] = []

    def heads(self) -> None:
        cpus, load = os.cpu_count() or 1, os.getloadavg()[0]
        disturbed = "; others are at work: times are worth less" if load > cpus / 4 else ""
        print(f"{cpus} CPUs, load {load:.1f} before the first measurement{disturbed}")
        print(_line(HEADS), flush=True)

    def part(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def row(
        self,
        what: str,
        ours: str,
        alternative: str,
        value: float,
        limit: float | None,
        unit: str = "",
        *,
        at_least: bool = False,
    ) -> None:
        """One comparison; without a ``limit`` it is there to be compared with."""
        mark, bound = "", ""
        if limit is not None:
            self.met.append(value >= limit if at_least else value <= limit)
            mark = "met" if self.met[-1] else "MISSED"
            bound = f"{'>=' if at_least else '<='} {limit:,g}{unit}"
        print(_line((mark, what, ours, alternative, f"{value:,.{_digits(value)}f}{unit}", bound)), flush=True)

    def note(self, text: str) -> None:
        print(f"{'':{WIDTHS[0]}} {text}", flush=True)

    def end(self) -> None:
        print(f"\n{sum(self.met)} of {len(self.met)} goals met on this machine", flush=True)


def _line(cells: Sequence[str]) -> str:
    texts, numbers = cells[:2], cells[2:]
    left = [f"{text:<{width}}" for text, width in zip(texts, WIDTHS, strict=False)]
    return " ".join([*left, *(f"{text:>{width}}" for text, width in zip(numbers, WIDTHS[2:], strict=True))]).rstrip()


def _digits(value: float) -> int:
    return 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 3
