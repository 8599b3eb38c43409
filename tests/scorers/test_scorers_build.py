"""What every scorer has in common: status before score, versions, options checked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltui.core.errors import InputError
from evaltui.core.records import Completion, Item
from evaltui.core.status import Status
from evaltui.scorers import KINDS, build

OPTIONS = {
    "regex": {"pattern": r"(\w+)$"},
    "json_schema": {"schema": {"type": "object"}},
    "python": {"function": "math:hypot"},
    "command": {"command": ["no-such-program"]},
}
GOLDS = {
    "python": None,
    "command": None,
    "exact": "a",
    "contains": "a",
    "regex": "a",
    "choice": "A",
    "numeric": "1",
    "json": "{}",
    "json_schema": None,
}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("status", [Status.EMPTY, Status.REFUSED])
async def test_an_answer_that_is_none_keeps_its_status_and_has_no_score(kind, status):
    verdict = await _scorer(kind).score(_item(kind), Completion("1", status))
    assert (verdict.status, verdict.score, verdict.label) == (status, None, None)


async def test_a_truncated_answer_keeps_its_would_be_label_and_has_no_score():
    verdict = await build("s", "numeric", {}).score(_item("numeric"), Completion("The total is 72", Status.TRUNCATED))
    assert (verdict.status, verdict.label, verdict.score) == (Status.TRUNCATED, "72", None)


async def test_a_blank_answer_is_empty():
    assert (await build("s", "exact", {}).score(_item("exact"), Completion(" \n"))).status is Status.EMPTY


@pytest.mark.parametrize("kind", ["exact", "contains", "regex", "choice", "numeric", "json"])
async def test_a_missing_gold_is_an_error_of_the_scorer_that_names_the_item(kind):
    item = Item("item-7", {}, None, None, None, b"")
    verdict = await _scorer(kind).score(item, Completion("1"))
    assert verdict.status is Status.SCORER_ERROR
    assert "item-7" in verdict.note


@pytest.mark.parametrize("kind", list(KINDS))
def test_version_is_kind_revision_and_digest_of_the_options(kind):
    assert _scorer(kind).version.startswith(f"{kind}-1+")
    digests = _scorer(kind).version.partition("+")[2].split(".")
    assert [len(digest) for digest in digests] == [8] * (2 if kind in ("python", "command") else 1)


def test_version_depends_on_what_the_options_mean_and_not_on_how_they_were_given():
    assert build("a", "numeric", {}).version == build("b", "numeric", {"tolerance": 0}).version
    assert build("a", "numeric", {}).version != build("a", "numeric", {"tolerance": 0.1}).version


def test_every_fault_in_the_options_is_named_at_once():
    with pytest.raises(InputError) as caught:
        build("total", "numeric", {"tolerence": 1, "tolerance": -1, "relative": "yes"})
    text = str(caught.value)
    assert "scorers.total: tolerence: unknown option; did you mean 'tolerance'?" in text
    assert "tolerance: -1 does not fit" in text
    assert "relative: 'yes' does not fit" in text


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("regex", {"pattern": "("}, "not a regular expression"),
        ("regex", {"pattern": "(a)", "group": 2}, "group 2 is not in the pattern"),
        ("regex", {}, "pattern: is required"),
        ("json_schema", {"schema": {"type": "objekt"}}, "not a JSON Schema"),
        ("json_schema", {"schema": {"pattern": "("}}, "not a JSON Schema"),
        ("json_schema", {}, "schema: is required"),
        ("choice", {"letters": "abc"}, "letters"),
        ("guess", {}, "'guess' is not one of exact, contains"),
    ],
)
def test_options_that_cannot_work_are_refused_with_a_sentence(kind, options, said):
    with pytest.raises(InputError, match=r"scorers\.s") as caught:
        build("s", kind, options)
    assert said in str(caught.value)


@given(text=st.text(), gold=st.text())
@pytest.mark.parametrize("kind", list(KINDS))
async def test_any_answer_gets_a_verdict_and_only_ok_scores(kind, text, gold):
    item = Item("q", {}, gold, None, None, b"")
    verdict = await _scorer(kind).score(item, Completion(text))
    assert (verdict.score is not None) == (verdict.status is Status.OK)
    assert verdict.label is None or len(verdict.label) <= 120


def _scorer(kind):
    return build("s", kind, OPTIONS.get(kind, {}))


def _item(kind):
    return Item("q1", {}, GOLDS[kind], None, None, b"")
