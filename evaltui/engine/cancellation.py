"""Whether a cancellation is meant for the task that hears of it."""

from __future__ import annotations

import asyncio


def was_cancelled() -> bool:
    """Whether somebody asked the current task to end, rather than code inside it raising CancelledError by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
