"""How a field of an item reads as text: in a prompt, as gold, and in the hash of its content."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evaltui.core.pins import canonical, short_hash


def field_text(value: object) -> str:
    """The text of a JSON value: strings as they are, numbers and booleans as JSON writes them, null as nothing.

    Lists and objects become JSON with sorted keys, so that the same content always makes the same prompt, and a
    number reads the same whether it came from a CSV file or from JSON.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def comparable(fields: Mapping[str, object], id_field: str) -> dict[str, str]:
    """The fields as texts, without the id and without empty ones."""
    texts = {name: field_text(value) for name, value in fields.items() if name != id_field}
    return {name: text for name, text in texts.items() if text}


def item_hash(id: str, fields: Mapping[str, object], id_field: str = "id") -> bytes:
    """16 bytes over the id and every field but ``id_field``.

    Values count as the text that a prompt would show, and an empty text, null and an absent field are the same
    content: so the same row hashes alike in CSV, JSONL and JSON, with keys in any order.
    """
    return short_hash(canonical({"id": id, "fields": comparable(fields, id_field)}))
