"""The options of a scorer are the same in the study file and in the scorer itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltui import scorers
from evaltui.config.scorers import SCORERS
from evaltui.core.errors import InputError

NEEDED: dict[str, dict[str, object]] = {
    "regex": {"pattern": "(a)"},
    "json_schema": {"schema": {"type": "object"}},
    "python": {"function": "math:isfinite", "folder": Path("/")},
    "command": {"command": ["true"], "folder": Path("/")},
}


@pytest.mark.parametrize("kind", SCORERS)
def test_every_kind_of_the_study_file_is_built_with_the_same_defaults(kind: str) -> None:
    options = NEEDED.get(kind, {})
    config = SCORERS[kind].model_validate({"kind": kind, **options})
    assert scorers.build("s", kind, config.options()).version == scorers.build("s", kind, options).version


@pytest.mark.parametrize("kind", SCORERS)
def test_a_scorer_knows_no_other_options(kind: str) -> None:
    known = {field.alias or name for name, field in SCORERS[kind].model_fields.items()} - {"kind", "primary"}
    with pytest.raises(InputError) as refused:
        scorers.build("s", kind, {**NEEDED.get(kind, {}), "zzzz": 1})
    listed = str(refused.value).partition("known options: ")[2].replace("schema_", "schema")
    assert set(listed.split(", ")) == known


def test_the_study_file_knows_every_kind_of_scorer() -> None:
    assert set(SCORERS) == set(scorers.KINDS)


@pytest.mark.parametrize(
    ("kind", "options", "needed"),
    [
        ("exact", {}, True),
        ("contains", {"text": "x"}, False),
        ("regex", {"pattern": "a"}, False),
        ("regex", {"pattern": "(a)"}, True),
        ("json_schema", {"schema": {}}, False),
    ],
)
def test_a_scorer_says_whether_it_needs_gold(kind: str, options: dict[str, object], needed: bool) -> None:
    assert SCORERS[kind].model_validate({"kind": kind, **options}).needs_gold is needed
