"""What a study will cost, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaltui.core.study import PinValue


@dataclass(frozen=True, slots=True)
class ArmPreview:
    """``url`` is what will be called (no credentials), or the endpoint's kind where there is no URL."""

    name: str
    pins: Mapping[str, PinValue]
    url: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Preview:
    """A checked study file: pins, warnings, requests, tokens, price (None without prices) and hours at most.

    Tokens are estimates (four characters a token in, ``max_tokens`` out at most); ``ten_repeats_cost`` is the price of
    the same study with ten repeats (R9).
    """

    name: str
    n_items: int
    repeats: int
    concurrency: int
    arms: tuple[ArmPreview, ...]
    notices: tuple[str, ...]
    warnings: tuple[str, ...]
    requests: int
    cost: float | None
    ten_repeats_cost: float | None
    max_cost: float | None


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one endpoint showed when it was tried out. ``message`` says what came back, or why nothing did.

    ``token_limit`` and ``omit`` are the settings under which it answered. ``usage``: whether it reports token counts.
    ``same_seed`` and ``other_seed`` say "same answer" or "other answer" to the same question, asked again with the seed
    of the first time or with another; None where that was not asked. Texts are hostile.
    """

    endpoint: str
    url: str
    ok: bool
    message: str
    latency_s: float
    model: str | None = None
    fingerprint: str | None = None
    token_limit: str | None = None
    omit: tuple[str, ...] = ()
    usage: bool | None = None
    same_seed: str | None = None
    other_seed: str | None = None
