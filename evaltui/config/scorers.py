"""Scorers: how an answer becomes a verdict, and the options of each kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import jsonschema
import regex
from jsonschema.validators import validator_for
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from evaltui.config.tables import Table, function_name


class ScorerConfig(Table):
    """What every scorer has; its other keys are the options of its kind (see :mod:`evaltui.scorers`)."""

    kind: str
    primary: bool = False

    @property
    def needs_gold(self) -> bool:
        """Whether an item without gold cannot be scored."""
        return True

    def options(self) -> dict[str, object]:
        """The options of this kind, as :func:`evaltui.scorers.build` takes them; unset ones are left out."""
        written = self.model_dump(mode="json", by_alias=True, exclude={"kind", "primary"})
        return {name: value for name, value in written.items() if value is not None}


class ExactScorer(ScorerConfig):
    kind: Literal["exact"]
    normalise: bool = False
    ignore_case: bool = False


class ContainsScorer(ScorerConfig):
    kind: Literal["contains"]
    text: str | None = None
    ignore_case: bool = True
    words: bool = False

    @property
    def needs_gold(self) -> bool:
        return self.text is None


def _pattern(pattern: str) -> str:
    try:
        regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return pattern


def _group(group: object) -> object:
    if isinstance(group, bool) or not isinstance(group, (int, str, type(None))):
        raise ValueError("a group is a number, or a name in quotes")
    return group


class RegexScorer(ScorerConfig):
    kind: Literal["regex"]
    pattern: Annotated[str, AfterValidator(_pattern)]
    group: Annotated[int | str | None, BeforeValidator(_group)] = None
    take: Literal["last", "first"] = "last"
    ignore_case: bool = False
    timeout_s: float = Field(0.25, gt=0, le=5)

    @model_validator(mode="after")
    def _has_group(self) -> Self:
        compiled = regex.compile(self.pattern)
        if self.group is not None and self.group not in {*range(compiled.groups + 1), *compiled.groupindex}:
            raise ValueError(f"the pattern has no group {self.group!r}; it has {compiled.groups}")
        return self

    @property
    def needs_gold(self) -> bool:
        return self.group is not None or regex.compile(self.pattern).groups > 0


class ChoiceScorer(ScorerConfig):
    kind: Literal["choice"]
    letters: Annotated[str, Field(pattern=r"^[A-Z]{2,26}$")] = "ABCDEFGHIJ"


class NumericScorer(ScorerConfig):
    kind: Literal["numeric"]
    tolerance: float = Field(0.0, ge=0)
    relative: bool = False


class JsonScorer(ScorerConfig):
    kind: Literal["json"]
    field: str | None = Field(None, min_length=1)
    ignore_case: bool = False


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    try:
        validator_for(schema).check_schema(schema)
    except jsonschema.SchemaError as error:
        place = ".".join(str(part) for part in error.absolute_path)
        raise ValueError(f"not a JSON Schema: {f'at {place}: ' if place else ''}{error.message[:200]}") from None
    return schema


class JsonSchemaScorer(ScorerConfig):
    kind: Literal["json_schema"]
    schema_: Annotated[dict[str, Any], AfterValidator(_schema)] = Field(alias="schema")

    @property
    def needs_gold(self) -> bool:
        return False


class PythonScorer(ScorerConfig):
    """``folder`` is where the module is found: the study file's."""

    kind: Literal["python"]
    function: Annotated[str, AfterValidator(function_name)]
    folder: Path
    timeout_s: float = Field(60.0, gt=0, le=86_400)

    @property
    def needs_gold(self) -> bool:
        return False


class CommandScorer(ScorerConfig):
    """``folder`` is where the command starts: the study file's."""

    kind: Literal["command"]
    command: Annotated[list[str], Field(min_length=1)]
    folder: Path
    timeout_s: float = Field(60.0, gt=0, le=86_400)

    @property
    def needs_gold(self) -> bool:
        return False


SCORERS: Final[dict[str, type[ScorerConfig]]] = {
    "exact": ExactScorer,
    "contains": ContainsScorer,
    "regex": RegexScorer,
    "choice": ChoiceScorer,
    "numeric": NumericScorer,
    "json": JsonScorer,
    "json_schema": JsonSchemaScorer,
    "python": PythonScorer,
    "command": CommandScorer,
}
