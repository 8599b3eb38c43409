"""How long ``evaltui --help`` takes beside ``import click``, the least a click program can cost.

    python bench/start.py [RUNS]

Whole processes, run in turn so that a slow moment of the machine hits both; medians and their ratio are printed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c 'pass'": [sys.executable, "-c", "pass"],
    "python -c 'import click'": [sys.executable, "-c", "import click"],
    "evaltui --help": [sys.executable, "-m", "evaltui", "--help"],
}
GOAL = 1.5


def once(command: list[str]) -> float:
    """Wall time of one run, in seconds."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():
        once(command)
    for _ in range(runs):
        for name, command in COMMANDS.items():
            times[name].append(once(command))
    reference = statistics.median(times["python -c 'import click'"])
    print(f"{'command':28} {'min ms':>8} {'median ms':>10} {'max ms':>8} {'ratio':>6}")
    for name, seconds in times.items():
        low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
        print(f"{name:28} {1000 * low:8.1f} {1000 * middle:10.1f} {1000 * high:8.1f} {middle / reference:6.2f}")
    print(f"goal: evaltui --help at most {GOAL} times import click")


if __name__ == "__main__":
    main()
