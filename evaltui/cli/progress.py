"""Headless progress on stderr: one line that redraws itself in a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from typing import Final

from evaltui.core.format import duration, money
from evaltui.core.text import clean
from evaltui.engine.progress import Progress

LOG_EVERY_S: Final = 10.0


class ProgressLine:
    """Writes progress to stderr; call it with each Progress, and :meth:`close` at the end.

    Where nobody reads it any more (a closed terminal or pipe, a full disk) it falls silent: the study goes on.
    """

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._last = float("-inf")
        self._heard = True
        self._trouble = ""

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        finished = progress.done >= progress.total
        news = bool(progress.trouble) != bool(self._trouble)
        if not self._live and not finished and not news and now - self._last < LOG_EVERY_S:
            return
        self._last, self._trouble = now, progress.trouble
        line = describe(progress)
        self._write(f"\r\x1b[K{line}" if self._live else f"{line}\n")

    def close(self) -> None:
        if self._live:
            self._write("\n")

    def _write(self, text: str) -> None:
        if not self._heard:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self._heard = False


def describe(progress: Progress) -> str:
    """One line: how far, how much, what failed, how long still."""
    share = progress.done / progress.total if progress.total else 1.0
    parts = [f"{progress.done:,} of {progress.total:,} ({share:.0%})"]
    if progress.warmup_done < progress.warmup_total:
        parts.append(f"warm-up {progress.warmup_done:,} of {progress.warmup_total:,}")
    failed = {status: n for status, n in progress.failures.items() if n}
    if failed:
        parts.append(", ".join(f"{n} {status.replace('_', ' ')}" for status, n in sorted(failed.items())))
    if progress.cost:
        parts.append(f"cost {money(progress.cost)}")
    if progress.eta_s is not None and progress.done < progress.total:
        parts.append(f"{duration(progress.eta_s)} left")
    if progress.trouble:
        parts.append(f"no new calls: {clean(progress.trouble)}")
    return " · ".join(parts)
