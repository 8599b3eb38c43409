"""Prompts are templates over the fields of an item: ``{{question}}``. Everything else in them is text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from evaltui.config.arms import ArmConfig
from evaltui.config.faults import key_path, nearest
from evaltui.config.study import StudyConfig
from evaltui.core.errors import Fault, InputError
from evaltui.core.fields import field_text
from evaltui.core.records import Item, Message

FIELD: Final = re.compile(r"\{\{[ \t]*([^{}\"\n]+?)[ \t]*\}\}")
MOST_ITEMS: Final = 5


def fields_of(template: str) -> list[str]:
    """The names of the fields that a template uses, each once, in order."""
    return list(dict.fromkeys(FIELD.findall(template)))


def render(arm: ArmConfig, item: Item) -> tuple[Message, ...]:
    """What is sent for one item. Text of a field is inserted as it is and never read as a template again.

    Raises:
        KeyError: the item lacks a field; :func:`check_templates` finds that before a study starts.
    """
    user = Message("user", _filled(arm.prompt_text, item))
    if arm.system_text is None:
        return (user,)
    return (Message("system", _filled(arm.system_text, item)), user)


def check_templates(config: StudyConfig, items: Sequence[Item]) -> list[Fault]:
    """One fault for each field that a prompt uses and an item lacks (or has as null), naming the items."""
    faults = []
    for name, arm in config.arms.items():
        for key, template in (("prompt", arm.prompt_text), ("system", arm.system_text or "")):
            for field in fields_of(template):
                lacking = [item for item in items if item.fields.get(field) is None]
                if lacking:
                    faults.append(Fault(key_path("arms", name, key), _lacks(field, lacking)))
    return faults


def insist_templates(config: StudyConfig, items: Sequence[Item]) -> None:
    """Refuse a study whose prompts cannot be filled in.

    Raises:
        InputError: every fault of :func:`check_templates`.
    """
    faults = check_templates(config, items)
    if faults:
        raise InputError(config.study.name, faults)


def _filled(template: str, item: Item) -> str:
    return FIELD.sub(lambda match: field_text(item.fields[match[1]]), template)


def _lacks(field: str, items: Sequence[Item]) -> str:
    ids = ", ".join(repr(item.id) for item in items[:MOST_ITEMS])
    rest = f" and {len(items) - MOST_ITEMS:,} more" if len(items) > MOST_ITEMS else ""
    near = nearest(field, [name for name in items[0].fields if name != field])
    hint = f"; did you mean {{{{{near}}}}}?" if near else ""
    noun = "item" if len(items) == 1 else "items"
    return f"{{{{{field}}}}} is not a field of {noun} {ids}{rest}{hint}"
