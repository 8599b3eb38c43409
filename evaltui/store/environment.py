"""On what the sessions of a study ran: the last one's environment is kept, and a change is an event (P7)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from typing import Final

from evaltui.core.errors import StoreError
from evaltui.core.pins import digest
from evaltui.core.records import Event
from evaltui.store import connect
from evaltui.store.feed import insert_events
from evaltui.store.plans import dump_json, load_json

DIGEST_LENGTH: Final = 12


def keep_environment(connection: sqlite3.Connection, study: int, now: Mapping[str, str]) -> None:
    """Keep the environment of a session of a study (its integer key), with an event where it is new or another.

    Raises:
        StoreError: that of the session before cannot be read.
    """
    with connect.transaction(connection):
        ((stored,),) = connection.execute("SELECT environment FROM studies WHERE key = ?", (study,)).fetchall()
        before = None if stored is None else _loaded(stored)
        if before == now:
            return
        connection.execute("UPDATE studies SET environment = ? WHERE key = ?", (dump_json(dict(now)), study))
        insert_events(connection, study, [_event(before, now)])


def _event(before: Mapping[str, str] | None, now: Mapping[str, str]) -> Event:
    short = digest(dict(now))[:DIGEST_LENGTH]
    if before is None:
        said = ", ".join(f"{name} {value}" for name, value in now.items())
        return Event(time.time(), "environment", f"{said} (digest {short})")
    changed = [
        f"{name} {before.get(name, 'not known')} before, {now.get(name, 'not known')} now"
        for name in dict.fromkeys((*now, *before))
        if before.get(name) != now.get(name)
    ]
    return Event(time.time(), "environment_changed", f"{'; '.join(changed)} (digest {short})", "warning")


def _loaded(stored: str | bytes) -> dict[str, str]:
    try:
        return dict(load_json(stored))
    except (ValueError, TypeError) as error:
        raise StoreError(f"the environment of a study cannot be read ({error}): the database is damaged") from error
