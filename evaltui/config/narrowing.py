"""The same study with fewer arms, another number of repeats or other limits, as chosen when it is launched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaltui.config.crosscheck import absent
from evaltui.config.endpoints import EndpointConfig
from evaltui.config.faults import checked, key_path
from evaltui.config.study import StudyConfig, StudySection
from evaltui.core.errors import Fault, InputError


def narrowed(
    config: StudyConfig,
    *,
    repeats: int | None = None,
    arms: Sequence[str] | None = None,
    max_cost: float | None = None,
    max_errors: float | None = None,
    concurrency: int | None = None,
) -> StudyConfig:
    """The study with only the named arms, in the file's order, and these settings of [study]; None leaves one as it is.

    Without its baseline arm the first remaining one is the baseline.

    Raises:
        InputError: an arm that is not there, no arm at all, or a setting that cannot be.
    """
    faults = [Fault("arms", absent("arm", name, config.arms)) for name in arms or () if name not in config.arms]
    if arms is not None and not arms:
        faults.append(Fault("arms", "no arm is chosen; choose at least one"))
    kept = {name: arm for name, arm in config.arms.items() if arms is None or name in arms}
    given = {"repeats": repeats, "max_cost": max_cost, "max_errors": max_errors, "concurrency": concurrency}
    changes: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    if kept:
        changes["baseline"] = config.study.baseline if config.study.baseline in kept else next(iter(kept))
    raw = config.study.model_dump() | changes
    study = checked(StudySection, raw, lambda *parts: key_path(*parts), faults)
    if faults or study is None:
        raise InputError(config.study.name, faults)
    endpoints = {name: _without_arms(endpoint, set(kept)) for name, endpoint in config.endpoints.items()}
    return config.model_copy(update={"study": study, "arms": kept, "endpoints": endpoints})


def _without_arms(endpoint: EndpointConfig, kept: set[str]) -> EndpointConfig:
    """A simulator without the settings of arms that are gone."""
    settings = endpoint.simulator
    if settings is None:
        return endpoint
    kept_settings = replace(
        settings,
        effects={arm: effect for arm, effect in settings.effects.items() if arm in kept},
        weather={run: shift for run, shift in settings.weather.items() if run.partition("#")[0] in kept},
        run_faults={run: rates for run, rates in settings.run_faults.items() if run.partition("#")[0] in kept},
    )
    return endpoint.model_copy(update={"simulator": kept_settings})
