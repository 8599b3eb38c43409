"""Checks between tables: names that must exist elsewhere in the file, and the one primary scorer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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
