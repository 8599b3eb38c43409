"""What earlier sessions of a study left: money spent, and who answered."""

from __future__ import annotations

import sqlite3
from collections import defaultdict

from evaltui.core.study import EarlierSessions
from evaltui.store.stored_text import restored


def earlier_sessions(connection: sqlite3.Connection, study: int) -> EarlierSessions:
    """Sums and distinct values over the attempts stored so far."""
    ((cost, calls),) = connection.execute(
        "SELECT coalesce(sum(cost), 0.0), count(*) FROM attempts WHERE study = ?", (study,)
    ).fetchall()
    reported: dict[str, dict[str, list[str]]] = {column: defaultdict(list) for column in ("model", "fingerprint")}
    for column, by_arm in reported.items():
        rows = connection.execute(
            f"SELECT arms.name, attempts.{column} FROM attempts JOIN runs ON runs.key = attempts.run "
            "JOIN arms ON arms.key = runs.arm "
            f"WHERE attempts.study = ? AND attempts.{column} IS NOT NULL "
            f"GROUP BY arms.key, attempts.{column} ORDER BY min(attempts.key)",
            (study,),
        ).fetchall()
        for arm, value in rows:
            by_arm[restored(arm)].append(restored(value))
    models, fingerprints = ({arm: tuple(values) for arm, values in by_arm.items()} for by_arm in reported.values())
    return EarlierSessions(cost, calls, models, fingerprints)
