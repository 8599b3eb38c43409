"""Checks between tables: names that must exist elsewhere in the file, and the one primary scorer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from evaltui.config.arms import ArmConfig
from evaltui.config.endpoints import EndpointConfig
from evaltui.config.faults import key_path, nearest, shown
from evaltui.core.errors import Fault


def absent(what: str, name: str, known: Iterable[str]) -> str:
    """The sentence about a name that nothing in the file has."""
    known = list(known)
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else f"there is {', '.join(known)}"
    return f"there is no {what} {shown(name)}; {hint}"


def primary_faults(scorers: Mapping[str, Mapping[str, object]]) -> list[Fault]:
    """Of several scorers exactly one is compared, and the file says which."""
    primary = [name for name, table in scorers.items() if table.get("primary") is True]
    if len(scorers) < 2 or len(primary) == 1:
        return []
    if not primary:
        return [Fault("scorers", f"none of {', '.join(scorers)} is primary; say primary = true in the one to compare")]
    return [Fault("scorers", f"only one scorer can be primary, and {', '.join(primary)} all say so")]


def simulator_faults(endpoints: Mapping[str, EndpointConfig | None], arms: Iterable[str]) -> list[Fault]:
    """Settings keyed by arm (``candidate``) or run (``candidate#3``) name arms of this study."""
    arms = list(arms)
    faults = []
    for endpoint, config in endpoints.items():
        settings = config.simulator if config is not None else None
        if settings is None or not arms:
            continue
        where = ("endpoints", endpoint, "simulator")
        faults += [
            Fault(key_path(*where, "effects", name), absent("arm", name, arms))
            for name in settings.effects
            if name not in arms
        ]
        for key, runs in (("weather", settings.weather), ("run_faults", settings.run_faults)):
            for run in runs:
                arm, _, repeat = run.partition("#")
                if not re.fullmatch(r"[1-9]\d*", repeat):
                    message = f"{shown(run)} is not a run; a run is written ARM#REPEAT, such as {arms[0]}#2"
                    faults.append(Fault(key_path(*where, key, run), message))
                elif arm not in arms:
                    faults.append(Fault(key_path(*where, key, run), absent("arm", arm, arms)))
    return faults


def arm_faults(endpoints: Mapping[str, EndpointConfig | None], arms: Mapping[str, ArmConfig | None]) -> list[Fault]:
    """Settings of an arm that its kind of endpoint needs, or has no parameter for."""
    faults = []
    for name, arm in arms.items():
        endpoint = endpoints.get(arm.endpoint) if arm is not None else None
        if arm is None or endpoint is None:
            continue
        if endpoint.kind == "anthropic":
            if arm.max_tokens is None:
                faults.append(
                    Fault(key_path("arms", name, "max_tokens"), "an anthropic endpoint needs it; set a limit")
                )
            if arm.seed != "none":
                faults.append(Fault(key_path("arms", name, "seed"), 'an anthropic endpoint takes no seed; say "none"'))
            if arm.temperature is not None and arm.temperature > 1:
                faults.append(
                    Fault(key_path("arms", name, "temperature"), "an anthropic endpoint takes temperatures from 0 to 1")
                )
        faults += [
            Fault(
                key_path("arms", name, setting),
                f"endpoint {arm.endpoint} omits {setting}, so it would say what is not so; take it out of the arm, or "
                f"out of omit",
            )
            for setting in endpoint.omit
            if getattr(arm, setting) not in (None, "none")
        ]
    return faults
