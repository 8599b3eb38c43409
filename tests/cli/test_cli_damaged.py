"""A database that was cut in half: every verb says so in a sentence, and none adds to the damage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from evaltui_process import Evaltui

VERBS = {
    "studies": ("studies",),
    "verify": ("studies", "--verify"),
    "verify one": ("studies", "--verify", "latest"),
    "report": ("report",),
    "report json": ("report", "--json"),
    "watch": ("watch",),
    "pause": ("pause",),
    "stop": ("stop",),
    "resume": ("resume",),
    "resume here": ("resume", "--headless"),
    "extend": ("extend", "latest", "--repeats", "+1"),
    "run": ("run", "study.toml", "--headless"),
    "demo": ("demo", "--headless"),
}


@pytest.mark.usefixtures("study_file")
def test_a_database_cut_in_half_is_a_sentence_for_every_verb(tmp_path: Path, evaltui: Evaltui) -> None:
    made = evaltui("run", "study.toml", "--headless", "--repeats", "1", "--db", "t.db")
    assert made.returncode == 0, made.stderr
    db = tmp_path / "t.db"
    os.truncate(db, db.stat().st_size // 2)
    before = db.read_bytes()
    for name, verb in VERBS.items():
        said = evaltui(*verb, "--db", "t.db")
        assert said.returncode in (2, 3), (name, said.returncode, said.stderr)
        assert said.stdout == "", name
        (line,) = said.stderr.splitlines()
        assert line.startswith("evaltui: t.db: the database is damaged; keep a copy, then save what can be read"), name
    assert db.read_bytes() == before
