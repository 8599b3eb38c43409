"""Requests, tokens and money of a study before anything is spent."""

from __future__ import annotations

from evaltui.config import StudyConfig, render
from evaltui.core.preview import ArmPreview
from evaltui.core.records import Usage
from evaltui.core.study import StudyPlan
from evaltui.engine.estimate import call_cost, expected_usage
from evaltui.engine.pinning import called_url


def price_arm(config: StudyConfig, plan: StudyPlan, name: str) -> ArmPreview:
    """What one arm asks for over all repeats and warm-up runs when every answer is as long as it may be; no retries."""
    arm = config.arms[name]
    endpoint = config.endpoints[arm.endpoint]
    runs = len(plan.design.all_repeats)
    requests = runs * len(plan.items)
    calls = [expected_usage(render(arm, item), arm.max_tokens) for item in plan.items]
    prompt_tokens = runs * sum(call.prompt_tokens or 0 for call in calls)
    completion_tokens = runs * sum(call.completion_tokens or 0 for call in calls)
    cost = call_cost(endpoint.price, Usage(prompt_tokens, completion_tokens)) if endpoint.price is not None else None
    pins = next(design.pins for design in plan.design.arms if design.name == name)
    return ArmPreview(name, pins, called_url(endpoint), requests, prompt_tokens, completion_tokens, cost)
