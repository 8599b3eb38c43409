"""A model with known truth: in process, or as an HTTP server on loopback (``simulator.server``)."""

from evaltui.core.simulation import FaultRates, SimulatorSettings
from evaltui.providers.simulator.provider import Simulator

__all__ = ["FaultRates", "Simulator", "SimulatorSettings"]
