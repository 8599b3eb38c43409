"""The workspace file: the only place with SQL. One writer per study, readers that cannot write, and the follower."""

from __future__ import annotations

from evaltui.store.commands import clear_lease, delete, send
from evaltui.store.connect import LockedError
from evaltui.store.extension import extend
from evaltui.store.feed import events
from evaltui.store.file_identity import file_at
from evaltui.store.follower import Follower
from evaltui.store.lease import PATIENCE_S, LeaseHeldError, LeaseWatch
from evaltui.store.ledger import load_plan, resolve, studies
from evaltui.store.opening import Opened, open_study
from evaltui.store.readers import CellDetail, cell_detail, items, texts
from evaltui.store.settings import ChangedSetting
from evaltui.store.verification import Verification, verify
from evaltui.store.writer import Writer

__all__ = [
    "PATIENCE_S",
    "CellDetail",
    "ChangedSetting",
    "Follower",
    "LeaseHeldError",
    "LeaseWatch",
    "LockedError",
    "Opened",
    "Verification",
    "Writer",
    "cell_detail",
    "clear_lease",
    "delete",
    "events",
    "extend",
    "file_at",
    "items",
    "load_plan",
    "open_study",
    "resolve",
    "send",
    "studies",
    "texts",
    "verify",
]
