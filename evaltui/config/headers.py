"""Values of headers are never stored with a study: a session takes them from the study file again."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaltui.config.endpoints import NOT_STORED
from evaltui.config.faults import key_path
from evaltui.config.files import UnreadableError, read_text
from evaltui.config.study import StudyConfig
from evaltui.core.errors import Fault, InputError


def with_headers(config: StudyConfig, path: str | None) -> StudyConfig:
    """A stored study with the values of its headers, as its study file has them now.

    Raises:
        InputError: every header that the file does not hold any more; no value is ever quoted.
    """
    if not any(NOT_STORED in endpoint.headers.values() for endpoint in config.endpoints.values()):
        return config
    written = _written(Path(path)) if path is not None else {}
    faults: list[Fault] = []
    endpoints = {}
    for name, endpoint in config.endpoints.items():
        headers = dict(endpoint.headers)
        for header, value in endpoint.headers.items():
            found = written.get(name, {}).get(header)
            if value == NOT_STORED and isinstance(found, str):
                headers[header] = found
            elif value == NOT_STORED:
                where = key_path("endpoints", name, "headers", header)
                faults.append(Fault(where, "values of headers are not stored with a study; put it into this file"))
        endpoints[name] = endpoint.model_copy(update={"headers": headers})
    if faults:
        raise InputError(path or config.study.name, faults)
    return config.model_copy(update={"endpoints": endpoints})


def _written(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The headers of each endpoint in a study file; none where it cannot be read."""
    try:
        endpoints = tomllib.loads(read_text(path)).get("endpoints", {})
        return {name: dict(table.get("headers", {})) for name, table in endpoints.items()}
    except (UnreadableError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
