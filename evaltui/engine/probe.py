"""A few calls to each endpoint before a study starts: is it there, is the key accepted, what does it take and tell."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from evaltui.config import ArmConfig, EndpointConfig, StudyConfig
from evaltui.core.errors import StudyStoppedError
from evaltui.core.pins import PROBED
from evaltui.core.preview import ProbeResult
from evaltui.core.protocols import Provider
from evaltui.core.records import Cell, Completion, Decoding, Failure, Message, Request
from evaltui.core.status import Status
from evaltui.core.study import PinValue, StudyPlan
from evaltui.engine import wiring
from evaltui.engine.pinning import called_url
from evaltui.providers.address import is_loopback

QUESTION: Final = "Write one short sentence about the sea."
ANSWER_TOKENS: Final = 256
TRIES: Final = 3
LONGEST_WAIT_S: Final = 10.0
SETTINGS: Final = ("max_tokens", "temperature", "top_p", "seed")
SERVED: Final = ("openai", "anthropic")


@dataclass(slots=True)
class _Probing:
    """One endpoint while it is tried out; ``config`` is changed to what it takes."""

    name: str
    config: EndpointConfig
    study: StudyConfig
    plan: StudyPlan
    environ: Mapping[str, str]

    @property
    def arm(self) -> ArmConfig:
        return next(arm for arm in self.study.arms.values() if arm.endpoint == self.name)

    async def ask(self, seed: int | None = None) -> Completion | Failure:
        """One call, tried again where that may help. The provider is made anew: the settings may have changed."""
        endpoints = {**self.study.endpoints, self.name: self.config}
        provider = wiring.provider(
            self.study.model_copy(update={"endpoints": endpoints}), self.plan, self.name, self.environ
        )
        try:
            for number in range(1, TRIES + 1):
                outcome = await _call(provider, self._request(seed, number), self.config.timeout_s)
                if isinstance(outcome, Completion) or not outcome.retry or number == TRIES:
                    return outcome
                await asyncio.sleep(min(outcome.wait_s or 1.0, LONGEST_WAIT_S))
        finally:
            await provider.close()
        raise AssertionError

    def adapt(self, failure: Failure) -> bool:
        """Change what is sent by what the endpoint says it does not take; whether there is something new to try."""
        if failure.http_status not in (400, 422):
            return False
        named = [name for name in SETTINGS if re.search(rf"(?<!\w){name}(?!\w)", failure.message)]
        for name in named:
            if name == "max_tokens" and self.config.kind == "openai" and self.config.token_limit is None:
                self.config = self.config.model_copy(update={"token_limit": "max_completion_tokens"})
                return True
            if name not in self.config.omit and not (name == "max_tokens" and self.config.kind == "anthropic"):
                self.config = self.config.model_copy(update={"omit": [*self.config.omit, name]})
                return True
        return False

    def _request(self, seed: int | None, number: int) -> Request:
        arm = self.arm
        sent = {
            "temperature": arm.temperature if seed is None else 1.0,
            "top_p": arm.top_p,
            "max_tokens": ANSWER_TOKENS,
            "seed": seed if seed is not None or arm.seed == "none" else 1,
        }
        decoding = Decoding(
            arm.model,
            extra_body=arm.extra_body,
            **{  # type: ignore[arg-type]
                name: None if name in self.config.omit else value for name, value in sent.items()
            },
        )
        cell = Cell(next(iter(self.study.arms)), 1, 0, self.plan.items[0].id)
        return Request(cell, number, (Message("user", QUESTION),), decoding)


def probe(
    config: StudyConfig, plan: StudyPlan, names: Iterable[str], environ: Mapping[str, str] = os.environ
) -> tuple[ProbeResult, ...]:
    """Try the named endpoints out, one after the other: at most nine short calls each, outside the budget.

    Raises:
        EvaltuiError: a key's environment variable is not set, or an endpoint cannot be made at all.
    """
    return asyncio.run(_probe_all(config, plan, list(names), environ))


def wanted(config: StudyConfig) -> list[str]:
    """The endpoints that `run` tries out: those that say so, and those that are not on this machine."""
    used = dict.fromkeys(arm.endpoint for arm in config.arms.values())
    return [name for name in used if _wants(config.endpoints[name])]


def all_used(config: StudyConfig) -> list[str]:
    """Every endpoint that an arm uses, once."""
    return list(dict.fromkeys(arm.endpoint for arm in config.arms.values()))


def amended(config: StudyConfig, results: Iterable[ProbeResult]) -> tuple[StudyConfig, tuple[str, ...]]:
    """The study as its endpoints take it, and a sentence for each change.

    What an endpoint refuses is left out for all of its arms alike, and is pinned.

    Raises:
        StudyStoppedError: an endpoint did not answer.
    """
    results = list(results)
    failed = [f"endpoint {result.endpoint} ({result.url}): {result.message}" for result in results if not result.ok]
    if failed:
        raise StudyStoppedError("; ".join(failed) + "; nothing was started")
    endpoints, arms, told = dict(config.endpoints), dict(config.arms), []
    for result in results:
        before = config.endpoints[result.endpoint]
        dropped = [name for name in result.omit if name not in before.omit]
        if result.token_limit not in (None, before.token_limit):
            told.append(f"endpoint {result.endpoint} calls the limit on an answer's tokens {result.token_limit}")
        mine = [name for name, arm in arms.items() if arm.endpoint == result.endpoint]
        for setting in dropped:
            asked = [f"{getattr(arms[name], setting)} in {name}" for name in mine if _is_set(arms[name], setting)]
            told.append(
                f"endpoint {result.endpoint} refuses {setting}: it is left out for all of its arms"
                + (f" (asked for: {', '.join(asked)})" if asked else "")
            )
            nothing = "none" if setting == "seed" else None
            arms.update({name: arms[name].model_copy(update={setting: nothing}) for name in mine})
        update = {"omit": list(result.omit), "token_limit": result.token_limit}
        endpoints[result.endpoint] = before.model_copy(update=update)
    return config.model_copy(update={"endpoints": endpoints, "arms": arms}), tuple(told)


def probe_pins(result: ProbeResult) -> dict[str, PinValue]:
    """What an endpoint showed, as pins that are recorded and make no other configuration."""
    shown = {
        "model": result.model,
        "fingerprint": result.fingerprint,
        "usage": result.usage,
        "same_seed": result.same_seed,
        "other_seed": result.other_seed,
    }
    return {f"{PROBED}{name}": value for name, value in shown.items() if value is not None}


def _wants(endpoint: EndpointConfig) -> bool:
    if endpoint.probe is not None or endpoint.kind not in SERVED or endpoint.base_url is None:
        return bool(endpoint.probe)
    return not is_loopback(endpoint.base_url)


def _is_set(arm: ArmConfig, setting: str) -> bool:
    return getattr(arm, setting) not in (None, "none")


async def _probe_all(
    config: StudyConfig, plan: StudyPlan, names: list[str], environ: Mapping[str, str]
) -> tuple[ProbeResult, ...]:
    wiring.insist_keys(config, plan, environ)
    return tuple([await _probe_one(_Probing(name, config.endpoints[name], config, plan, environ)) for name in names])


async def _probe_one(probing: _Probing) -> ProbeResult:
    started = time.monotonic()
    answer = await probing.ask()
    while isinstance(answer, Failure) and probing.adapt(answer):
        started = time.monotonic()
        answer = await probing.ask()
    elapsed = time.monotonic() - started
    config = probing.config
    result = ProbeResult(
        probing.name, called_url(config), False, "", elapsed, token_limit=config.token_limit, omit=tuple(config.omit)
    )
    if isinstance(answer, Failure):
        return replace(result, message=f"{answer.status}: {answer.message}")
    result = replace(
        result,
        ok=True,
        message=answer.text or str(answer.status),
        model=answer.model,
        fingerprint=answer.fingerprint,
        usage=None not in (answer.usage.prompt_tokens, answer.usage.completion_tokens),
    )
    return await _with_seeds(probing, result)


async def _with_seeds(probing: _Probing, result: ProbeResult) -> ProbeResult:
    """Whether one seed gives one answer, and another seed another: three calls, where a seed can be sent at all."""
    if probing.config.kind != "openai" or "seed" in probing.config.omit:
        return result
    texts = []
    for seed in (1, 1, 2):
        answer = await probing.ask(seed)
        if not isinstance(answer, Completion) or not answer.text:
            return result
        texts.append(answer.text)
    return replace(
        result,
        same_seed="same answer" if texts[0] == texts[1] else "other answer",
        other_seed="same answer" if texts[0] == texts[2] else "other answer",
    )


async def _call(provider: Provider, request: Request, limit_s: float) -> Completion | Failure:
    try:
        async with asyncio.timeout(limit_s):
            return await provider.complete(request)
    except TimeoutError:
        return Failure(Status.TIMEOUT, f"no answer within {limit_s:g} s")
