"""``evaltui studies``: the ledger, and whether what it lists is intact."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import db_option, json_option
from evaltui.core.errors import FaultsFoundError

if TYPE_CHECKING:
    from evaltui.store import Verification


@click.command(short_help=VERBS["studies"])
@click.argument("study", required=False)
@db_option
@json_option
@click.option("--verify", is_flag=True, help="Read them through, or STUDY alone: every cell, reference and hash.")
def studies(study: str | None, db: Path, as_json: bool, verify: bool) -> None:
    """List every study in the database, newest first; with --verify, check that each is stored whole."""
    if verify:
        _verify(db, study, as_json=as_json)
    elif study is not None:
        raise click.UsageError(f"studies lists them all; evaltui studies --verify {study} checks one")
    else:
        _list(db, as_json=as_json)


def _list(db: Path, *, as_json: bool) -> None:
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


def _verify(db: Path, study: str | None, *, as_json: bool) -> None:
    """Print what is found; raise FaultsFoundError where that is anything."""
    from evaltui import store
    from evaltui.cli.output import print_json

    found = store.verify(db, study)
    if as_json:
        print_json(_document(found))
    else:
        for line in _lines(found):
            click.echo(line)
    if found.n_faults:
        noun = "fault" if found.n_faults == 1 else "faults"
        raise FaultsFoundError(f"{db}: {found.n_faults} {noun} found")


def _document(found: Verification) -> dict[str, object]:
    studies = [
        {
            "id": study.id,
            "name": study.name,
            "state": study.state,
            "done": study.done,
            "planned": study.planned,
            "ok": not study.faults,
            "faults": list(study.faults),
        }
        for study in found.studies
    ]
    return {
        "ok": not found.n_faults,
        "faults": list(found.faults),
        "unused_texts": found.unused_texts,
        "studies": studies,
    }


def _lines(found: Verification) -> list[str]:
    from evaltui.core.text import clean

    lines = []
    for study in found.studies:
        word = "ok" if not study.faults else "not ok"
        lines.append(f"{study.id} {study.name} ({study.state}): {word}: {study.done:,} of {study.planned:,} cells")
        lines += [f"  fault: {fault}" for fault in study.faults]
    lines += [f"fault: {fault}" for fault in found.faults]
    if found.unused_texts:
        lines.append(f"{found.unused_texts:,} texts are used by no study; that is no fault")
    return [clean(line) for line in lines]
