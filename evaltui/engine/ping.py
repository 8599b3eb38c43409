"""One request per endpoint: is it there, is the key accepted, does the model answer."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping

from evaltui.config import StudyConfig
from evaltui.core.preview import PingResult, Preview
from evaltui.core.protocols import Provider
from evaltui.core.records import Cell, Completion, Failure, Request
from evaltui.core.status import Status
from evaltui.core.study import StudyPlan
from evaltui.engine.requests import prepare
from evaltui.engine.wiring import providers as wired


def ping(config: StudyConfig, plan: StudyPlan, preview: Preview) -> tuple[PingResult, ...]:
    """Ask each endpoint the first item of the first arm that uses it.

    Raises:
        EvaltuiError: a key's environment variable is not set.
    """
    return asyncio.run(_ping_all(config, plan, {arm.name: arm.url for arm in preview.arms}))


async def _ping_all(config: StudyConfig, plan: StudyPlan, urls: Mapping[str, str]) -> tuple[PingResult, ...]:
    providers = wired(config, plan, os.environ)
    first_arm = {arm.endpoint: name for name, arm in reversed(list(config.arms.items()))}
    try:
        return tuple(
            [
                await _ping_one(endpoint, arm, urls[arm], config, plan, providers[endpoint])
                for endpoint, arm in sorted(first_arm.items())
            ]
        )
    finally:
        for provider in providers.values():
            await provider.close()


async def _ping_one(
    endpoint: str, arm: str, url: str, config: StudyConfig, plan: StudyPlan, provider: Provider
) -> PingResult:
    item, settings = plan.items[0], config.arms[arm]
    prepared = prepare(settings, item, Cell(arm, 1, item.position, item.id), plan.design.order_seed)
    request = Request(prepared.cell, 1, prepared.messages, prepared.decoding)
    limit = config.endpoints[endpoint].timeout_s
    started = time.monotonic()
    try:
        async with asyncio.timeout(limit):
            answer = await provider.complete(request)
    except TimeoutError:
        answer = Failure(Status.TIMEOUT, f"no answer within {limit:g} s")
    elapsed = time.monotonic() - started
    if isinstance(answer, Completion):
        return PingResult(
            endpoint, url, True, answer.text or str(answer.status), elapsed, answer.model, answer.fingerprint
        )
    return PingResult(endpoint, url, False, f"{answer.status}: {answer.message}", elapsed)
