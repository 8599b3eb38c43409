"""Canonical JSON and the hashes made of it: the same content has the same hash, wherever it was read from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Final

RECORDED_ONLY: Final = frozenset({"concurrency", "dataset_bytes_sha256", "endpoint_url", "git_commit", "harness"})
"""Pins that are kept and shown but do not make another configuration: they are in no pin hash."""

PROBED: Final = "probe."
"""How the pins begin that an endpoint showed when it was tried out. They are recorded only, too."""


def canonical(value: object) -> bytes:
    """JSON with sorted keys and no blanks. Lone surrogates are kept, so that distinct texts stay distinct."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=True)
    return text.encode("utf-8", "surrogatepass")


def digest(value: object) -> str:
    """SHA-256 (hex) of the canonical JSON of ``value``."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_hash(data: bytes) -> bytes:
    """16 bytes of BLAKE2b: the key under which a text or an item is stored once."""
    return hashlib.blake2b(data, digest_size=16).digest()


def content_hash(hashes: Iterable[bytes]) -> str:
    """SHA-256 (hex) of a set of item hashes: independent of order and of file format."""
    whole = hashlib.sha256()
    for item in sorted(hashes):
        whole.update(item)
    return whole.hexdigest()


def differing(a: Mapping[str, object], b: Mapping[str, object]) -> list[tuple[str, object, object]]:
    """Every pin whose value differs, as (name, value in ``a``, value in ``b``), sorted by name."""
    names = sorted(set(a) | set(b))
    return [(name, a.get(name), b.get(name)) for name in names if a.get(name) != b.get(name)]


def identifying(pins: Mapping[str, object]) -> dict[str, object]:
    """The pins that make a configuration what it is; a pin hash is the :func:`digest` of these."""
    return {name: value for name, value in pins.items() if name not in RECORDED_ONLY and not name.startswith(PROBED)}


def study_pin_hash(arms: Mapping[str, str]) -> str:
    """The pin hash of a study from those of its arms, by name: the order of the arms makes no other study."""
    return digest(dict(arms))
