"""What the engine costs: whole studies against bare loops over the same transport, its memory, and large studies.

    python bench/engine.py [--quick] [--soak] [--only PART ...] [--inspect-python PATH]

Every measurement is a process of its own on this machine: the engine with a real store on a real file, a server on
loopback, a screen in a pseudo-terminal. A verdict counts once it is committed: a study's time ends when its writer is
closed. Where two sides are compared they take turns, and the median of the pairs is printed. Goals are printed with
whether they were met on this machine; rows without one are there to be compared with. --soak adds 200,000 verdicts
over HTTP.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import engine_http
import engine_large
import engine_peer
from engine_table import FULL, QUICK, Report, Scale

Part = Callable[[Report, Scale, Path], None]

PARTS: dict[str, Part] = {
    "http": engine_http.slow_server,
    "idle": engine_http.idle_server,
    "memory": engine_large.memory,
    "screen": engine_http.attached_screen,
    "large": engine_large.large,
    "soak": engine_http.soak,
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What the engine costs, as ratios against named alternatives.")
    parser.add_argument("--quick", action="store_true", help="all of it at a smaller scale, in about a minute")
    parser.add_argument("--soak", action="store_true", help="also a long study over HTTP, its memory sampled")
    parser.add_argument("--only", action="append", choices=[*PARTS, "inspect"], metavar="PART", help="one part")
    parser.add_argument("--inspect-python", metavar="PATH", help="an interpreter that has inspect_ai")
    return parser.parse_args()


def main() -> None:
    given = options()
    parts: dict[str, Part] = {**PARTS, "inspect": partial(engine_peer.inspect, interpreter=given.inspect_python)}
    chosen = given.only or [name for name in parts if name != "soak" or given.soak]
    report, start = Report(), time.perf_counter()
    report.heads()
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="evaltui-bench-") as folder:
            parts[name](report, QUICK if given.quick else FULL, Path(folder))
    report.end()
    print(f"took {time.perf_counter() - start:,.0f} s")


if __name__ == "__main__":
    main()
