"""What the sessions of a study ran on: told the first time, and when it is another than before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from old_files import make_schema_1
from study_making import make_study

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.status import StudyState

FIRST = {"python": "3.11.7", "host": "a", "numpy": "2.2.0"}


def session(path: Path, study: str, environment: dict[str, str]) -> None:
    with store.Writer(path, study, environment=environment) as writer:
        writer.state(StudyState.STOPPED, "for the test")


def told(path: Path, study: str) -> list[tuple[str, str, str]]:
    """(kind, level, text without the digest) of the events about the environment."""
    return [
        (event.kind, event.level, event.text.partition(" (digest ")[0])
        for event in store.events(path, study)
        if event.kind.startswith("environment")
    ]


def test_the_first_session_tells_its_environment_and_the_same_again_says_nothing(path: Path) -> None:
    study = make_study(path)
    session(path, study, FIRST)
    session(path, study, dict(reversed(FIRST.items())))
    assert told(path, study) == [("environment", "info", "python 3.11.7, host a, numpy 2.2.0")]


def test_a_change_is_a_warning_that_names_what_changed_since_the_last_session(path: Path) -> None:
    study = make_study(path)
    session(path, study, FIRST)
    second = FIRST | {"python": "3.12.1", "host": "b"}
    session(path, study, second)
    session(path, study, second)
    session(path, study, FIRST)
    assert told(path, study)[1:] == [
        ("environment_changed", "warning", "python 3.11.7 before, 3.12.1 now; host a before, b now"),
        ("environment_changed", "warning", "python 3.12.1 before, 3.11.7 now; host b before, a now"),
    ]


def test_the_digest_is_that_of_the_values_in_any_order(path: Path) -> None:
    texts = []
    for environment in (FIRST, dict(reversed(FIRST.items())), FIRST | {"host": "b"}):
        study = make_study(path)
        session(path, study, environment)
        texts.append(store.events(path, study)[0].text.partition("digest ")[2])
    assert texts[0] == texts[1] != texts[2]
    assert len(texts[0]) == len("0123456789ab)")


def test_a_value_that_was_not_recorded_before_is_named(path: Path) -> None:
    study = make_study(path)
    session(path, study, {"python": "3.11.7"})
    session(path, study, {"python": "3.11.7", "aiohttp": "3.11"})
    assert told(path, study)[1] == ("environment_changed", "warning", "aiohttp not known before, 3.11 now")


def test_studies_of_one_file_do_not_mix(path: Path) -> None:
    one, other = make_study(path), make_study(path)
    session(path, one, FIRST)
    session(path, other, FIRST | {"host": "b"})
    assert [kind for kind, _, _ in told(path, one) + told(path, other)] == ["environment", "environment"]


def test_a_host_name_with_a_lone_surrogate_is_kept(path: Path) -> None:
    study = make_study(path)
    session(path, study, {"host": "h\udcff"})
    session(path, study, {"host": "h\udcff"})
    assert told(path, study) == [("environment", "info", "host h\udcff")]


def test_an_older_file_learns_it_when_it_is_taken_up(path: Path) -> None:
    study = make_study(path)
    session(path, study, FIRST)
    make_schema_1(path)
    session(path, study, FIRST)
    assert [kind for kind, _, _ in told(path, study)] == ["environment", "environment"]


def test_a_damaged_one_is_a_sentence_and_leaves_the_study_free(path: Path) -> None:
    study = make_study(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE studies SET environment = '{'")
    for _ in range(2):
        with pytest.raises(StoreError, match="environment of a study cannot be read"):
            session(path, study, FIRST)
