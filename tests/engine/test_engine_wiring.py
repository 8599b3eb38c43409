"""From the study file to endpoints and scorers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evaltui import config as configs
from evaltui import datasets
from evaltui.config import StudyConfig
from evaltui.core.errors import EvaltuiError, InputError
from evaltui.core.study import StudyPlan
from evaltui.datasets.demo import arithmetic_items
from evaltui.engine import wiring
from evaltui.engine.plan import build_plan
from evaltui.providers.openai import OpenAIProvider
from evaltui.providers.simulator import Simulator

HOSTED = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "HOSTED_KEY"}


def study(endpoints: dict[str, Any], used: tuple[str, ...] = ("main",)) -> tuple[StudyConfig, StudyPlan]:
    config = configs.from_mapping(
        {
            "study": {"name": "wired"},
            "dataset": {"path": "items.jsonl", "gold": "answer"},
            "endpoints": endpoints,
            "arms": {f"on-{name}": {"endpoint": name, "model": "m", "prompt_text": "{{question}}"} for name in used},
            "scorers": {"form": {"kind": "contains", "text": "="}, "number": {"kind": "numeric", "primary": True}},
        },
        Path(),
        source="wired.toml",
    )
    return config, build_plan(config, datasets.from_items(arithmetic_items(5, seed=1)))


def close(providers: dict[str, Any]) -> None:
    async def close_all() -> None:
        for provider in providers.values():
            await provider.close()

    asyncio.run(close_all())


def test_every_missing_key_is_named_with_its_endpoint_and_variable() -> None:
    config, plan = study({"main": HOSTED, "other": {**HOSTED, "api_key_env": "OTHER_KEY"}}, ("main", "other"))
    with pytest.raises(InputError) as told:
        wiring.providers(config, plan, {"OTHER_KEY": "  "})
    assert str(told.value) == (
        "wired: endpoints.main.api_key_env: the environment variable HOSTED_KEY is not set; set it to the key\n"
        "wired: endpoints.other.api_key_env: the environment variable OTHER_KEY is not set; set it to the key"
    )


def test_an_endpoint_that_no_arm_uses_needs_no_key() -> None:
    config, plan = study({"main": {"kind": "simulator"}, "spare": HOSTED})
    assert list(wiring.providers(config, plan, {})) == ["main"]


def test_a_key_that_cannot_be_sent_is_refused_without_being_quoted() -> None:
    config, plan = study({"main": HOSTED})
    with pytest.raises(EvaltuiError) as told:
        wiring.providers(config, plan, {"HOSTED_KEY": "sk-zwölf"})
    assert "sk-" not in str(told.value)


def test_a_simulator_runs_in_the_process_unless_it_has_an_address() -> None:
    config, plan = study({"main": {"kind": "simulator"}, "far": {**HOSTED, "kind": "simulator"}}, ("main", "far"))
    providers = wiring.providers(config, plan, {"HOSTED_KEY": "k"})
    assert isinstance(providers["main"], Simulator)
    assert isinstance(providers["far"], OpenAIProvider)
    close(providers)


def test_the_served_simulator_has_the_settings_and_arms_of_its_endpoint() -> None:
    config, plan = study({"main": {"kind": "simulator", "simulator": {"seed": 12}}, "spare": HOSTED}, ("main", "spare"))
    served = wiring.simulator(config, plan)
    assert (served.settings.seed, served.arms) == (12, ("on-main",))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        pytest.param(None, "was asked for one simulator endpoint, and there are a, b: name one of them", id="several"),
        pytest.param("c", "was asked for a simulator endpoint 'c', and there are a, b: name one of them", id="unknown"),
    ],
)
def test_which_simulator_is_meant_must_be_clear(asked: str | None, answer: str) -> None:
    config, plan = study({"a": {"kind": "simulator"}, "b": {"kind": "simulator"}}, ("a", "b"))
    with pytest.raises(EvaltuiError, match=answer):
        wiring.simulator(config, plan, asked)


def test_a_study_without_a_simulator_says_so() -> None:
    config, plan = study({"main": HOSTED})
    with pytest.raises(EvaltuiError, match="it has none"):
        wiring.simulator(config, plan)


def test_the_primary_scorer_comes_first() -> None:
    config, _ = study({"main": {"kind": "simulator"}})
    assert [scorer.name for scorer in wiring.scorers(config)] == ["number", "form"]
