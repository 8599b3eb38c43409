"""The pins of an arm: what was held fixed, flat and JSON-able (P1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Final

from evaltui import __version__
from evaltui.config import EndpointConfig, StudyConfig
from evaltui.core.pins import digest, identifying
from evaltui.core.simulation import SimulatorSettings
from evaltui.core.study import ArmDesign, PinValue
from evaltui.datasets import Dataset
from evaltui.providers.address import chat_url

DEFAULT_SIMULATOR: Final = SimulatorSettings()


def pinned_arm(
    config: StudyConfig, name: str, dataset: Dataset, versions: Mapping[str, str], commit: str | None
) -> ArmDesign:
    """An arm with its pins and their hash.

    ``versions`` are those of the scorers, by name. Repeats, prices and time limits are no pins; what is recorded but
    makes no other configuration (:data:`evaltui.core.pins.RECORDED_ONLY`) is not in the hash.
    """
    arm = config.arms[name]
    endpoint = config.endpoints[arm.endpoint]
    pins: dict[str, PinValue] = {
        "dataset_sha256": dataset.content_sha256,
        "dataset_bytes_sha256": dataset.bytes_sha256 or None,
        "items": len(dataset.items),
        "model": arm.model,
        "temperature": arm.temperature,
        "top_p": arm.top_p,
        "max_tokens": arm.max_tokens,
        "seed": arm.seed,
        "extra_body": json.dumps(arm.extra_body, sort_keys=True) if arm.extra_body else None,
        "prompt_sha256": _sha256(arm.prompt_text),
        "system_sha256": _sha256(arm.system_text) if arm.system_text is not None else None,
        "scorer": config.primary,
        **{f"scorer.{scorer}": version for scorer, version in versions.items()},
        "endpoint_kind": endpoint.kind,
        "endpoint_url": called_url(endpoint),
        **(dict(_simulator_pins(endpoint.simulator, name)) if endpoint.simulator is not None else {}),
        "order_seed": config.study.order_seed,
        "schedule": config.study.schedule,
        "concurrency": config.study.concurrency,
        "harness": f"evaltui {__version__}",
        "git_commit": commit,
        **{f"pins.{pin}": value for pin, value in config.pins.items()},
    }
    return ArmDesign(name, pins, digest(identifying(pins)))


def called_url(endpoint: EndpointConfig) -> str:
    """The URL that is called (it holds no credentials), or the endpoint's kind where there is none."""
    return endpoint.kind if endpoint.base_url is None else chat_url(endpoint.base_url)


def _simulator_pins(settings: SimulatorSettings, arm: str) -> Iterator[tuple[str, PinValue]]:
    """The settings that differ from their defaults and matter to this arm; speed changes no outcome and is left out."""
    for name, value in asdict(settings).items():
        if name == "speed" or value == getattr(DEFAULT_SIMULATOR, name):
            continue
        if name == "effects":
            if value.get(arm):
                yield "simulator.effect", value[arm]
        elif isinstance(value, dict):
            by_run = name in ("weather", "run_faults")
            mine = {run: inner for run, inner in value.items() if run.partition("#")[0] == arm} if by_run else value
            if mine:
                yield f"simulator.{name}", json.dumps(_without_zeros(mine), sort_keys=True)
        else:
            yield f"simulator.{name}", value


def _without_zeros(table: Mapping[str, object]) -> dict[str, object]:
    """Rates and shifts of zero say nothing. A run's own table stays when it is empty: it replaces the common one."""
    return {
        name: _without_zeros(value) if isinstance(value, dict) else value for name, value in table.items() if value != 0
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
