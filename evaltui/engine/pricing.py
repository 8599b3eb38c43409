"""Requests, tokens and money of a study before anything is spent."""

from __future__ import annotations

from typing import Final

from evaltui.config import StudyConfig, render
from evaltui.core.preview import ArmPreview
from evaltui.core.records import Usage
from evaltui.core.study import StudyPlan
from evaltui.engine.budget import call_cost
from evaltui.engine.pinning import called_url

CHARACTERS_A_TOKEN: Final = 4
ASSUMED_ANSWER_TOKENS: Final = 256
"""Counted for each answer of an arm that sets no ``max_tokens``."""


def price_arm(config: StudyConfig, plan: StudyPlan, name: str) -> ArmPreview:
    """What one arm asks for over all repeats: four characters a token in, ``max_tokens`` a call out, no retries."""
    arm = config.arms[name]
    endpoint = config.endpoints[arm.endpoint]
    repeats = plan.design.repeats
    requests = repeats * len(plan.items)
    characters = (sum(len(message.content) for message in render(arm, item)) for item in plan.items)
    prompt_tokens = repeats * sum(-(-count // CHARACTERS_A_TOKEN) for count in characters)
    completion_tokens = requests * (arm.max_tokens or ASSUMED_ANSWER_TOKENS)
    cost = call_cost(endpoint.price, Usage(prompt_tokens, completion_tokens)) if endpoint.price is not None else None
    pins = next(design.pins for design in plan.design.arms if design.name == name)
    return ArmPreview(name, pins, called_url(endpoint), requests, prompt_tokens, completion_tokens, cost)
