"""``evaltui studies --verify``: what it prints and how it exits."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from evaltui_process import Evaltui

DEMO = ("demo", "--headless", "--items", "12", "--repeats", "2", "--speed", "100", "--db", "d.db")
VERIFY = ("studies", "--verify", "--db", "d.db")


def damage(tmp_path: Path, statement: str) -> None:
    with closing(sqlite3.connect(tmp_path / "d.db")) as connection, connection:
        connection.execute(statement)


def test_intact_studies_have_a_line_each(evaltui: Evaltui) -> None:
    evaltui(*DEMO)
    evaltui(*DEMO)
    both = evaltui(*VERIFY)
    assert (both.returncode, both.stderr) == (0, "")
    assert [line.partition(" ")[2] for line in both.stdout.splitlines()] == [
        "demo (finished): ok: 48 of 48 cells",
        "demo (finished): ok: 48 of 48 cells",
    ]
    oldest = both.stdout.splitlines()[1].partition(" ")[0]
    one = evaltui("studies", "--verify", oldest, "--json", "--db", "d.db")
    assert one.returncode == 0
    assert json.loads(one.stdout) == {
        "ok": True,
        "faults": [],
        "unused_texts": 0,
        "studies": [
            {
                "id": oldest,
                "name": "demo",
                "state": "finished",
                "done": 48,
                "planned": 48,
                "ok": True,
                "faults": [],
            }
        ],
    }


def test_every_fault_has_a_line_and_the_exit_code_is_3(tmp_path: Path, evaltui: Evaltui) -> None:
    evaltui(*DEMO)
    damage(tmp_path, "DELETE FROM verdicts WHERE run = 1 AND item = 2")
    damage(tmp_path, "INSERT INTO events (study, at, kind, level, text) VALUES (99, 0, '', '', '')")
    found = evaltui(*VERIFY)
    assert found.returncode == 3
    study, fault, of_the_file, *_ = found.stdout.splitlines()
    assert study.endswith("demo (finished): not ok: 47 of 48 cells")
    assert fault.startswith("  fault: 1 cell without a verdict, though the study is finished: ")
    assert of_the_file == "fault: 1 row of events whose study does not exist (first: key 99)"
    assert found.stderr == "evaltui: d.db: 2 faults found\n"
    document = json.loads(evaltui(*VERIFY, "--json").stdout)
    assert (document["ok"], len(document["faults"]), len(document["studies"][0]["faults"])) == (False, 1, 1)


def test_hostile_names_are_not_obeyed(tmp_path: Path, evaltui: Evaltui) -> None:
    evaltui(*DEMO)
    damage(tmp_path, "UPDATE items SET item_id = char(27) || '[2J' WHERE position = 0")
    found = evaltui(*VERIFY)
    assert found.returncode == 3
    assert "1 item with another hash than stored: ␛[2J" in found.stdout


def test_a_study_is_named_only_to_be_verified(evaltui: Evaltui) -> None:
    evaltui(*DEMO)
    refused = evaltui("studies", "latest", "--db", "d.db")
    assert refused.returncode == 2
    assert "evaltui studies --verify latest checks one" in refused.stderr


def test_what_is_not_there_is_a_sentence(tmp_path: Path, evaltui: Evaltui) -> None:
    absent = evaltui(*VERIFY)
    assert (absent.returncode, absent.stderr) == (2, "evaltui: d.db: there is no such database\n")
    assert not (tmp_path / "d.db").exists()
