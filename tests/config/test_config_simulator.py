"""The simulator's table has the settings of the simulator and their defaults."""

from __future__ import annotations

from evaltui.config.simulator import SimulatorTable
from evaltui.core.simulation import SimulatorSettings


def test_an_empty_table_is_the_default_simulator() -> None:
    assert SimulatorTable().settings() == SimulatorSettings()


def test_every_setting_has_a_key() -> None:
    assert set(SimulatorTable.model_fields) == set(SimulatorSettings.__slots__)
