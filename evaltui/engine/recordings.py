"""What a recording lacks, or has too much, for the study that replays it."""

from __future__ import annotations

from collections.abc import Iterator

from evaltui.config import StudyConfig
from evaltui.core.format import count
from evaltui.core.study import StudyPlan
from evaltui.providers.replay import Key, read_answers


def recording_warnings(config: StudyConfig, plan: StudyPlan) -> Iterator[str]:
    """Sentences about answers that no cell asks for, and cells that have no answer.

    Raises:
        InputError: every fault of a recording.
    """
    ids = {item.id for item in plan.items}
    for name, endpoint in config.endpoints.items():
        arms = [arm for arm in plan.design.arm_names if config.arms[arm].endpoint == name]
        if endpoint.kind != "replay" or not arms:
            continue
        assert endpoint.path is not None
        answers = read_answers(endpoint.path)
        unasked = [key for key in answers if not _asked(key, arms, plan.design.repeats, ids)]
        if unasked:
            first = _named(unasked[0])
            yield f"endpoint {name}: {count(len(unasked), 'answer')} that no cell asks for, the first {first}"
        missing = [
            (arm, repeat, item.id)
            for arm in arms
            for repeat in range(1, plan.design.repeats + 1)
            for item in plan.items
            if not any(key in answers for key in ((a, r, item.id) for a in (arm, None) for r in (repeat, None)))
        ]
        if missing:
            first = _named(missing[0])
            yield f"endpoint {name}: no answer for {count(len(missing), 'cell')}, the first {first}"


def _asked(key: Key, arms: list[str], repeats: int, ids: set[str]) -> bool:
    arm, repeat, item = key
    return item in ids and (arm is None or arm in arms) and (repeat is None or repeat <= repeats)


def _named(key: Key) -> str:
    arm, repeat, item = key
    parts = [f"item {item!r}", *([f"arm {arm}"] if arm is not None else []), *([f"repeat {repeat}"] if repeat else [])]
    return ", ".join(parts)
