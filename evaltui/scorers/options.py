"""What every kind's options have in common: frozen, strict, every fault named."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from evaltui.core.errors import Fault, InputError
from evaltui.core.pins import digest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class Options(BaseModel):
    """The options of one kind of scorer; unknown keys and other types are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


SomeOptions = TypeVar("SomeOptions", bound=Options)


def read_options(kind: type[SomeOptions], name: str, options: Mapping[str, object]) -> SomeOptions:
    """Raises InputError with one fault for each unknown key and each value that does not fit."""
    try:
        return kind.model_validate(dict(options))
    except ValidationError as error:
        known = [field.alias or key for key, field in kind.model_fields.items()]
        faults = [_fault(detail, known) for detail in error.errors(include_url=False)]
        raise InputError(f"scorers.{name}", faults) from None


def options_digest(options: Options) -> str:
    """Eight hex digits over the options with their defaults filled in."""
    return digest(options.model_dump(mode="json"))[:8]


def _fault(detail: ErrorDetails, known: list[str]) -> Fault:
    key = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known options: {', '.join(known) or 'none'}"
        return Fault(key, f"unknown option; {hint}")
    if detail["type"] == "missing":
        return Fault(key, "is required")
    return Fault(key, f"{detail['input']!r} does not fit: {detail['msg'].removeprefix('Value error, ')}")
