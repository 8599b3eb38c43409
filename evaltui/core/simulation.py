"""Settings of the simulator: a model whose noise is known, because it is stated here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FaultRates:
    """Probability of each fault, per attempt. What is left answers."""

    timeout: float = 0.0
    rate_limit: float = 0.0
    server_error: float = 0.0
    truncated: float = 0.0
    empty: float = 0.0
    refused: float = 0.0
    unparsable: float = 0.0


@dataclass(frozen=True, slots=True)
class SimulatorSettings:
    """A model with known truth.

    Item i passes with probability p_i ~ Beta(``pass_alpha``, ``pass_beta``), moved on the logit scale by its category
    (``categories``), by its run and by drift, and on the probability scale by its arm (``effects``, 0.02 = 2 points).
    ``run_shift`` is the sd of a normal logit shift drawn for each run of each arm, ``shared_shift`` of one drawn for
    each repeat and shared by the arms. ``weather`` adds a stated logit shift to one run, ``run_faults`` other fault
    rates for one run; both are keyed ``arm#repeat``. ``drift`` is the logit shift reached at the last planned position
    of the last repeat. Latencies are log-normal (median ``latency_s``, log sd ``latency_sigma``) with correlation
    ``latency_difficulty`` between log latency and difficulty; all sleeping is divided by ``speed``, nothing else is.
    ``judge_noise`` is the probability that a verdict about an unchanged answer flips.
    """

    seed: int = 1
    pass_alpha: float = 4.0
    pass_beta: float = 1.2
    categories: Mapping[str, float] = field(default_factory=dict)
    effects: Mapping[str, float] = field(default_factory=dict)
    run_shift: float = 0.0
    shared_shift: float = 0.0
    weather: Mapping[str, float] = field(default_factory=dict)
    drift: float = 0.0
    judge_noise: float = 0.0
    faults: FaultRates = FaultRates()
    run_faults: Mapping[str, FaultRates] = field(default_factory=dict)
    retry_after_s: float = 0.5
    latency_s: float = 0.3
    latency_sigma: float = 0.4
    latency_difficulty: float = 0.5
    speed: float = 1.0
