"""What earlier sessions of a study left: money spent, and who answered."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from math import fsum

from evaltui.core.study import EarlierSessions
from evaltui.store.stored_text import restored


def earlier_sessions(connection: sqlite3.Connection, study: int) -> EarlierSessions:
    """Sums and distinct values over the attempts stored so far; one pass over them, for there may be millions."""
    arms = {
        run: restored(arm)
        for run, arm in connection.execute(
            "SELECT runs.key, arms.name FROM runs JOIN arms ON arms.key = runs.arm WHERE runs.study = ?", (study,)
        ).fetchall()
    }
    rows = connection.execute(
        "SELECT run, model, fingerprint, coalesce(sum(cost), 0.0), count(*) FROM attempts WHERE study = ? "
        "GROUP BY run, model, fingerprint ORDER BY min(key)",
        (study,),
    ).fetchall()
    models: dict[str, dict[str, None]] = defaultdict(dict)
    fingerprints: dict[str, dict[str, None]] = defaultdict(dict)
    for run, model, fingerprint, _, _ in rows:
        for seen, value in ((models, model), (fingerprints, fingerprint)):
            if value is not None and run in arms:
                seen[arms[run]].setdefault(restored(value))
    return EarlierSessions(
        cost=fsum(row[3] for row in rows),
        calls=sum(row[4] for row in rows),
        models={arm: tuple(values) for arm, values in models.items()},
        fingerprints={arm: tuple(values) for arm, values in fingerprints.items()},
    )
