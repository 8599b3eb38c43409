"""The ledger of studies as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from evaltui.core.study import StudyInfo
from evaltui.core.text import clean


def ledger_table(found: Sequence[StudyInfo]) -> Table:
    """One row per study, in the order given."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("id", "study", "state", "arms"):
        table.add_column(heading, overflow="fold")
    for heading in ("items", "repeats"):
        table.add_column(heading, justify="right")
    table.add_column("started")
    for info in found:
        design = info.design
        table.add_row(
            Text(info.id),
            Text(clean(design.name)),
            Text(info.status),
            Text(clean(", ".join(design.arm_names))),
            f"{design.n_items:,}",
            f"{design.repeats:,}",
            time.strftime("%Y-%m-%d %H:%M", time.localtime(info.created)),
        )
    return table
