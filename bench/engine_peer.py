"""Inspect with its mock model beside the engine with its simulator: the same items, as often, in processes alike."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from engine_process import HERE, Result, child, json_of, stored
from engine_table import Report, Scale

SPEED_GOAL = 40
MEMORY_GOAL = 1 / 3
BYTES_GOAL = 0.5
IN_FLIGHT = 64
HOW = "pip install inspect_ai in a virtual environment of its own; --inspect-python PATH names its interpreter"


def inspect(report: Report, scale: Scale, folder: Path, interpreter: str | None) -> None:
    items, epochs = scale.peer_items, scale.peer_epochs
    report.part(f"Inspect with its mock model, {items:,} items x {epochs} epochs, {IN_FLIGHT} in flight")
    if interpreter is None and importlib.util.find_spec("inspect_ai") is None:
        report.note(f"not run: inspect_ai is not installed ({HOW})")
        return
    given = folder / "items.json"
    given.write_text(json.dumps(child("items", count=items)["items"]), "utf-8")
    script = [interpreter or sys.executable, str(HERE / "engine_inspect.py")]
    try:
        theirs = json_of([*script, str(given), str(epochs), str(IN_FLIGHT), str(folder / "logs")])
    except (OSError, subprocess.CalledProcessError) as error:
        report.note(f"not run: {error} ({HOW})")
        return
    study = stored(folder, items, epochs, in_flight=IN_FLIGHT, arms=1)
    _compare(report, {**study.run(), "bytes": study.db.stat().st_size}, theirs)


def _compare(report: Report, ours: Result, theirs: Result) -> None:
    def shown(what: str, name: str, factor: float, unit: str, limit: float | None) -> None:
        each = factor / ours["count"] if name in ("cpu",) else factor
        us, them = each * ours[name], each * theirs[name]
        report.row(what, f"{us:,.2f} {unit}", f"Inspect: {them:,.2f} {unit}", us / them, limit)

    us, them = (result["count"] / result["seconds"] for result in (ours, theirs))
    report.row("verdicts/s", f"{us:,.0f}", f"Inspect: {them:,.0f}", us / them, SPEED_GOAL, " x", at_least=True)
    shown("CPU each", "cpu", 1000, "ms", None)
    shown("peak memory", "peak", 1e-6, "MB", MEMORY_GOAL)
    shown("size of what was stored", "bytes", 1e-6, "MB", BYTES_GOAL)
