"""Prompts as templates over the fields of an item."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evaltui import config as configs
from evaltui.config import ArmConfig, StudyConfig
from evaltui.core.errors import InputError
from evaltui.core.records import Item, Message

Load = Callable[..., StudyConfig]


def item(id: str = "a", **fields: object) -> Item:
    return Item(id=id, fields=fields, gold=None, category=None, cluster=None, hash=b"")


def arm(prompt: str, system: str | None = None) -> ArmConfig:
    return ArmConfig(endpoint="e", model="m", prompt_text=prompt, system_text=system)


def test_fields_are_filled_in() -> None:
    filled = configs.render(
        arm("{{q}} and {{ q }} of {{the topic}}", "You are {{who}}."), item(q="2+2", who="A", **{"the topic": "sums"})
    )
    assert filled == (Message("system", "You are A."), Message("user", "2+2 and 2+2 of sums"))


def test_values_read_as_json_unless_they_are_text() -> None:
    (message,) = configs.render(arm("{{a}} {{b}} {{c}} {{d}}"), item(a=3, b=0.5, c=True, d={"y": [1], "x": "é"}))
    assert message.content == '3 0.5 true {"x": "é", "y": [1]}'


def test_the_text_of_a_field_is_never_a_template() -> None:
    (message,) = configs.render(arm("{{a}}"), item(a="{{b}} \\1", b="secret"))
    assert message.content == "{{b}} \\1"


def test_braces_of_json_are_text() -> None:
    prompt = 'Reply {"verdict": {"x": "yes"}} or {{"a": 1}} or { {q} }'
    assert configs.render(arm(prompt), item(q="x"))[0].content == prompt


def test_a_missing_field_is_named_with_its_items_all_at_once(load: Load) -> None:
    config = load(("Q: {{question}}", "Q: {{quesion}} {{hint}}"))
    items = [item(f"i{n}", question="q", hint=None if n == 2 else "h") for n in range(8)]
    assert [str(fault) for fault in configs.check_templates(config, items)] == [
        "arms.baseline.prompt: {{quesion}} is not a field of items 'i0', 'i1', 'i2', 'i3', 'i4' and 3 more; "
        "did you mean {{question}}?",
        "arms.baseline.prompt: {{hint}} is not a field of item 'i2'",
    ]
    with pytest.raises(InputError, match="quesion"):
        configs.insist_templates(config, items)


def test_complete_items_pass(load: Load) -> None:
    configs.insist_templates(load(), [item(question="q")])
