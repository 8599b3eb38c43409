"""Arms: what is asked of which model, and how its answers are sampled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from evaltui.config.tables import Table

OWN_KEYS: Final = {
    "model": "set model in the arm",
    "messages": "the prompt is set with prompt and system",
    "temperature": "set temperature in the arm",
    "top_p": "set top_p in the arm",
    "max_tokens": "set max_tokens in the arm",
    "seed": "set seed in the arm",
    "stream": "answers are read whole",
    "n": "one call gives one answer; say repeats in [study]",
}

SeedPolicy = Literal["none", "per-repeat", "per-item"]


def _seed(value: object) -> object:
    if value in get_args(SeedPolicy) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError('a seed is "none", "per-repeat", "per-item" or a whole number')


def _body(body: Mapping[str, object]) -> Mapping[str, object]:
    faults = [f"{name!r} does not belong here: {advice}" for name, advice in OWN_KEYS.items() if name in body]
    try:
        json_only(body)
    except ValueError as error:
        faults.append(str(error))
    if faults:
        raise ValueError("; ".join(faults))
    return body


def json_only(table: Mapping[str, object]) -> Mapping[str, object]:
    """The table itself, if JSON can hold it.

    Raises:
        ValueError: it holds a date, an infinity or another value that JSON lacks.
    """
    strange = [
        f"{'.'.join(path)} is {value}, which JSON cannot hold; write it as text in quotes"
        for path, value in _leaves(table, ())
        if not isinstance(value, (str, int, float, type(None)))
        or (isinstance(value, float) and not math.isfinite(value))
    ]
    if strange:
        raise ValueError("; ".join(strange))
    return table


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, str(name)))
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from _leaves(inner, (*path, str(place)))
    else:
        yield path, value


class ArmConfig(Table):
    """One configuration under test. ``seed`` is a hint to the provider; a setting of None is left to the server."""

    endpoint: str
    model: str = Field(min_length=1)
    prompt_text: str
    system_text: str | None = None
    temperature: float | None = Field(None, ge=0)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1, le=10_000_000)
    seed: Annotated[int | SeedPolicy, BeforeValidator(_seed)] = "none"
    extra_body: Annotated[dict[str, Any], AfterValidator(_body)] = Field(default_factory=dict)
