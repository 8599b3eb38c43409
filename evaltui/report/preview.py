"""What ``check`` prints: pins, warnings, requests and price."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evaltui.core.format import NOTHING, money, seconds
from evaltui.core.preview import Preview, ProbeResult
from evaltui.core.study import PinValue
from evaltui.core.text import clean

DIGEST: Final = re.compile(r"[0-9a-f]{64}")
"""A SHA-256: sixteen digits are enough to see a difference, ``--json`` has them all."""


def render_preview(preview: Preview, probes: Sequence[ProbeResult] = ()) -> RenderableType:
    """The whole check as one renderable."""
    parts: list[RenderableType] = [
        Text(clean(f"{preview.name}: {preview.n_items:,} items, {len(preview.arms)} arms, {preview.repeats} repeats")),
        _pins(preview),
        _requests(preview),
    ]
    parts += [Text(f"note: {clean(notice)}") for notice in preview.notices]
    parts += [Text(f"warning: {clean(warning)}", style="bold") for warning in preview.warnings]
    parts += [_probe_line(result) for result in probes]
    return Group(*parts)


def _pins(preview: Preview) -> Table:
    """One row per pin; arms side by side, and a mark where they differ."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("pin")
    for arm in preview.arms:
        table.add_column(Text(clean(arm.name)), overflow="fold")
    table.add_column("")
    names = list(dict.fromkeys(name for arm in preview.arms for name in arm.pins))
    for name in names:
        values = [_shown(arm.pins.get(name)) for arm in preview.arms]
        table.add_row(Text(clean(name)), *(Text(value) for value in values), "" if len(set(values)) == 1 else "differs")
    return table


def _shown(value: PinValue) -> str:
    if value is None:
        return NOTHING
    return f"{value[:16]}…" if isinstance(value, str) and DIGEST.fullmatch(value) else clean(str(value), limit=200)


def _requests(preview: Preview) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("arm")
    table.add_column("calls", overflow="fold")
    for heading in ("requests", "tokens in", "tokens out, at most", "cost, at most"):
        table.add_column(heading, justify="right")
    for arm in preview.arms:
        table.add_row(
            Text(clean(arm.name)),
            Text(clean(arm.url)),
            f"{arm.requests:,}",
            f"{arm.prompt_tokens:,}",
            f"{arm.completion_tokens:,}",
            money(arm.cost),
        )
    table.add_row("all", "", f"{preview.requests:,}", "", "", money(preview.cost))
    if preview.ten_repeats_cost is not None and preview.repeats != 10:
        table.add_row("with ten repeats", "", "", "", "", money(preview.ten_repeats_cost))
    return table


def _probe_line(result: ProbeResult) -> Text:
    word = "answers" if result.ok else "does not answer"
    model = f", model {result.model}" if result.model else ""
    told = [
        f"{result.endpoint} ({result.url}) {word} in {seconds(result.latency_s)}{model}: {result.message}",
        f"limit on tokens sent as {result.token_limit}" if result.token_limit else "",
        f"not sent: {', '.join(result.omit)}" if result.omit else "",
        "reports no token usage" if result.usage is False else "",
        f"same seed: {result.same_seed}, other seed: {result.other_seed}" if result.same_seed else "",
    ]
    return Text(
        "; ".join(clean(part, limit=500) for part in told if part),
        style="" if result.ok else "bold",
    )
