"""Designs, configs and items as JSON, and back: what makes a study runnable from the database alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from evaltui.core.errors import StoreError
from evaltui.core.records import Item
from evaltui.core.status import Status
from evaltui.core.study import ArmDesign, Design, MissingPolicy, ScorerDesign, StudyPlan
from evaltui.store.stored_text import read_texts, restored, storable, store_texts


def dump_json(value: object) -> str | bytes:
    """JSON that :func:`load_json` turns back into the same data; what to bind for a TEXT column."""
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def load_json(stored: str | bytes) -> Any:
    return json.loads(restored(stored))


def dump_design(design: Design) -> str | bytes:
    """A design as JSON; an object with the fields of :class:`evaltui.core.study.Design`."""
    return dump_json(
        {
            **_shallow(design),
            "arms": [{**_shallow(arm), "pins": dict(arm.pins)} for arm in design.arms],
            "scorers": [_shallow(scorer) for scorer in design.scorers],
            "missing": {**_shallow(design.missing), "by_status": dict(design.missing.by_status)},
        }
    )


def load_design(stored: str | bytes) -> Design:
    """The inverse of :func:`dump_design`.

    Raises:
        StoreError: the text is not a design.
    """
    try:
        data = load_json(stored)
        missing = data["missing"]
        policy = {Status(status): treatment for status, treatment in missing["by_status"].items()}
        return Design(
            **{
                **data,
                "arms": tuple(ArmDesign(**arm) for arm in data["arms"]),
                "scorers": tuple(_load_scorer(scorer) for scorer in data["scorers"]),
                "missing": MissingPolicy(**{**missing, "by_status": policy}),
            }
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(f"the design of a study cannot be read ({error}): the database is damaged") from error


def load_config(stored: str | bytes) -> Mapping[str, object]:
    """The normalised study file of a study.

    Raises:
        StoreError: the text is not JSON.
    """
    try:
        return cast(Mapping[str, object], load_json(stored))
    except ValueError as error:
        raise StoreError(f"the config of a study cannot be read ({error}): the database is damaged") from error


def store_items(connection: sqlite3.Connection, study: int, plan: StudyPlan) -> None:
    """Store the items of a new study (its integer key)."""
    documents = [restored(dump_json(dict(item.fields))) for item in plan.items]
    keys = store_texts(connection, [*documents, *(item.gold for item in plan.items if item.gold is not None)])
    connection.executemany(
        "INSERT INTO items (study, position, item_id, hash, category, cluster, fields, gold) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                study,
                item.position,
                storable(item.id),
                item.hash,
                None if item.category is None else storable(item.category),
                None if item.cluster is None else storable(item.cluster),
                keys[document],
                None if item.gold is None else keys[item.gold],
            )
            for item, document in zip(plan.items, documents, strict=True)
        ],
    )


def read_items(connection: sqlite3.Connection, study: int, design: Design) -> tuple[Item, ...]:
    """The items of a study (its integer key) by position.

    Raises:
        StoreError: items or their texts are not there.
    """
    rows = connection.execute(
        "SELECT position, item_id, hash, category, cluster, fields, gold FROM items WHERE study = ? ORDER BY position",
        (study,),
    ).fetchall()
    keys = {key for row in rows for key in row[5:7] if key is not None}
    texts = read_texts(connection, keys)
    if [row[0] for row in rows] != list(range(design.n_items)) or keys != texts.keys():
        raise StoreError(
            "items of a study are not there: the database is damaged; `evaltui studies --verify` says more"
        )
    return tuple(
        Item(
            id=restored(item_id),
            fields=_load_fields(texts[fields_key]),
            gold=None if gold is None else texts[gold],
            category=None if category is None else restored(category),
            cluster=None if cluster is None else restored(cluster),
            hash=digest,
            position=position,
        )
        for position, item_id, digest, category, cluster, fields_key, gold in rows
    )


def _load_fields(document: str) -> Mapping[str, object]:
    try:
        return cast(Mapping[str, object], load_json(document))
    except ValueError as error:
        raise StoreError(f"the fields of an item cannot be read ({error}): the database is damaged") from error


def _shallow(record: Design | ArmDesign | ScorerDesign | MissingPolicy) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _load_scorer(data: Mapping[str, Any]) -> ScorerDesign:
    score_range = data["score_range"]
    return ScorerDesign(**{**data, "score_range": None if score_range is None else tuple(score_range)})
