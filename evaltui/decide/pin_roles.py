"""What a pin is for in a comparison: it must agree, it is what is being compared, or it is a circumstance."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from evaltui.core.pins import PROBED


class Role(Enum):
    """The part a pin has when two measurements are put side by side."""

    MEASURE = "measure"
    """Scorer, rubric, judge: what turns answers into scores. Another measure gives numbers that mean something else."""

    DATASET = "dataset"
    """Which items were asked."""

    UNDER_TEST = "under test"
    """Model, prompt, decoding: what a comparison is about."""

    CONDITION = "condition"
    """GPU, parallelism, sandbox, concurrency, harness and whatever is not known here: it may move scores."""

    RECORDED = "recorded"
    """Kept for the record; it moves no score."""


_DATASET: Final = frozenset({"dataset_sha256"})
_RECORDED: Final = frozenset({"dataset_bytes_sha256", "git_commit", "items", "order_seed"})
_UNDER_TEST: Final = frozenset(
    {"model", "temperature", "top_p", "max_tokens", "seed", "extra_body", "token_limit", "omit"}
)
_UNDER_TEST_BEGIN: Final = ("command", "function", "answers_", "prompt", "system", "template", "few_shot", "simulator.")
_SPEAKS_OF_MEASURE: Final = ("scorer", "scoring", "judge", "judging", "rubric", "grader", "grading", "autorater")
_ENDPOINT: Final = frozenset({"endpoint_kind", "endpoint_url"})


def role(pin: str, *, scorer: str | None) -> Role:
    """The role of the pin named ``pin``, where ``scorer`` is the name of the scorer whose verdicts are compared.

    Pins of other scorers are only recorded: their verdicts are in no number. A name of one's own under ``pins.`` that
    speaks of a scorer, judge, rubric or grader, in whatever spelling (``judgeModel``, ``myjudge``, ``Grader``), must
    agree: what is stopped for nothing can be compared across versions, what is missed is a wrong number. Any other is a
    condition.
    """
    if pin.startswith("scorer."):
        mine = scorer is None or pin == f"scorer.{scorer}" or pin.startswith(f"scorer.{scorer}.")
        return Role.MEASURE if mine else Role.RECORDED
    if pin.startswith(PROBED):
        return Role.RECORDED
    if pin in _DATASET:
        return Role.DATASET
    if pin in _RECORDED:
        return Role.RECORDED
    if any(word in pin.lower() for word in _SPEAKS_OF_MEASURE):
        return Role.MEASURE
    if pin in _UNDER_TEST or pin.startswith(_UNDER_TEST_BEGIN):
        return Role.UNDER_TEST
    return Role.CONDITION


def roles(a: Mapping[str, object], b: Mapping[str, object]) -> dict[str, Role]:
    """The role of every pin of two measurements.

    Where the models differ, the endpoints that serve them are part of what is compared; one model behind two endpoints
    is a circumstance.
    """
    scorer = a.get("scorer")
    found = {pin: role(pin, scorer=scorer if isinstance(scorer, str) else None) for pin in {**a, **b}}
    if a.get("model") != b.get("model"):
        found.update(dict.fromkeys(_ENDPOINT & found.keys(), Role.UNDER_TEST))
    return found
