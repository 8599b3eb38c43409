"""JSON Schema: the JSON in the answer is valid under a schema (Draft 2020-12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import regex
from pydantic import Field

from evaltui.core.records import Item
from evaltui.scorers.json_text import NoJSONError, find_json
from evaltui.scorers.options import Options
from evaltui.scorers.rule import Mark, Rule, right, unreadable, unscorable, wrong

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

REVISION = 1
NOTE_LIMIT: Final = 200
PATTERN_TIMEOUT_S: Final = 0.25


class JsonSchemaOptions(Options):
    """``schema``: the schema itself; references that lead out of it are never fetched."""

    document: dict[str, Any] = Field(alias="schema")


def json_schema_rule(options: JsonSchemaOptions) -> Rule:
    """The label is ``valid`` or ``invalid``; the note holds the most telling error.

    Raises ValueError (a sentence) when the schema itself is not valid.
    """
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.exceptions import best_match
    from jsonschema.validators import extend
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        Draft202012Validator.check_schema(options.document)
    except SchemaError as error:
        raise ValueError(f"not a JSON Schema at {error.json_path}: {error.message[:NOTE_LIMIT]}") from None
    bounded = extend(Draft202012Validator, {"pattern": _pattern, "patternProperties": _pattern_properties})  # type: ignore[no-untyped-call]
    validator = bounded(options.document, registry=Registry())

    def rule(_item: Item, answer: str) -> Mark:
        try:
            value = find_json(answer)
        except NoJSONError as error:
            return unreadable(str(error))
        try:
            fault = best_match(validator.iter_errors(value))
        except Unresolvable as error:
            return unscorable(f"the schema refers to {error.ref!r}, which is not in it")
        except regex.error as error:
            return unscorable(f"a pattern of the schema cannot be used: {error}")
        if fault is None:
            return right("valid")
        return wrong("invalid", f"{fault.json_path}: {fault.message}"[:NOTE_LIMIT])

    return rule


def _pattern(validator: Any, pattern: str, instance: object, _schema: object) -> Iterator[ValidationError]:
    """As jsonschema's own, but a pattern that runs away on a hostile answer is stopped (TimeoutError)."""
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not regex.search(pattern, instance, timeout=PATTERN_TIMEOUT_S):
        yield ValidationError(f"{instance[:NOTE_LIMIT]!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], instance: object, _schema: object
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, schema in patterns.items():
        for key, value in instance.items():
            if regex.search(pattern, key, timeout=PATTERN_TIMEOUT_S):
                yield from validator.descend(value, schema, path=key, schema_path=pattern)
