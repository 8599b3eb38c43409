"""How a study is named at the command line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from study_making import make_plan, make_study

from evaltui import store
from evaltui.core.errors import StoreError


def make_with_id(path: Path, study: str, name: str) -> None:
    store.open_study(path, make_plan(name=name, n=1), new=True, study_id=study)


@pytest.fixture
def three(path: Path) -> Path:
    """Three studies: aa11 and ab22 of the name "gsm8k", then b333 of the name "support"."""
    for study, name in (("aa11", "gsm8k"), ("ab22", "gsm8k"), ("b333", "support")):
        make_with_id(path, study, name)
    return path


@pytest.mark.parametrize(
    ("ref", "study"),
    [
        ("aa11", "aa11"),
        ("AA11", "aa11"),
        ("aa", "aa11"),
        ("b", "b333"),
        ("gsm8k", "ab22"),
        ("support", "b333"),
        ("latest", "b333"),
    ],
)
def test_a_study_is_named_by_id_unique_prefix_name_or_latest(three: Path, ref: str, study: str) -> None:
    assert store.resolve(three, ref).id == study


def test_an_ambiguous_prefix_lists_the_studies(three: Path) -> None:
    with pytest.raises(StoreError, match="'a' is the beginning of 2 studies: ab22, aa11"):
        store.resolve(three, "a")


def test_an_unknown_name_gets_the_nearest(three: Path) -> None:
    with pytest.raises(StoreError, match="did you mean gsm8k"):
        store.resolve(three, "gsm8")


@pytest.mark.parametrize("ref", ["zzzzzz", ""])
def test_a_name_like_no_other_gets_the_way_to_list_them(three: Path, ref: str) -> None:
    with pytest.raises(StoreError, match="`evaltui studies` lists them"):
        store.resolve(three, ref)


def test_a_name_goes_before_a_prefix(three: Path) -> None:
    make_with_id(three, "cc44", "b3")
    assert store.resolve(three, "b3").id == "cc44"


def test_the_ledger_lists_the_newest_first(three: Path) -> None:
    assert [info.id for info in store.studies(three)] == ["b333", "ab22", "aa11"]


def test_a_ledger_that_looks_again_sees_an_engine_on_another_host_die(path: Path) -> None:
    study = make_study(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("INSERT INTO leases SELECT key, 't', 1, 'then', 'another-host', '', 5 FROM studies")
    connection.close()
    now = [0.0]
    watch = store.LeaseWatch(clock=lambda: now[0])
    assert [info.live for info in store.studies(path, watch=watch)] == [True]
    now[0] = 15.0
    assert [(info.id, info.live) for info in store.studies(path, watch=watch)] == [(study, False)]
