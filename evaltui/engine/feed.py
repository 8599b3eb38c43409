"""The engine's lines in a study's event feed."""

from __future__ import annotations

import time

from evaltui.core.protocols import Sink
from evaltui.core.records import Event


def tell(
    sink: Sink, kind: str, text: str, level: str = "info", *, arm: str | None = None, repeat: int | None = None
) -> None:
    """Write an event stamped now. ``level`` is info, warning or error."""
    sink.event(Event(time.time(), kind, text, level, arm, repeat))
