"""``evaltui studies``: the ledger."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import db_option, json_option


@click.command(short_help=VERBS["studies"])
@db_option
@json_option
def studies(db: Path, as_json: bool) -> None:
    """List every study in the database, newest first."""
    from evaltui import store
    from evaltui.cli.output import print_json, print_text, talk

    found = store.studies(db)
    if as_json:
        print_json(
            [
                {
                    "id": info.id,
                    "name": info.design.name,
                    "status": info.status,
                    "reason": info.reason,
                    "live": info.live,
                    "created": info.created,
                    "arms": list(info.design.arm_names),
                    "items": info.design.n_items,
                    "repeats": info.design.repeats,
                }
                for info in found
            ]
        )
        return
    if not found:
        talk(f"no studies in {db} yet: evaltui demo shows one, evaltui init starts one")
        return
    from evaltui.report.ledger import ledger_table

    print_text(ledger_table(found))
