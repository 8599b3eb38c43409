"""One engine a study: the second is refused, says who runs it, and disturbs nothing."""

from __future__ import annotations

import socket
import time
from pathlib import Path

from evaltui_process import Evaltui, start

from evaltui import store
from evaltui.cli.launch import check


def test_a_second_engine_is_refused_with_pid_and_host(tmp_path: Path, study_file: Path, evaltui: Evaltui) -> None:
    db = tmp_path / "t.db"
    text = study_file.read_text(encoding="utf-8")
    study_file.write_text(text.replace("speed = 1.0", "speed = 0.25"), encoding="utf-8")
    study = store.open_study(db, check(study_file).plan).study_id
    resume = ("resume", study, "--headless", "--db", "t.db")
    first = start(tmp_path, *resume)
    try:
        while not store.resolve(db, study).live:
            assert first.poll() is None
            time.sleep(0.01)
        second = evaltui(*resume)
        assert first.wait(timeout=120) == 0
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 2
    assert second.stdout == ""
    assert second.stderr.splitlines()[-1] == (
        f"evaltui: study {study} is run by process {first.pid} on {socket.gethostname()}; "
        f"`evaltui watch {study}` follows it"
    )
    found = store.verify(db, study)
    assert (found.n_faults, found.studies[0].done) == (0, 240)
    assert [event.kind for event in store.events(db, study) if event.level == "error"] == []
