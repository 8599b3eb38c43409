"""The study file as a typed value, everything resolved: inheritance, prompts, the baseline, the primary scorer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SerializeAsAny

from evaltui.config.arms import ArmConfig, json_only
from evaltui.config.endpoints import NOT_STORED, EndpointConfig
from evaltui.config.scorers import ScorerConfig
from evaltui.config.tables import StudyName, Table
from evaltui.core.status import Status
from evaltui.core.study import MissingPolicy

Treatment = Literal["exclude", "fail"]


def _statuses(missing: Mapping[str, Treatment]) -> Mapping[str, Treatment]:
    known = [status.value for status in Status if status is not Status.OK]
    for name in missing:
        if name != "default" and name not in known:
            raise ValueError(f"{name!r} is not a status; use default or one of {', '.join(known)}")
    return missing


class StudySection(Table):
    """``[study]``. ``baseline`` is filled in when the file leaves it out.

    ``warmup`` runs of each arm come before the first repeat; they are recorded and are in no number.
    """

    name: StudyName
    baseline: str
    repeats: int = Field(10, ge=1, le=1000)
    warmup: int = Field(0, ge=0, le=100)
    order_seed: int = 0
    schedule: Literal["interleaved", "sequential"] = "interleaved"
    concurrency: int = Field(8, ge=1, le=4096)
    max_cost: float | None = Field(None, gt=0)
    max_errors: float = Field(0.2, gt=0, le=1)
    missing: Annotated[dict[str, Treatment], AfterValidator(_statuses)] = Field(default_factory=dict)
    missing_limit: float = Field(0.02, ge=0, le=1)
    disclosure: str = ""

    def missing_policy(self) -> MissingPolicy:
        by_status = {Status(name): treatment for name, treatment in self.missing.items() if name != "default"}
        return MissingPolicy(self.missing.get("default", "exclude"), by_status, self.missing_limit)


def _encoding(name: str) -> str:
    try:
        " ".encode(name)
    except (LookupError, UnicodeError):
        raise ValueError(
            f"{name!r} is no text encoding; known ones are utf-8, utf-16, cp1252, latin-1 and more"
        ) from None
    return name


def _delimiter(delimiter: str) -> str:
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in '"\r\n':
        raise ValueError(f"{delimiter!r} is no delimiter; it is one character, such as ';' or '\\t'")
    return delimiter


class DatasetConfig(Table):
    """``[dataset]``. The mapped names are fields of the items; see :func:`evaltui.datasets.read`."""

    path: Path
    id: str = "id"
    category: str | None = None
    cluster: str | None = None
    gold: str | None = None
    encoding: Annotated[str, AfterValidator(_encoding)] | None = None
    delimiter: Annotated[str, AfterValidator(_delimiter)] | None = None


def _pin_values(pins: Mapping[str, object]) -> Mapping[str, object]:
    odd = [name for name, value in pins.items() if not isinstance(value, (str, int, float))]
    if odd:
        raise ValueError(f"a pin is a text, a number, true or false; not so: {', '.join(odd)}")
    return json_only(pins)


class FreeForm(Table):
    """What evaltui keeps without knowing what it means: ``[pins]``, and ``[gate]`` as it stands."""

    pins: Annotated[dict[str, Any], AfterValidator(_pin_values)] = Field(default_factory=dict)
    gate: Annotated[dict[str, Any], AfterValidator(json_only)] | None = None


class StudyConfig(FreeForm):
    """A whole study file that passed every check."""

    study: StudySection
    dataset: DatasetConfig
    endpoints: dict[str, EndpointConfig]
    arms: dict[str, ArmConfig]
    scorers: dict[str, SerializeAsAny[ScorerConfig]]

    @property
    def primary(self) -> str:
        """The name of the scorer that is compared."""
        return next(name for name, scorer in self.scorers.items() if scorer.primary)


def dump(config: StudyConfig) -> dict[str, Any]:
    """The study as JSON-able data with its prompts in it; :func:`evaltui.config.from_mapping` reads it back.

    It holds names of environment variables, never keys; of headers it holds the names alone
    (:func:`evaltui.config.headers.with_headers` puts their values back).
    """
    data = config.model_dump(mode="json", by_alias=True)
    for endpoint in data["endpoints"].values():
        endpoint["headers"] = dict.fromkeys(endpoint["headers"], NOT_STORED)
    return data
