"""The kinds of scorer that there are, and how one is built from its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic

from evaltui.core.errors import Fault, InputError
from evaltui.core.protocols import Scorer
from evaltui.scorers import choice, contains, exact, json_equality, json_schema, numeric, own, pattern
from evaltui.scorers.options import SomeOptions, options_digest, read_options
from evaltui.scorers.rule import Rule, RuleScorer


@dataclass(frozen=True, slots=True)
class Kind(Generic[SomeOptions]):
    """``revision`` is raised whenever the same options would score an answer differently.

    ``source`` digests what else a scorer is made of: the user's own code.
    """

    options: type[SomeOptions]
    rule: Callable[[SomeOptions], Rule]
    revision: int
    source: Callable[[SomeOptions], str] | None = None

    def build(self, name: str, kind: str, given: Mapping[str, object]) -> RuleScorer:
        options = read_options(self.options, name, given)
        try:
            rule = self.rule(options)
        except ValueError as error:
            raise InputError(f"scorers.{name}", [Fault("", str(error))]) from None
        source = f".{self.source(options)}" if self.source is not None else ""
        return RuleScorer(name, f"{kind}-{self.revision}+{options_digest(options)}{source}", rule)


Builder = Callable[[str, str, Mapping[str, object]], RuleScorer]

KINDS: Final[Mapping[str, Builder]] = {
    "exact": Kind(exact.ExactOptions, exact.exact_rule, exact.REVISION).build,
    "contains": Kind(contains.ContainsOptions, contains.contains_rule, contains.REVISION).build,
    "regex": Kind(pattern.RegexOptions, pattern.regex_rule, pattern.REVISION).build,
    "choice": Kind(choice.ChoiceOptions, choice.choice_rule, choice.REVISION).build,
    "numeric": Kind(numeric.NumericOptions, numeric.numeric_rule, numeric.REVISION).build,
    "json": Kind(json_equality.JsonOptions, json_equality.json_rule, json_equality.REVISION).build,
    "json_schema": Kind(json_schema.JsonSchemaOptions, json_schema.json_schema_rule, json_schema.REVISION).build,
    "python": Kind(own.PythonOptions, own.python_rule, own.REVISION, own.python_source).build,
    "command": Kind(own.CommandOptions, own.command_rule, own.REVISION, own.command_source).build,
}


def build(name: str, kind: str, options: Mapping[str, object]) -> Scorer:
    """The scorer of that kind. Its version is ``<kind>-<revision>+<8 hex of its options>``.

    Raises InputError, naming every option that is unknown or does not fit, and for a kind that does not exist.
    """
    if kind not in KINDS:
        raise InputError(f"scorers.{name}", [Fault("kind", f"{kind!r} is not one of {', '.join(KINDS)}")])
    return KINDS[kind](name, kind, options)
