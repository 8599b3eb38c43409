"""How a field of an item reads as text: in a prompt, as gold, and in the hash of its content."""

from __future__ import annotations

import json


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
