"""Counters of what ended without a score."""

from __future__ import annotations

from evaltui.core.status import Status
from evaltui.report.counters import COUNTERS


def test_every_status_but_ok_is_counted_exactly_once() -> None:
    counted = [status for group in COUNTERS.values() for status in group]
    assert sorted(counted) == sorted(set(Status) - {Status.OK})
