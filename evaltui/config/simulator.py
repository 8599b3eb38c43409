"""The simulator's table, with the range of each setting."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from evaltui.config.tables import Table
from evaltui.core.simulation import FaultRates, SimulatorSettings

Probability = Annotated[float, Field(ge=0, le=1)]


class FaultTable(Table):
    """Probability of each fault, per attempt."""

    timeout: Probability = 0.0
    rate_limit: Probability = 0.0
    server_error: Probability = 0.0
    truncated: Probability = 0.0
    empty: Probability = 0.0
    refused: Probability = 0.0
    unparsable: Probability = 0.0

    @model_validator(mode="after")
    def _leave_room(self) -> Self:
        total = sum(self.model_dump().values())
        if total > 1:
            raise ValueError(f"the probabilities add up to {total:g}, more than 1")
        return self

    def rates(self) -> FaultRates:
        return FaultRates(**self.model_dump())


class SimulatorTable(Table):
    """See :class:`evaltui.core.simulation.SimulatorSettings` for what each key does."""

    seed: int = 1
    pass_alpha: float = Field(4.0, gt=0)
    pass_beta: float = Field(1.2, gt=0)
    categories: dict[str, float] = Field(default_factory=dict)
    effects: dict[str, Annotated[float, Field(ge=-1, le=1)]] = Field(default_factory=dict)
    run_shift: float = Field(0.0, ge=0)
    shared_shift: float = Field(0.0, ge=0)
    weather: dict[str, float] = Field(default_factory=dict)
    drift: float = 0.0
    judge_noise: Probability = 0.0
    faults: FaultTable = FaultTable()
    run_faults: dict[str, FaultTable] = Field(default_factory=dict)
    retry_after_s: float = Field(0.5, ge=0)
    latency_s: float = Field(0.3, ge=0)
    latency_sigma: float = Field(0.4, ge=0)
    latency_difficulty: float = Field(0.5, ge=-1, le=1)
    speed: float = Field(1.0, gt=0)

    def settings(self) -> SimulatorSettings:
        plain = {name: getattr(self, name) for name in type(self).model_fields if "faults" not in name}
        run_faults = {run: table.rates() for run, table in self.run_faults.items()}
        return SimulatorSettings(**plain, faults=self.faults.rates(), run_faults=run_faults)
