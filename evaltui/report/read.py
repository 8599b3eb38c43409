"""A stored study read once, through the same follower and the same model as the live screen."""

from __future__ import annotations

import time
from pathlib import Path

from evaltui import store
from evaltui.report.live import Live
from evaltui.report.summary import Summary


def read(path: Path, ref: str) -> Summary:
    """The report of the study that ``ref`` names (id, unique prefix, name, ``latest``), read to its end.

    Raises StoreError where the database or the study cannot be read.
    """
    info = store.resolve(path, ref)
    live = Live(info, store.items(path, info.id))
    with store.Follower(path, info.id) as follower:
        for delta in iter(follower.poll, None):
            live.apply(delta)
    return live.summary(time.time())
