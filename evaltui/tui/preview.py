"""What the launch screen says about a study file: its faults, or its pins, warnings, requests and price."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.content import Content

from evaltui.core.errors import Fault
from evaltui.core.format import NOTHING, count, money
from evaltui.core.preview import Preview
from evaltui.core.study import PinValue
from evaltui.core.text import clean
from evaltui.tui.cells import cut, fit
from evaltui.tui.drawn import MUTED


def fault_lines(path: Path, faults: Sequence[Fault]) -> list[Content]:
    """Every fault, with its place in the file."""
    lines = [
        Content.styled(
            f"{clean(str(path), limit=300)}: {count(len(faults), 'fault')}, nothing was started", "bold $error"
        )
    ]
    for fault in faults:
        where = f"{clean(fault.where, limit=200)}: " if fault.where else ""
        lines.append(Content.assemble(("x ", "$error"), (where, "bold"), clean(fault.message, limit=1000)))
    return lines


def preview_lines(preview: Preview, width: int) -> list[Content]:
    """The study as it would run."""
    lines = [
        Content(""),
        Content.assemble(
            (clean(preview.name, limit=200), "bold"),
            f"  {count(preview.n_items, 'item')} x {count(len(preview.arms), 'arm')} x "
            f"{count(preview.repeats, 'repeat')}, {count(preview.concurrency, 'call')} in flight",
        ),
        Content.assemble(
            (f"{preview.requests:,}", "bold $primary"),
            " requests, ",
            (_price(preview.cost), "bold $primary"),
            *_limits(preview),
        ),
    ]
    lines += [Content.assemble(("! ", "bold $warning"), clean(text, limit=600)) for text in preview.warnings]
    lines += [Content.styled(clean(text, limit=600), MUTED) for text in preview.notices]
    return [*lines, Content(""), *_arms(preview, width), Content(""), *_pins(preview, width)]


def _price(cost: float | None) -> str:
    return "no price known" if cost is None else f"at most {money(cost)}"


def _limits(preview: Preview) -> list[str]:
    said = []
    if preview.ten_repeats_cost is not None and preview.repeats != 10:
        said.append(f"; ten repeats {money(preview.ten_repeats_cost)}")
    if preview.max_cost is not None:
        said.append(f"; stops at {money(preview.max_cost)}")
    return said


def _arms(preview: Preview, width: int) -> list[Content]:
    sizes = (16, 9, 11, 11, 9)
    titles = ("arm", "requests", "tokens in", "tokens out", "cost")
    heads = [fit(title, size, right=place > 0) for place, (title, size) in enumerate(zip(titles, sizes, strict=True))]
    lines = [Content.styled(" ".join(heads) + "  calls", MUTED)]
    for arm in preview.arms:
        numbers = (arm.requests, arm.prompt_tokens, arm.completion_tokens)
        row = " ".join(fit(f"{number:,}", size, right=True) for number, size in zip(numbers, sizes[1:4], strict=True))
        row += " " + fit(money(arm.cost), sizes[4], right=True)
        name = fit(clean(arm.name, limit=80), sizes[0])
        lines.append(
            Content.assemble(
                (name, "bold"), f" {row}  ", (cut(clean(arm.url, limit=300), max(1, width - sum(sizes) - 7)), MUTED)
            )
        )
    return lines


def _pins(preview: Preview, width: int) -> list[Content]:
    """One row a pin, arms side by side; where they differ the row is marked."""
    column = max(12, (width - 26) // max(1, len(preview.arms)))
    names = list(dict.fromkeys(name for arm in preview.arms for name in arm.pins))
    heads = "".join(fit(clean(arm.name, limit=80), column) for arm in preview.arms)
    lines = [Content.styled(fit("  pin", 26) + heads, MUTED)]
    for name in names:
        values = [_value(arm.pins.get(name)) for arm in preview.arms]
        differs = len(set(values)) > 1
        row = "".join(fit(cut(value, column - 1), column) for value in values)
        label = fit(("! " if differs else "  ") + clean(name, limit=80), 26)
        lines.append(Content.assemble((label, "$warning" if differs else MUTED), (row, "bold" if differs else "")))
    return lines


def _value(value: PinValue) -> str:
    return NOTHING if value is None else clean(str(value), limit=200)
