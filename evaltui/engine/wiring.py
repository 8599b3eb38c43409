"""From a study's configuration to the endpoints and scorers that run it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evaltui import scorers as scoring
from evaltui.config import EndpointConfig, StudyConfig
from evaltui.config.secrets import is_secret_name
from evaltui.core.errors import EvaltuiError, Fault, InputError
from evaltui.core.protocols import Provider, Scorer
from evaltui.core.simulation import SimulatorSettings
from evaltui.core.study import StudyPlan
from evaltui.engine.pinning import insist_same_files
from evaltui.providers.simulator import Simulator


def providers(config: StudyConfig, plan: StudyPlan, environ: Mapping[str, str]) -> dict[str, Provider]:
    """A provider for each endpoint that an arm uses, by name; the caller closes them.

    Keys are read from ``environ`` under the names that the study file gives.

    Raises:
        InputError: every environment variable that is named and not set; no value is ever quoted.
        EvaltuiError: a URL, key, header, function or recording cannot be used, or is not the one that was pinned.
    """
    insist_keys(config, plan, environ)
    insist_same_files(config, plan)
    return {name: provider(config, plan, name, environ) for name in _used(config)}


def _used(config: StudyConfig) -> dict[str, EndpointConfig]:
    return {name: config.endpoints[name] for name in dict.fromkeys(arm.endpoint for arm in config.arms.values())}


def insist_keys(config: StudyConfig, plan: StudyPlan, environ: Mapping[str, str]) -> None:
    """Refuse to start without the keys that the study file names.

    Raises:
        InputError: every environment variable that is named and not set; no value is ever quoted.
    """
    missing = [
        Fault(f"endpoints.{name}.api_key_env", f"the environment variable {variable} is not set; set it to the key")
        for name, endpoint in _used(config).items()
        if (variable := endpoint.api_key_env) is not None and not environ.get(variable, "").strip()
    ]
    if missing:
        raise InputError(plan.config_path or plan.design.name, missing)


def provider(config: StudyConfig, plan: StudyPlan, name: str, environ: Mapping[str, str]) -> Provider:
    """The provider of one endpoint, whose key is set.

    Raises:
        EvaltuiError: see :func:`providers`.
    """
    endpoint = config.endpoints[name]
    if endpoint.kind == "simulator" and endpoint.base_url is None:
        return simulator(config, plan, name)
    if endpoint.kind in ("openai", "anthropic", "simulator"):
        return _over_http(name, endpoint, environ)
    return _local(name, endpoint, environ)


def simulator(config: StudyConfig, plan: StudyPlan, endpoint: str | None = None) -> Simulator:
    """The simulated model behind an endpoint of kind ``simulator``; the only one where ``endpoint`` is None.

    Raises:
        EvaltuiError: the study has no such endpoint, or several and none was named.
    """
    simulated = [name for name, settings in config.endpoints.items() if settings.kind == "simulator"]
    if endpoint is None and len(simulated) == 1:
        endpoint = simulated[0]
    if endpoint not in simulated:
        known = f"there are {', '.join(simulated)}: name one of them" if simulated else "it has none"
        asked = "one simulator endpoint" if endpoint is None else f"a simulator endpoint {endpoint!r}"
        raise EvaltuiError(f"study {plan.design.name} was asked for {asked}, and {known}")
    settings = config.endpoints[endpoint]
    arms = [name for name, arm in config.arms.items() if arm.endpoint == endpoint]
    return Simulator(
        settings.simulator or SimulatorSettings(), plan.items, arms, plan.design.repeats, settings.timeout_s
    )


def scorers(config: StudyConfig) -> tuple[Scorer, ...]:
    """The study's scorers, the primary one first.

    Raises:
        InputError: a scorer refuses its options.
    """
    names = sorted(config.scorers, key=lambda name: name != config.primary)
    return tuple(scoring.build(name, config.scorers[name].kind, config.scorers[name].options()) for name in names)


def _over_http(name: str, endpoint: EndpointConfig, environ: Mapping[str, str]) -> Provider:
    # Here and not at the top: the HTTP client takes 0.2 s to import, and the demo needs none.
    from evaltui.providers.anthropic import AnthropicProvider
    from evaltui.providers.http import Connection
    from evaltui.providers.openai import Dialect, OpenAIProvider

    assert endpoint.base_url is not None
    key = environ[endpoint.api_key_env].strip() if endpoint.api_key_env is not None else None
    connection = Connection(key, endpoint.headers, endpoint.key_header, endpoint.ca_bundle, endpoint.trust_env)
    omit = frozenset[str](endpoint.omit)
    try:
        if endpoint.kind == "anthropic":
            return AnthropicProvider(endpoint.base_url, connection, omit)
        dialect = Dialect(endpoint.token_limit or "max_tokens", omit)
        return OpenAIProvider(endpoint.base_url, connection, dialect, cell_header=endpoint.kind == "simulator")
    except EvaltuiError as error:
        raise EvaltuiError(f"endpoint {name}: {error}") from None


def _local(name: str, endpoint: EndpointConfig, environ: Mapping[str, str]) -> Provider:
    """A command, a function or a recording: what needs no server."""
    from evaltui.outside.commands import Command
    from evaltui.providers.command import CommandProvider, LineProvider
    from evaltui.providers.function import FunctionProvider
    from evaltui.providers.replay import ReplayProvider

    folder = endpoint.folder or Path()
    secrets = [value for variable, value in environ.items() if is_secret_name(variable)]
    if endpoint.kind == "replay":
        assert endpoint.path is not None
        return ReplayProvider(endpoint.path)
    if endpoint.kind == "python":
        assert endpoint.function is not None
        try:
            return FunctionProvider(endpoint.function, folder, secrets)
        except EvaltuiError as error:
            raise EvaltuiError(f"endpoint {name}: {error}") from None
    assert endpoint.command is not None
    command = Command(tuple(endpoint.command), folder)
    if endpoint.mode == "lines":
        return LineProvider(command, secrets)
    return CommandProvider(command, as_json=endpoint.format == "json", secrets=secrets)
