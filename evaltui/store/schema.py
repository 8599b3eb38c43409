"""The tables and views of a workspace file, and how an older file becomes a current one.

Rows of ``attempts``, ``verdicts``, ``judge_passes`` and ``events`` are only ever added. Their keys never come back
(AUTOINCREMENT) and are given under the write lock, so that a reader that remembers the last key it saw misses nothing.
An index on ``study`` ends in the row's key by SQLite's own making: it serves (study, key) ranges.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from sqlite_utils import Database, Migrations

from evaltui.core.errors import StoreError
from evaltui.core.status import STATUS_CODES
from evaltui.store import connect

migrations = Migrations("evaltui")

TABLES: Final = """
CREATE TABLE statuses (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE texts (
    key INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    coding INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE TABLE studies (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    pin_hash TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    design TEXT NOT NULL,
    config TEXT NOT NULL,
    config_path TEXT
);
CREATE INDEX studies_name ON studies (name);
CREATE TABLE arms (
    key INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (key),
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    pin_hash TEXT NOT NULL,
    UNIQUE (study, name),
    UNIQUE (study, position)
);
CREATE TABLE scorers (
    key INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (key),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    version TEXT NOT NULL,
    is_primary INTEGER NOT NULL,
    UNIQUE (study, name)
);
CREATE TABLE items (
    study INTEGER NOT NULL REFERENCES studies (key),
    position INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    hash BLOB NOT NULL,
    category TEXT,
    cluster TEXT,
    fields INTEGER NOT NULL REFERENCES texts (key),
    gold INTEGER REFERENCES texts (key),
    PRIMARY KEY (study, position),
    UNIQUE (study, item_id)
) WITHOUT ROWID;
CREATE TABLE runs (
    key INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (key),
    arm INTEGER NOT NULL REFERENCES arms (key),
    repeat INTEGER NOT NULL,
    kind TEXT NOT NULL,
    parent_run INTEGER REFERENCES runs (key),
    UNIQUE (arm, repeat)
);
CREATE INDEX runs_study ON runs (study);
CREATE TABLE attempts (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    study INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (key),
    item INTEGER NOT NULL,
    number INTEGER NOT NULL,
    status INTEGER NOT NULL REFERENCES statuses (code),
    started REAL,
    latency REAL,
    wait REAL,
    queue_wait REAL,
    http_status INTEGER,
    message TEXT NOT NULL,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    cached_tokens INTEGER,
    cost REAL,
    model TEXT,
    fingerprint TEXT,
    seed INTEGER,
    request_hash BLOB,
    FOREIGN KEY (study, item) REFERENCES items (study, position)
);
CREATE INDEX attempts_study ON attempts (study);
CREATE INDEX attempts_cell ON attempts (run, item);
CREATE TABLE verdicts (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    study INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (key),
    item INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    scorer INTEGER NOT NULL REFERENCES scorers (key),
    is_primary INTEGER NOT NULL,
    status INTEGER NOT NULL REFERENCES statuses (code),
    label TEXT,
    score REAL,
    note TEXT NOT NULL,
    text INTEGER REFERENCES texts (key),
    reasoning INTEGER REFERENCES texts (key),
    attempts INTEGER NOT NULL,
    latency REAL,
    finished REAL,
    UNIQUE (run, item, revision, scorer),
    FOREIGN KEY (study, item) REFERENCES items (study, position)
);
CREATE INDEX verdicts_study ON verdicts (study);
CREATE TABLE judge_passes (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    study INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (key),
    item INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    scorer INTEGER NOT NULL REFERENCES scorers (key),
    number INTEGER NOT NULL,
    status INTEGER NOT NULL REFERENCES statuses (code),
    label TEXT,
    score REAL,
    text INTEGER REFERENCES texts (key),
    started REAL,
    latency REAL,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    cost REAL,
    UNIQUE (run, item, revision, scorer, number),
    FOREIGN KEY (study, item) REFERENCES items (study, position)
);
CREATE INDEX judge_passes_study ON judge_passes (study);
CREATE TABLE events (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    study INTEGER NOT NULL REFERENCES studies (key),
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    level TEXT NOT NULL,
    text TEXT NOT NULL,
    arm TEXT,
    repeat INTEGER
);
CREATE INDEX events_study ON events (study);
CREATE TABLE controls (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    study INTEGER NOT NULL REFERENCES studies (key),
    at REAL NOT NULL,
    command TEXT NOT NULL
);
CREATE INDEX controls_study ON controls (study);
CREATE TABLE leases (
    study INTEGER PRIMARY KEY REFERENCES studies (key),
    token TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started TEXT NOT NULL,
    host TEXT NOT NULL,
    namespace TEXT NOT NULL,
    heartbeat INTEGER NOT NULL
);
"""
"""The tables of schema 1, as the first migration makes them; later ones change them."""

STUDY_TABLES: Final = (
    "leases",
    "controls",
    "events",
    "judge_passes",
    "verdicts",
    "attempts",
    "runs",
    "items",
    "scorers",
    "arms",
)
"""Tables with a column ``study``, children before parents."""

TEXT_COLUMNS: Final = (
    ("items", "fields"),
    ("items", "gold"),
    ("verdicts", "text"),
    ("verdicts", "reasoning"),
    ("judge_passes", "text"),
)
"""Every column that holds a key of ``texts``."""

VIEWS: Final = {
    "v_cells": """
SELECT studies.id AS study, studies.name AS study_name, arms.name AS arm, runs.repeat AS repeat, verdicts.run AS run,
    runs.kind AS kind, verdicts.item AS position, items.item_id AS item, items.category AS category,
    items.cluster AS cluster, scorers.name AS scorer, verdicts.is_primary AS is_primary, verdicts.revision AS revision,
    statuses.name AS status, verdicts.label AS label, verdicts.score AS score, verdicts.note AS note,
    verdicts.text AS text, verdicts.attempts AS attempts, verdicts.latency AS latency_s, verdicts.finished AS finished
FROM verdicts
JOIN runs ON runs.key = verdicts.run
JOIN arms ON arms.key = runs.arm
JOIN studies ON studies.key = verdicts.study
JOIN scorers ON scorers.key = verdicts.scorer
JOIN statuses ON statuses.code = verdicts.status
JOIN items ON items.study = verdicts.study AND items.position = verdicts.item
WHERE verdicts.revision = (
    SELECT max(later.revision) FROM verdicts AS later
    WHERE later.run = verdicts.run AND later.item = verdicts.item AND later.scorer = verdicts.scorer
)""",
    "v_attempts": """
SELECT studies.id AS study, studies.name AS study_name, arms.name AS arm, runs.repeat AS repeat, attempts.run AS run,
    runs.kind AS kind, attempts.item AS position, items.item_id AS item, attempts.number AS number,
    statuses.name AS status, attempts.http_status AS http_status, attempts.message AS message,
    attempts.started AS started, attempts.latency AS latency_s, attempts.wait AS wait_s,
    attempts.queue_wait AS queue_wait_s,
    attempts.prompt_tokens AS prompt_tokens, attempts.completion_tokens AS completion_tokens,
    attempts.cached_tokens AS cached_tokens, attempts.cost AS cost, attempts.model AS model,
    attempts.fingerprint AS fingerprint, attempts.seed AS seed, hex(attempts.request_hash) AS request_hash,
    attempts.in_flight AS in_flight
FROM attempts
JOIN runs ON runs.key = attempts.run
JOIN arms ON arms.key = runs.arm
JOIN studies ON studies.key = attempts.study
JOIN statuses ON statuses.code = attempts.status
JOIN items ON items.study = attempts.study AND items.position = attempts.item""",
    "v_runs": """
SELECT studies.id AS study, studies.name AS study_name, arms.name AS arm, runs.repeat AS repeat, runs.key AS run,
    runs.kind AS kind, runs.parent_run AS parent_run, arms.pin_hash AS pin_hash,
    (SELECT count(*) FROM items WHERE items.study = runs.study) AS items,
    coalesce(cells.done, 0) AS done, coalesce(cells.ok, 0) AS ok, cells.score_sum AS score_sum,
    coalesce(calls.attempts, 0) AS attempts, calls.prompt_tokens AS prompt_tokens,
    calls.completion_tokens AS completion_tokens, calls.cached_tokens AS cached_tokens, calls.cost AS cost,
    calls.in_flight AS in_flight, calls.started AS started, cells.finished AS finished
FROM runs
JOIN arms ON arms.key = runs.arm
JOIN studies ON studies.key = runs.study
LEFT JOIN (
    SELECT run, count(*) AS done, sum(status = 'ok') AS ok, sum(score) AS score_sum, max(finished) AS finished
    FROM v_cells WHERE is_primary GROUP BY run
) AS cells ON cells.run = runs.key
LEFT JOIN (
    SELECT run, count(*) AS attempts, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
        sum(cached_tokens) AS cached_tokens, sum(cost) AS cost, avg(in_flight) AS in_flight, min(started) AS started
    FROM attempts GROUP BY run
) AS calls ON calls.run = runs.key""",
    "v_items": """
SELECT study, study_name, arm, position, item, category, cluster, count(*) AS done, sum(status = 'ok') AS ok,
    sum(score) AS score_sum, count(DISTINCT label) AS labels, count(DISTINCT text) AS texts
FROM v_cells WHERE is_primary AND kind <> 'warmup'
GROUP BY study, arm, position""",
}
"""The stable views; a view may use those before it."""


@migrations()
def m001_first(db: Database) -> None:
    """The tables of schema 1."""
    db.executescript(TABLES)
    db.table("statuses").insert_all({"code": code, "name": str(status)} for status, code in STATUS_CODES.items())
    db.execute(f"PRAGMA application_id = {connect.APPLICATION_ID}")
    db.execute("PRAGMA user_version = 1")


@migrations()
def m002_in_flight(db: Database) -> None:
    """How many calls were in flight with each, and the environment of a study's last session (JSON)."""
    db.execute("ALTER TABLE attempts ADD COLUMN in_flight INTEGER")
    db.execute("ALTER TABLE studies ADD COLUMN environment TEXT")
    db.execute("PRAGMA user_version = 2")


def prepare(path: Path) -> None:
    """Create the workspace file where there is none, or bring an older one up to date, all in one transaction.

    Raises:
        StoreError: the path cannot hold a workspace file, or the file there is not one.
    """
    if not connect.missing(path):
        connect.identify(path)
    elif not path.absolute().parent.is_dir():
        raise StoreError(f"{path}: there is no folder {path.absolute().parent}")
    with connect.told(path):
        connection = connect.open_writable(path)
        try:
            connect.enable_wal(connection)
            _migrate(connection)
        finally:
            connection.close()


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    db = Database(connection, execute_plugins=False)
    with db.atomic():
        migrations.apply(db)
        for name, sql in VIEWS.items():
            db.create_view(name, sql.strip(), replace=True)
    connection.execute("COMMIT")
