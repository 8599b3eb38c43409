"""A plan that was stored can be run from the database alone."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study_making import make_plan

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.records import Item
from evaltui.core.status import Status
from evaltui.core.study import MissingPolicy, ScorerDesign
from evaltui.store.plans import dump_design, load_design

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


def test_a_design_with_every_field_set_round_trips() -> None:
    design = replace(
        make_plan().design,
        name="lone \ud83d surrogate",
        scorers=(ScorerDesign("s", "judge", "3", True, None), ScorerDesign("t", "exact", "1", False, (-1.0, 5.0))),
        missing=MissingPolicy("fail", {Status.PARSE_FAILURE: "fail", Status.TIMEOUT: "exclude"}, 0.1),
        disclosure="we built it",
        max_cost=12.5,
    )
    assert load_design(dump_design(design)) == design


def test_a_plan_is_read_back_with_its_items_in_order(path: Path) -> None:
    plan = make_plan(n=30)
    opened = store.open_study(path, plan)
    assert store.load_plan(path, opened.study_id) == plan
    assert store.items(path, opened.study_id) == plan.items


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(ANY_TEXT, JSON_VALUES, max_size=4),
    ANY_TEXT,
    st.none() | ANY_TEXT,
    st.none() | ANY_TEXT,
    JSON_VALUES,
)
def test_items_and_configs_survive_whatever_is_in_them(
    fields: dict[str, object], item_id: str, gold: str | None, category: str | None, setting: object
) -> None:
    item = Item(item_id, fields, gold, category, category, b"0123456789abcdef", 0)
    small = make_plan(n=1)
    plan = replace(small, items=(item,), config={"setting": setting}, config_path=item_id)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        assert store.load_plan(path, store.open_study(path, plan).study_id) == plan


def test_a_design_that_is_none_is_told_in_a_sentence() -> None:
    with pytest.raises(StoreError, match="damaged"):
        load_design('{"name": "half"')
