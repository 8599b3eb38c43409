"""From a checked study file and its data set to the plan that is stored and run, and what it will cost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from evaltui import scorers
from evaltui.config import StudyConfig, dump
from evaltui.config.template import fields_of
from evaltui.core.format import count
from evaltui.core.order import shuffled
from evaltui.core.pins import study_pin_hash
from evaltui.core.preview import ArmPreview, Preview
from evaltui.core.study import Design, PinValue, ScorerDesign, StudyPlan
from evaltui.datasets import Dataset
from evaltui.engine.checkout import commit_of
from evaltui.engine.estimate import ASSUMED_ANSWER_TOKENS
from evaltui.engine.golds import gold_warnings
from evaltui.engine.pinning import pinned_arm
from evaltui.engine.pricing import price_arm
from evaltui.engine.recordings import recording_warnings

NOT_PROBED: Final[Mapping[str, Mapping[str, PinValue]]] = MappingProxyType({})
FEWEST_ITEMS: Final = 10
FEWEST_REPEATS: Final = 8
MOST_REPEATS: Final = 12


def build_plan(
    config: StudyConfig,
    dataset: Dataset,
    *,
    config_path: Path | None = None,
    probed: Mapping[str, Mapping[str, PinValue]] = NOT_PROBED,
) -> StudyPlan:
    """The study as it will be stored: items in the seeded order, each arm with its pins, the config without files.

    ``probed`` has, by endpoint, the pins that it showed when it was tried out.

    Raises:
        InputError: a scorer refuses its options.
    """
    built = {name: scorers.build(name, scorer.kind, scorer.options()) for name, scorer in config.scorers.items()}
    versions = {name: scorer.version for name, scorer in built.items()}
    commit = commit_of(config_path) if config_path is not None else None
    arms = tuple(
        pinned_arm(config, name, dataset, versions, commit, probed.get(arm.endpoint, {}))
        for name, arm in config.arms.items()
    )
    design = Design(
        name=config.study.name,
        arms=arms,
        scorers=tuple(
            ScorerDesign(name, config.scorers[name].kind, scorer.version, name == config.primary, scorer.score_range)
            for name, scorer in built.items()
        ),
        repeats=config.study.repeats,
        n_items=len(dataset.items),
        order_seed=config.study.order_seed,
        schedule=config.study.schedule,
        concurrency=config.study.concurrency,
        baseline=config.study.baseline,
        pin_hash=study_pin_hash({arm.name: arm.pin_hash for arm in arms}),
        missing=config.study.missing_policy(),
        disclosure=config.study.disclosure,
        max_cost=config.study.max_cost,
        warmup=config.study.warmup,
    )
    items = shuffled(dataset.items, config.study.order_seed)
    return StudyPlan(design, items, dump(config), str(config_path.absolute()) if config_path is not None else None)


def preview(
    config: StudyConfig,
    plan: StudyPlan,
    *,
    notices: Sequence[str] = (),
    environ: Mapping[str, str] = os.environ,
) -> Preview:
    """Pins, warnings, requests, tokens and price of a plan; ``notices`` are those of the data set."""
    arms = tuple(price_arm(config, plan, name) for name in config.arms)
    priced = [arm.cost for arm in arms if arm.cost is not None]
    cost = sum(priced) if priced else None
    repeats, warmup = plan.design.repeats, plan.design.warmup
    told = list(notices)
    if warmup:
        told.append(f"{count(warmup, 'warm-up run')} of each arm first: priced here, and in no number")
    if config.gate is not None:
        told.append("[gate] is stored with the study; this version does not decide gates")
    return Preview(
        name=plan.design.name,
        n_items=plan.design.n_items,
        repeats=repeats,
        concurrency=plan.design.concurrency,
        arms=arms,
        notices=tuple(told),
        warnings=tuple(_warnings(config, plan, arms, cost, environ)),
        requests=sum(arm.requests for arm in arms),
        cost=cost,
        ten_repeats_cost=None if cost is None else cost / (repeats + warmup) * (10 + warmup),
        max_cost=config.study.max_cost,
    )


def _warnings(
    config: StudyConfig,
    plan: StudyPlan,
    arms: Sequence[ArmPreview],
    cost: float | None,
    environ: Mapping[str, str],
) -> Iterator[str]:
    design = plan.design
    if design.n_items < FEWEST_ITEMS:
        yield f"{count(design.n_items, 'item')}: fewer than {FEWEST_ITEMS} say little about anything else"
    if design.repeats < FEWEST_REPEATS:
        yield (
            f"{count(design.repeats, 'repeat')}: fewer than {FEWEST_REPEATS} make no stable band; 10 are the default"
        )
    if design.repeats > MOST_REPEATS:
        yield f"{design.repeats} repeats: more than {MOST_REPEATS} narrow the band little for what they cost"
    if len(design.arms) == 1:
        yield "one arm only: its noise is measured, and there is nothing to compare it with"
    loose = [name for name, arm in config.arms.items() if arm.temperature is None]
    if loose:
        yield f"temperature is not pinned in {', '.join(loose)}: the server's default may change without notice"
    yield from gold_warnings(config, plan)
    yield from recording_warnings(config, plan)
    same = [name for name, arm in config.arms.items() if not fields_of(arm.prompt_text + (arm.system_text or ""))]
    if same:
        yield f"no {{{{field}}}} in the prompt of {', '.join(same)}: every item sends the same text"
    yield from _money_warnings(config, arms, cost)
    for name, endpoint in config.endpoints.items():
        if endpoint.api_key_env is not None and not environ.get(endpoint.api_key_env):
            yield f"endpoint {name}: the environment variable {endpoint.api_key_env} is not set"


def _money_warnings(config: StudyConfig, arms: Sequence[ArmPreview], cost: float | None) -> Iterator[str]:
    unpriced = ", ".join(arm.name for arm in arms if arm.cost is None)
    if unpriced and config.study.max_cost is not None:
        yield (
            f"max_cost = {config.study.max_cost:g} does not limit {unpriced}: without a price of the endpoint "
            "nothing is counted; say price = { input = …, output = … } per million tokens"
        )
    if cost is None:
        return
    if unpriced:
        yield f"no price for {unpriced}: the total leaves that out"
    open_ended = [arm.name for arm in arms if arm.cost is not None and config.arms[arm.name].max_tokens is None]
    if open_ended:
        yield f"max_tokens is not set in {', '.join(open_ended)}: {ASSUMED_ANSWER_TOKENS} an answer are assumed"
    if config.study.max_cost is not None and cost > config.study.max_cost:
        yield f"at up to {cost:.2f} the study may stop at max_cost = {config.study.max_cost:g} before it is finished"
