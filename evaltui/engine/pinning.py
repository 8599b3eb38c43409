"""The pins of an arm: what was held fixed, flat and JSON-able (P1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from evaltui import __version__
from evaltui.config import EndpointConfig, StudyConfig
from evaltui.core.errors import EvaltuiError
from evaltui.core.pins import digest, identifying
from evaltui.core.simulation import SimulatorSettings
from evaltui.core.study import ArmDesign, PinValue, StudyPlan
from evaltui.datasets import Dataset
from evaltui.outside.commands import Command
from evaltui.outside.functions import source_of
from evaltui.providers.address import chat_url, messages_url

DEFAULT_SIMULATOR: Final = SimulatorSettings()


def pinned_arm(
    config: StudyConfig,
    name: str,
    dataset: Dataset,
    versions: Mapping[str, str],
    commit: str | None,
    probed: Mapping[str, PinValue],
) -> ArmDesign:
    """An arm with its pins and their hash.

    ``versions`` are those of the scorers, by name, and ``probed`` are the pins that its endpoint showed. Repeats,
    prices and time limits are no pins; what is recorded but makes no other configuration
    (:data:`evaltui.core.pins.RECORDED_ONLY`) is not in the hash.
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
        **dict(_endpoint_pins(endpoint)),
        **(dict(_simulator_pins(endpoint.simulator, name)) if endpoint.simulator is not None else {}),
        "order_seed": config.study.order_seed,
        "schedule": config.study.schedule,
        "concurrency": config.study.concurrency,
        "harness": f"evaltui {__version__}",
        "git_commit": commit,
        **({"warmup": config.study.warmup} if config.study.warmup else {}),
        **probed,
        **{f"pins.{pin}": value for pin, value in config.pins.items()},
    }
    return ArmDesign(name, pins, digest(identifying(pins)))


def _endpoint_pins(endpoint: EndpointConfig) -> Iterator[tuple[str, PinValue]]:
    """What of an endpoint can change answers, where it is said: nothing for a plain server."""
    if endpoint.token_limit not in (None, "max_tokens"):
        yield "token_limit", endpoint.token_limit
    if endpoint.omit:
        yield "omit", ", ".join(sorted(endpoint.omit))
    if endpoint.command is not None:
        yield "command", json.dumps(endpoint.command)
        yield "command_mode", "lines" if endpoint.mode == "lines" else endpoint.format or "text"
    if endpoint.function is not None:
        yield "function", endpoint.function
    yield from file_pins(endpoint).items()


def file_pins(endpoint: EndpointConfig) -> dict[str, PinValue]:
    """SHA-256 of the user's own files behind an endpoint: its script, its module, its recording."""
    folder = endpoint.folder or Path()
    if endpoint.command is not None:
        files = Command(tuple(endpoint.command), folder).files
        return {"command_sha256": _sha256_of(files)} if files else {}
    if endpoint.function is not None:
        source = source_of(endpoint.function, folder)
        return {"function_sha256": _sha256_of([source])} if source is not None else {}
    return {"answers_sha256": _sha256_of([endpoint.path])} if endpoint.path is not None else {}


def insist_same_files(config: StudyConfig, plan: StudyPlan) -> None:
    """Refuse to go on with a study when a file behind one of its endpoints is no longer what was pinned.

    Raises:
        EvaltuiError: it names the arm and the endpoint.
    """
    for arm in plan.design.arms:
        endpoint = config.arms[arm.name].endpoint
        for pin, now in file_pins(config.endpoints[endpoint]).items():
            if arm.pins.get(pin) not in (None, now):
                raise EvaltuiError(
                    f"the files behind endpoint {endpoint} have changed since arm {arm.name} was pinned ({pin}): "
                    "put them back, or start another study with --new"
                )


def _sha256_of(paths: Sequence[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        try:
            whole.update(path.read_bytes())
        except OSError as error:
            raise EvaltuiError(f"{path} cannot be read: {error.strerror}") from None
    return whole.hexdigest()


def called_url(endpoint: EndpointConfig) -> str:
    """The URL that is called (it holds no credentials), or the endpoint's kind where there is none."""
    if endpoint.base_url is None:
        return endpoint.kind
    return messages_url(endpoint.base_url) if endpoint.kind == "anthropic" else chat_url(endpoint.base_url)


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
