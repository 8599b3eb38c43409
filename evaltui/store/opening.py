"""Opening a study to run it: go on with the unfinished one of the same name and pins, or begin another."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evaltui.core.errors import StoreError
from evaltui.core.pins import differing, identifying
from evaltui.core.records import Event
from evaltui.core.status import StudyState
from evaltui.core.study import Design, StudyPlan
from evaltui.store import connect
from evaltui.store.extension import add_runs, add_warmups, plan_repeats
from evaltui.store.feed import insert_events
from evaltui.store.lease import insist_free, insist_untaken, release_lease
from evaltui.store.plans import dump_design, dump_json, load_config, load_design, store_items
from evaltui.store.settings import ChangedSetting, changed_settings
from evaltui.store.stored_text import restored, storable

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
EPOCH_S: Final = 1_704_067_200
TIME_BITS: Final = 41
RANDOM_BITS: Final = 9
ID_LENGTH: Final = (TIME_BITS + RANDOM_BITS) // 5


@dataclass(frozen=True, slots=True)
class Opened:
    """``resumed``: the study was there before. ``finished``: there is nothing left to run in it.

    ``changed`` are the settings in which the plan differs from what was stored; a finished study keeps its own.
    """

    study_id: str
    resumed: bool
    finished: bool
    changed: tuple[ChangedSetting, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stored:
    key: int
    id: str
    state: StudyState
    design: Design


def open_study(path: Path, plan: StudyPlan, *, new: bool = False, study_id: str | None = None) -> Opened:
    """Find or create the study that ``plan`` describes, the file included.

    The newest unfinished study of the same name and pin hash is continued; a larger ``repeats`` extends it (a smaller
    one is ignored), and what is not pinned (prices, paths, limits) is taken from ``plan``: one event lists it with the
    values before, and another concurrency has an event of its own. ``study_id`` asks for that one study, created
    under this id where there is none.

    Raises:
        LeaseHeldError: an engine is running that study; nothing was changed.
        StoreError: the file cannot be used, the unfinished study of that name was pinned differently, or its items are
            other ones.
    """
    # Here and not at the top: sqlite-utils takes 0.2 s to import, and only a study that starts needs it.
    from evaltui.store.schema import prepare

    prepare(path)
    with closing(connect.writable(path)) as connection, connect.told(path):
        known = _find(connection, plan.design, new, study_id)
        left = None
        if known is not None:
            _insist_same_items(connection, known, plan)
            if known.state is StudyState.FINISHED and plan.design.repeats <= known.design.repeats:
                return Opened(known.id, resumed=True, finished=True, changed=_changed(connection, known, plan))
            left = insist_free(connection, known.key, known.id)
        with connect.transaction(connection):
            known = _find(connection, plan.design, new, study_id)
            if known is None:
                return Opened(_create(connection, plan, study_id), resumed=False, finished=False)
            insist_untaken(connection, known.key, known.id, left)
            if left is not None:
                # It was watched until it was dead; the engine that is started next need not do so again.
                release_lease(connection, left)
            changed = _changed(connection, known, plan)
            _continue(connection, known, plan, changed)
            return Opened(known.id, resumed=True, finished=False, changed=changed)


def _find(connection: sqlite3.Connection, design: Design, new: bool, study_id: str | None) -> _Stored | None:
    """The study to continue, or None where a new one is to be made."""
    if study_id is not None:
        named = next(_stored(connection, "id = ?", study_id), None)
        if named is not None and new:
            raise StoreError(f"there is a study {study_id} already")
        if named is not None and named.design.pin_hash != design.pin_hash:
            raise _pinned_differently(named, design)
        return named
    if new:
        return None
    same_name = list(_stored(connection, "name = ?", storable(design.name)))
    same_pins = [study for study in same_name if study.design.pin_hash == design.pin_hash]
    unfinished = [study for study in same_name if study.state is not StudyState.FINISHED]
    for study in same_pins:
        if study in unfinished:
            return study
    if same_pins:
        return same_pins[0]
    if unfinished:
        raise _pinned_differently(unfinished[0], design)
    return None


def _stored(connection: sqlite3.Connection, where: str, value: str | bytes) -> Iterator[_Stored]:
    sql = f"SELECT key, id, state, design FROM studies WHERE {where} ORDER BY key DESC"
    for key, study_id, state, design in connection.execute(sql, (value,)).fetchall():
        yield _Stored(key, study_id, StudyState(state), load_design(design))


def _create(connection: sqlite3.Connection, plan: StudyPlan, study_id: str | None) -> str:
    design = plan.design
    now = time.time()
    study_id = study_id or _unused_id(connection, now)
    study = connection.execute(
        "INSERT INTO studies (id, name, pin_hash, state, created, design, config, config_path) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            study_id,
            storable(design.name),
            design.pin_hash,
            StudyState.CREATED.value,
            now,
            dump_design(design),
            dump_json(dict(plan.config)),
            None if plan.config_path is None else storable(plan.config_path),
        ),
    ).lastrowid
    assert study is not None
    connection.executemany(
        "INSERT INTO arms (study, position, name, pin_hash) VALUES (?, ?, ?, ?)",
        [(study, position, storable(arm.name), arm.pin_hash) for position, arm in enumerate(design.arms)],
    )
    connection.executemany(
        "INSERT INTO scorers (study, name, kind, version, is_primary) VALUES (?, ?, ?, ?, ?)",
        [(study, storable(s.name), storable(s.kind), storable(s.version), s.primary) for s in design.scorers],
    )
    store_items(connection, study, plan)
    add_warmups(connection, study, design)
    add_runs(connection, study, design, range(1, design.repeats + 1))
    return study_id


def _changed(connection: sqlite3.Connection, known: _Stored, plan: StudyPlan) -> tuple[ChangedSetting, ...]:
    ((stored,),) = connection.execute("SELECT config FROM studies WHERE key = ?", (known.key,)).fetchall()
    return changed_settings(load_config(stored), plan.config)


def _continue(
    connection: sqlite3.Connection, known: _Stored, plan: StudyPlan, changed: Sequence[ChangedSetting]
) -> None:
    before = known.design
    given = {arm.name: arm for arm in plan.design.arms}
    after = replace(
        plan.design,
        repeats=max(before.repeats, plan.design.repeats),
        # Stored verdicts name an arm by its place, so it keeps that wherever the study file now has it.
        arms=tuple(given[arm.name] for arm in before.arms),
    )
    connection.execute(
        "UPDATE studies SET design = ?, config = ?, config_path = ? WHERE key = ?",
        (
            dump_design(after),
            dump_json(dict(plan.config)),
            None if plan.config_path is None else storable(plan.config_path),
            known.key,
        ),
    )
    if after.repeats > before.repeats:
        plan_repeats(connection, known.key, before, after.repeats, known.state)
    if changed:
        text = "; ".join(map(str, changed))
        insert_events(connection, known.key, [Event(time.time(), "settings_changed", text, level="warning")])
    if after.concurrency != before.concurrency:
        text = (
            f"concurrency {before.concurrency} before, {after.concurrency} from now on: bands are not pooled across it"
        )
        insert_events(connection, known.key, [Event(time.time(), "concurrency", text, level="warning")])


def _insist_same_items(connection: sqlite3.Connection, known: _Stored, plan: StudyPlan) -> None:
    stored = {
        restored(item_id): (digest, position)
        for item_id, digest, position in connection.execute(
            "SELECT item_id, hash, position FROM items WHERE study = ?", (known.key,)
        ).fetchall()
    }
    given = {item.id: (item.hash, item.position) for item in plan.items}
    if stored == given:
        return
    shared = stored.keys() & given.keys()
    changed = sorted(item for item in shared if stored[item][0] != given[item][0])
    added, removed = sorted(given.keys() - stored.keys()), sorted(stored.keys() - given.keys())
    counts = ((added, "added"), (removed, "removed"), (changed, "changed"))
    said = ", ".join(f"{len(ids)} {word} (first: {ids[0]!r})" for ids, word in counts if ids)
    raise StoreError(
        f"study {known.id} was begun with other items: {said or 'another order'}; "
        "give it its own data set back, or begin another study with --new"
    )


def _pinned_differently(known: _Stored, design: Design) -> StoreError:
    was, now = _pins(known.design), _pins(design)
    lines = [f"  {name}: {before!r} there, {after!r} here" for name, before, after in differing(was, now)]
    return StoreError(
        "\n".join(
            [
                f"study {known.id} of the name {design.name!r} was pinned differently:",
                *(lines or ["  (no single pin; the hash over all of them)"]),
                "give it its own pins back, or begin another study with --new",
            ]
        )
    )


def _pins(design: Design) -> dict[str, object]:
    pins: dict[str, object] = {
        "arms": ", ".join(design.arm_names),
        "items": design.n_items,
        "order_seed": design.order_seed,
        "schedule": design.schedule,
        "baseline": design.baseline,
    }
    for arm in design.arms:
        pins.update({f"arms.{arm.name}.{name}": value for name, value in identifying(arm.pins).items()})
    for scorer in design.scorers:
        pins[f"scorers.{scorer.name}"] = f"{scorer.kind} {scorer.version}{' (primary)' if scorer.primary else ''}"
    return pins


def _unused_id(connection: sqlite3.Connection, now: float) -> str:
    """Ten characters of Crockford's base 32: milliseconds since 2024, then chance; ids sort by time."""
    while True:
        number = (int((now - EPOCH_S) * 1000) % (1 << TIME_BITS)) << RANDOM_BITS | secrets.randbits(RANDOM_BITS)
        study_id = "".join(ALPHABET[number >> 5 * place & 31] for place in reversed(range(ID_LENGTH)))
        if connection.execute("SELECT 1 FROM studies WHERE id = ?", (study_id,)).fetchone() is None:
            return study_id
