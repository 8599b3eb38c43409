"""Waiting for a database that another program holds locked, rather than giving up a study for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from evaltui import store
from evaltui.cli.output import talk

T = TypeVar("T")
LOCK_WAIT_S: Final = 120.0


def once_unlocked(work: Callable[[], T]) -> T:
    """Do what needs the database to be written, again while another program holds it locked; said once on stderr.

    ``work`` must change nothing when it raises.

    Raises:
        LockedError: it has been locked for two minutes.
    """
    give_up = time.monotonic() + LOCK_WAIT_S
    told = False
    while True:
        try:
            return work()
        except store.LockedError as error:
            if time.monotonic() > give_up:
                raise
            if not told:
                talk(f"{error}; waiting for it (Ctrl-C ends that)")
            told = True
