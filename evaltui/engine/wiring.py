"""From a study's configuration to the endpoints and scorers that run it."""

from __future__ import annotations

from collections.abc import Mapping

from evaltui import scorers as scoring
from evaltui.config import EndpointConfig, StudyConfig
from evaltui.core.errors import EvaltuiError, Fault, InputError
from evaltui.core.protocols import Provider, Scorer
from evaltui.core.simulation import SimulatorSettings
from evaltui.core.study import StudyPlan
from evaltui.providers.simulator import Simulator


def providers(config: StudyConfig, plan: StudyPlan, environ: Mapping[str, str]) -> dict[str, Provider]:
    """A provider for each endpoint that an arm uses, by name; the caller closes them.

    Keys are read from ``environ`` under the names that the study file gives.

    Raises:
        InputError: every environment variable that is named and not set; no value is ever quoted.
        EvaltuiError: a URL, key or header cannot be used.
    """
    used = {name: config.endpoints[name] for name in dict.fromkeys(arm.endpoint for arm in config.arms.values())}
    missing = [
        Fault(f"endpoints.{name}.api_key_env", f"the environment variable {variable} is not set; set it to the key")
        for name, endpoint in used.items()
        if (variable := endpoint.api_key_env) is not None and not environ.get(variable, "").strip()
    ]
    if missing:
        raise InputError(plan.config_path or plan.design.name, missing)
    return {
        name: simulator(config, plan, name) if endpoint.base_url is None else _over_http(endpoint, environ)
        for name, endpoint in used.items()
    }


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


def _over_http(endpoint: EndpointConfig, environ: Mapping[str, str]) -> Provider:
    # Here and not at the top: the HTTP client takes 0.2 s to import, and the demo needs none.
    from evaltui.providers.openai import OpenAIProvider

    assert endpoint.base_url is not None
    key = environ[endpoint.api_key_env].strip() if endpoint.api_key_env is not None else None
    return OpenAIProvider(endpoint.base_url, key, endpoint.headers, cell_header=endpoint.kind == "simulator")
