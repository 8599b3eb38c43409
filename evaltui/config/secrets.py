"""Keys do not belong in a study file; they are recognised so that they can be refused, and never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from evaltui.core.errors import Fault

USE_ENVIRONMENT: Final = "keys are never written in a file: put it in the environment and name it with api_key_env"
SECRET_NAME: Final = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|apikey|access[_-]?key|key|token|secret|password|passwd|credentials?|signature|cookie)$"
    r"|^(?:proxy-)?authori[sz]ation$|^bearer$",
    re.IGNORECASE,
)
KEY: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)-[A-Za-z0-9_-]{8,}|(?:gh[opsur]|hf|gsk|xai|nvapi)[_-][A-Za-z0-9_-]{16,}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|Bearer\s+[A-Za-z0-9._~+/-]{8,})"
)
RANDOM: Final = re.compile(r"(?=.*[a-z])(?=.*\d)[A-Za-z0-9]{24,}")


def is_secret_name(name: str) -> bool:
    """Whether a key, header or query parameter of this name usually holds a secret."""
    return SECRET_NAME.search(name) is not None


def looks_like_key(value: str) -> bool:
    """Whether a value has the shape of an API key: a known prefix, or a long run of letters and digits."""
    return KEY.search(value) is not None or RANDOM.fullmatch(value) is not None


def take_secrets(data: Mapping[str, object]) -> tuple[dict[str, object], list[Fault]]:
    """The data of a study file without the keys in it, and a fault for each place that held one.

    The value is never part of the fault, and what follows cannot show it any more.
    """
    faults: list[Fault] = []
    kept = _without_keys(data, (), faults)
    assert isinstance(kept, dict)
    return kept, faults


def _without_keys(value: object, path: tuple[str, ...], faults: list[Fault]) -> object:
    if isinstance(value, Mapping):
        kept = {}
        for name, inner in value.items():
            here = (*path, str(name))
            if isinstance(inner, str) and _holds_key(here, inner):
                faults.append(Fault(".".join(here), f"a key stands in the file; {USE_ENVIRONMENT}"))
            else:
                kept[name] = _without_keys(inner, here, faults)
        return kept
    if isinstance(value, list):
        return [_without_keys(inner, path, faults) for inner in value]
    return value


def _holds_key(path: tuple[str, ...], value: str) -> bool:
    named = is_secret_name(path[-1]) and not {"simulator", "schema"} & set(path)
    in_header = "headers" in path and looks_like_key(value)
    return named or in_header or KEY.search(value) is not None
