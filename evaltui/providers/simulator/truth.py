"""What is true of a simulated model: the probability that each cell passes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, logit

from evaltui.core.records import Item
from evaltui.core.simulation import SimulatorSettings
from evaltui.providers.simulator.chance import Chance, normal_of


class Truth:
    """Pass probabilities of a study's cells, and the difficulty of its items.

    An item's own probability depends on the seed and its id alone, not on the other items. Drift follows the planned
    position: repeat r, position p of n items and k repeats stand at ((r - 1) n + p) / (k n - 1) of it.
    """

    def __init__(self, settings: SimulatorSettings, items: Sequence[Item], repeats: int) -> None:
        self._settings = settings
        self._chance = Chance(settings.seed)
        self._repeats = repeats
        self._index = {item.id: place for place, item in enumerate(items)}
        self._positions = np.array(
            [planned_position(item, place) for place, item in enumerate(items)], dtype=np.float64
        )
        ease = np.array([self._chance.uniform("ease", item.id) for item in items], dtype=np.float64)
        shifts = np.array([settings.categories.get(item.category or "", 0.0) for item in items], dtype=np.float64)
        self._logits = logit(betaincinv(settings.pass_alpha, settings.pass_beta, ease)) + shifts
        self._difficulty = [-normal_of(float(value)) for value in ease]
        self._runs: dict[tuple[str, int], NDArray[np.float64]] = {}

    def probability(self, arm: str, repeat: int, item_id: str) -> float:
        """That the cell is scored as a pass, given that it answers. Raises KeyError for an unknown item."""
        return float(self.run(arm, repeat)[self._index[item_id]])

    def arm_mean(self, arm: str) -> float:
        """The mean of :meth:`probability` over items and planned repeats: what the arm's score estimates."""
        return math.fsum(float(self.run(arm, repeat).mean()) for repeat in self._planned()) / self._repeats

    def difficulty(self, item_id: str) -> float:
        """Standard normal over items; high is hard. Raises KeyError for an unknown item."""
        return self._difficulty[self._index[item_id]]

    def run(self, arm: str, repeat: int) -> NDArray[np.float64]:
        """The probabilities of one run, shape (n items,), in the order in which the items were given."""
        key = (arm, repeat)
        if key not in self._runs:
            n, settings = len(self._index), self._settings
            progress = ((repeat - 1) * n + self._positions) / max(n * self._repeats - 1, 1)
            moved = expit(self._logits + self._run_shift(arm, repeat) + settings.drift * progress)
            passed = np.clip(moved + settings.effects.get(arm, 0.0), 0.0, 1.0)
            noise = settings.judge_noise
            self._runs[key] = passed * (1 - noise) + (1 - passed) * noise
        return self._runs[key]

    def _planned(self) -> range:
        return range(1, self._repeats + 1)

    def _run_shift(self, arm: str, repeat: int) -> float:
        """The logit shift of a whole run: its own, its repeat's, and its stated weather."""
        own = self._settings.run_shift * self._chance.normal("run", arm, repeat)
        shared = self._settings.shared_shift * self._chance.normal("repeat", repeat)
        return own + shared + self._settings.weather.get(f"{arm}#{repeat}", 0.0)


def planned_position(item: Item, place: int) -> int:
    """The item's place in the random order; before one is drawn, its place in the sequence."""
    return item.position if item.position >= 0 else place
