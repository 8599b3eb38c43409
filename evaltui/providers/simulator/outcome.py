"""The outcome of one simulated call, as the HTTP answer that a real server would have given."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaltui.core.records import Item, Message
from evaltui.core.simulation import FaultRates, SimulatorSettings
from evaltui.providers.cell_header import CellName
from evaltui.providers.classify import Reply
from evaltui.providers.simulator.answers import TRUNCATED, UNPARSABLE, Repertoire, repertoire
from evaltui.providers.simulator.chance import Chance, normal_of, pick
from evaltui.providers.simulator.truth import Truth

_TRANSIENT: Final = ("timeout", "rate_limit", "server_error")
_LASTING: Final = ("truncated", "empty", "refused", "unparsable")
_JSON: Final[Mapping[str, str]] = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """``reply`` comes after ``delay_s`` seconds (already divided by the speed); None: it never comes."""

    reply: Reply | None
    delay_s: float


class Responder:
    """Outcomes that depend on the settings, the cell and the attempt alone, never on the order of the calls.

    The answer, and whether it is truncated, empty, refused or unparsable, is the cell's: any attempt that gets through
    brings the same. Timeouts, rate limits and server errors are drawn for each attempt anew. A call whose latency
    would reach ``timeout_s`` is a timeout.
    """

    def __init__(
        self, settings: SimulatorSettings, items: Sequence[Item], truth: Truth, timeout_s: float, arms: Sequence[str]
    ) -> None:
        self._settings, self._truth, self._timeout_s = settings, truth, timeout_s
        self._chance = Chance(settings.seed)
        self._items = {item.id: item for item in items}
        self._arms = frozenset(arms)
        self._golds = sorted({item.gold.strip() for item in items if item.gold})
        self._said: dict[str, Repertoire] = {}

    def outcome(self, name: CellName, model: str, messages: Sequence[Message]) -> Outcome:
        """What the server does with this call; a cell that is not of the study is refused with status 400."""
        if name.arm not in self._arms or name.item_id not in self._items:
            what = f"arm {name.arm!r}" if name.arm not in self._arms else f"item {name.item_id!r}"
            return Outcome(error_reply(400, f"{what} is not part of the simulated study", "unknown_cell"), 0.0)
        settings = self._settings
        rates = settings.run_faults.get(f"{name.arm}#{name.repeat}", settings.faults)
        draws = self._chance.uniforms("attempt", name.arm, name.repeat, name.item_id, name.attempt)
        latency = self._latency(name.item_id, draws[1])
        fault = pick(draws[0], [getattr(rates, kind) for kind in _TRANSIENT])
        if fault == _TRANSIENT.index("timeout") or latency >= self._timeout_s:
            return Outcome(None, self._timeout_s / settings.speed)
        delay = latency / settings.speed
        if fault == _TRANSIENT.index("rate_limit"):
            return Outcome(_rate_limited(settings.retry_after_s / settings.speed), 0.0)
        if fault == _TRANSIENT.index("server_error"):
            status = (500, 502, 503)[int(draws[2] * 3)]
            return Outcome(error_reply(status, "simulated server error", "server_error"), delay)
        return Outcome(self._completion(name, rates, model, messages), delay)

    def _completion(self, name: CellName, rates: FaultRates, model: str, messages: Sequence[Message]) -> Reply:
        draws = self._chance.uniforms("cell", name.arm, name.repeat, name.item_id)
        getting_through = 1.0 - sum(getattr(rates, kind) for kind in _TRANSIENT)
        shares = [getattr(rates, kind) / max(getting_through, 1e-12) for kind in _LASTING]
        lasting = pick(draws[3], shares)
        kind = None if lasting is None else _LASTING[lasting]
        text: str | None
        if kind is None:
            passes = draws[0] < self._truth.probability(name.arm, name.repeat, name.item_id)
            text, finish = self._repertoire(name.item_id).say(passes, draws[1], draws[2]), "stop"
        elif kind == "unparsable":
            text, finish = UNPARSABLE, "stop"
        elif kind == "truncated":
            text, finish = TRUNCATED, "length"
        else:
            text, finish = ("", "stop") if kind == "empty" else (None, "content_filter")
        return _completion_reply(text, finish, model, messages, f"sim-{self._settings.seed}")

    def _repertoire(self, item_id: str) -> Repertoire:
        if item_id not in self._said:
            order = self._chance.uniforms("preference", item_id)
            self._said[item_id] = repertoire(self._items[item_id].gold, self._golds, order)
        return self._said[item_id]

    def _latency(self, item_id: str, uniform: float) -> float:
        """Log-normal seconds, whose logarithm has the stated correlation with the item's difficulty."""
        settings = self._settings
        rho = settings.latency_difficulty
        z = rho * self._truth.difficulty(item_id) + math.sqrt(1 - rho * rho) * normal_of(uniform)
        return settings.latency_s * math.exp(settings.latency_sigma * z)


def error_reply(status: int, message: str, code: str, headers: Mapping[str, str] | None = None) -> Reply:
    """An error in the form that OpenAI's servers give it."""
    error = {"message": message, "type": "simulated", "param": None, "code": code}
    return Reply(status, {**_JSON, **(headers or {})}, json.dumps({"error": error}).encode())


def _rate_limited(wait_s: float) -> Reply:
    headers = {"retry-after": str(math.ceil(wait_s)), "retry-after-ms": f"{wait_s * 1000:.3f}"} if wait_s > 0 else {}
    return error_reply(429, "simulated rate limit reached", "rate_limit_exceeded", headers)


def _completion_reply(
    text: str | None, finish: str, model: str, messages: Sequence[Message], fingerprint: str
) -> Reply:
    asked = sum(4 + len(message.content) // 4 for message in messages)
    answered = len(text or "") // 4 + 1
    body = {
        "id": "chatcmpl-simulated",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "system_fingerprint": fingerprint,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
    }
    return Reply(200, _JSON, json.dumps(body).encode())
