"""A file that no reader can find any more is not written into."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_making import make_study

from evaltui import store
from evaltui.core.errors import StoreError


def listen_for_ever(writer: store.Writer) -> None:
    while True:
        writer.commands()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_that_is_deleted_or_replaced_ends_its_engine(
    path: Path, replaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaltui.store.saver.HEARTBEAT_S", 0.05)
    study_id = make_study(path)
    writer = store.Writer(path, study_id)
    writer.__enter__()
    copy = path.with_name("copy.db")
    if replaced:
        copy.write_bytes(b"another file")
        copy.replace(path)
    else:
        path.unlink()
    with pytest.raises(StoreError, match="was replaced" if replaced else "was deleted"):
        listen_for_ever(writer)
    with pytest.raises(StoreError):
        writer.close()
