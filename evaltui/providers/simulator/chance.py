"""Chance without a generator: a number that depends on what it is for, and never on what was asked before."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
_SCALE: Final = 2.0**-53


class Chance:
    """Uniforms and normals keyed by a seed and by names (BLAKE2b, so the same on every platform and version)."""

    def __init__(self, seed: int) -> None:
        self._key = hashlib.blake2b(str(seed).encode(), digest_size=32).digest()

    def uniforms(self, purpose: str, *names: str | int) -> tuple[float, ...]:
        """Eight independent uniforms strictly between 0 and 1."""
        told = "\0".join((purpose, *(str(name).replace("\0", "\0\0") for name in names)))
        digest = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), key=self._key).digest()
        return tuple(((word >> 11) + 0.5) * _SCALE for word in struct.unpack("<8Q", digest))

    def uniform(self, purpose: str, *names: str | int) -> float:
        return self.uniforms(purpose, *names)[0]

    def normal(self, purpose: str, *names: str | int) -> float:
        return normal_of(self.uniform(purpose, *names))


def normal_of(uniform: float) -> float:
    """The standard normal quantile of a uniform."""
    return _NORMAL.inv_cdf(uniform)


def pick(uniform: float, weights: Sequence[float]) -> int | None:
    """The index that ``uniform`` falls on when the weights are laid end to end from 0; None beyond the last."""
    reached = 0.0
    for index, weight in enumerate(weights):
        reached += weight
        if uniform < reached:
            return index
    return None
