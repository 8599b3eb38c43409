"""JSON equality: the JSON in the answer, or one field of it, equals the gold."""

from __future__ import annotations

import json

from evaltui.core.records import Item
from evaltui.scorers.json_text import NoJSONError, find_json
from evaltui.scorers.options import Options
from evaltui.scorers.rule import Mark, Rule, right, unreadable, unscorable, without_gold, wrong
from evaltui.scorers.text import as_label

REVISION = 1


class JsonOptions(Options):
    """``field``: a path into the answer's JSON (``result.0.verdict``). ``ignore_case``: of all strings."""

    field: str | None = None
    ignore_case: bool = False


def json_rule(options: JsonOptions) -> Rule:
    """Key order and the way a number is written do not count (1 equals 1.0, and is not true).

    With ``field``, a gold that is itself an object holding that field is read the same way; a gold that is not JSON is
    a plain text. A field that is missing or null is a parse failure.
    """

    def rule(item: Item, answer: str) -> Mark:
        if item.gold is None:
            return without_gold(item)
        gold = _gold(item.gold, options.field)
        if gold is None:
            return unscorable(f"the gold of item {item.id!r} is not JSON")
        try:
            said = find_json(answer)
        except NoJSONError as error:
            return unreadable(str(error))
        if options.field is not None:
            said = value_at(said, options.field)
            if said is None:
                return unreadable(f"the answer's JSON has no field {options.field!r}")
        found = _canonical(said)
        accepted = {_canonical(value) for value in gold}
        if found in accepted or (options.ignore_case and found.casefold() in {text.casefold() for text in accepted}):
            return right(as_label(found.casefold()))
        if found.casefold() in {text.casefold() for text in accepted}:
            return wrong(as_label(f"{found.casefold()} (case differs)"))
        return wrong(as_label(found.casefold()))

    return rule


def value_at(value: object, path: str) -> object:
    """What stands at a dotted path of keys and list indexes, or None."""
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _gold(text: str, field: str | None) -> tuple[object, ...] | None:
    """The values that count as right; None when there is none."""
    try:
        value = find_json(text)
    except NoJSONError:
        return None if field is None else (text.strip(),)
    if field is None:
        return (value,)
    inner = value_at(value, field)
    return (value, text.strip()) if inner is None else (inner,)


def _canonical(value: object) -> str:
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.strip() if isinstance(value, str) else value
