"""Full disks, locks, missing write-ahead logs, other programs: what cannot be saved now is saved later, and said."""

from __future__ import annotations

import re
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rights import without_rights
from study_making import attempt_of, cells_of, make_plan, make_study, outcome_of, write_study

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.status import StudyState
from evaltui.store import connect, schema

Start = Callable[..., subprocess.Popen[str]]
ENDLESS = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def heard(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == line + "\n"


def insist_whole(path: Path, done: int) -> None:
    """Nothing is lost, nothing is there twice."""
    found = store.verify(path)
    assert [fault for study in found.studies for fault in study.faults] + list(found.faults) == []
    assert [study.done for study in found.studies] == [done]


def test_a_database_that_may_not_grow_is_told_and_loses_nothing_once_it_may(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study, grace=0.1) as writer:
        connection = writer._connection
        ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        for cell in cells_of(make_plan()):
            writer.attempt(attempt_of(cell))
            writer.cell(outcome_of(cell, text=f"{cell.arm} {cell.position}" * 5000, reasoning=str(time.time()) * 9000))
        with pytest.raises(StoreError, match="the disk is full; 32 records wait in memory"):
            writer.flush()
        connection.execute("PRAGMA max_page_count = 1000000")
        writer.flush()
        assert writer.failure is None
    insist_whole(path, 16)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no way here to limit another process")
def test_an_engine_whose_disk_is_full_waits_says_so_and_finishes_once_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    options = ["--items", "40", "--repeats", "3", "--speed", "4", "--headless", "--db", str(path)]
    command = [sys.executable, "-m", "evaltui", "demo", *options]
    engine = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not (path.exists() and store.studies(path) and store.verify(path).studies[0].done > 5):
            assert engine.poll() is None
            time.sleep(0.02)
        resource.prlimit(engine.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        assert engine.stderr is not None
        while "no new calls: " not in (line := engine.stderr.readline()):
            assert engine.poll() is None
        assert "records wait in memory and are tried again" in line
        before = store.verify(path)
        assert (before.n_faults, before.studies[0].state) == (0, "running")
        resource.prlimit(engine.pid, resource.RLIMIT_FSIZE, ENDLESS)
        report, said = engine.communicate(timeout=60)
    finally:
        engine.kill()
        engine.communicate()
    assert engine.returncode == 0, said
    assert "candidate" in report
    insist_whole(path, 240)


def test_a_second_signal_gives_up_what_a_full_disk_does_not_take_and_says_how_much(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    options = ["--items", "40", "--repeats", "3", "--speed", "4", "--headless", "--db", str(path)]
    command = [sys.executable, "-m", "evaltui", "demo", *options]
    engine = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not (path.exists() and store.studies(path) and store.verify(path).studies[0].done > 5):
            assert engine.poll() is None
            time.sleep(0.02)
        resource.prlimit(engine.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        assert engine.stderr is not None
        while "no new calls: " not in engine.stderr.readline():
            assert engine.poll() is None
        engine.terminate()
        while "; Ctrl-C, or SIGTERM, gives them up" not in (line := engine.stderr.readline()):
            assert engine.poll() is None, line
        engine.terminate()
        _, said = engine.communicate(timeout=30)
    finally:
        engine.kill()
        engine.communicate()
    assert engine.returncode == 2
    assert re.search(r"given up; \d+ records are not saved: ", said)


WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from study_making import make_plan, write_study
from evaltui import store
from evaltui.core.errors import StoreError

path = Path(sys.argv[1])
study = write_study(path)
uses = (
    lambda: store.open_study(path.with_name("new.db"), make_plan()),
    lambda: store.open_study(path, make_plan(name="another")),
    lambda: store.extend(path, study, 900),
    lambda: store.delete(path, study),
)
for limit in (512, resource.RLIM_INFINITY):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for use in uses:
        try:
            use()
            print("done")
        except StoreError as error:
            print(error)
    if limit == 512:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        found = store.verify(path)
        print(found.n_faults, [checked.planned for checked in found.studies])
"""


def test_what_finds_no_room_is_told_and_leaves_everything_as_it_was(path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_ROOM, str(path), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *told, between, first, second, third, fourth = done.stdout.splitlines()
    assert len(told) == 4
    assert all("the disk" in line and line.startswith(str(path.parent)) for line in told)
    assert between == "0 [16]"
    assert [first, second, third, fourth] == ["done"] * 4


@pytest.fixture
def no_wal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that cannot do write-ahead logging: SQLite keeps the rollback journal, without an error."""
    monkeypatch.setattr(schema.connect, "enable_wal", lambda connection: None)


def journal_mode(path: Path) -> str:
    connection = sqlite3.connect(path)
    ((mode,),) = connection.execute("PRAGMA journal_mode").fetchall()
    connection.close()
    return str(mode)


@pytest.mark.usefixtures("no_wal")
def test_without_a_write_ahead_log_a_study_is_written_and_followed_all_the_same(path: Path) -> None:
    study = make_study(path, n=100)
    with store.Follower(path, study) as follower:
        with store.Writer(path, study) as writer:
            for cell in cells_of(make_plan(n=100)):
                writer.attempt(attempt_of(cell))
                writer.cell(outcome_of(cell))
            writer.state(StudyState.FINISHED)
        seen = sum(len(delta.cells) for delta in iter(follower.poll, None))
    assert journal_mode(path) == "delete"
    assert seen == 400
    insist_whole(path, 400)


@pytest.mark.usefixtures("no_wal")
def test_without_a_write_ahead_log_an_account_that_may_not_write_sees_what_is_new(public: Path) -> None:
    path = public / "t.db"
    study = make_study(path)
    # Rights are those of the whole process: the engine's thread could not save while they are given up.
    with store.Writer(path, study) as writer:
        with without_rights():
            follower = store.Follower(path, study)
            first = follower.poll()
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell))
        writer.flush()
        with without_rights():
            second = follower.poll()
            follower.close()
    assert first is not None
    assert second is not None
    assert (len(first.cells), len(second.cells)) == (0, 16)


@pytest.mark.usefixtures("no_wal")
def test_without_a_write_ahead_log_a_file_that_is_being_written_is_never_taken_for_damaged(
    path: Path, start: Start
) -> None:
    study = make_study(path, n=200)
    engine = start("rollback_process.py", path, study)
    while engine.poll() is None:
        connect.identify(path)
    assert engine.returncode == 0
    assert store.verify(path).studies[0].done == 800


@pytest.mark.usefixtures("no_wal")
@pytest.mark.parametrize("use", [store.studies, store.verify, lambda path: store.resolve(path, "latest")])
def test_without_a_write_ahead_log_a_killed_program_leaves_nothing_half_written(
    path: Path, start: Start, use: Callable[[Path], object]
) -> None:
    write_study(path, n=50)
    assert start("rollback_process.py", path).wait() == 9
    assert path.with_name(path.name + "-journal").exists()
    use(path)
    insist_whole(path, 200)


def test_readers_wait_for_a_program_that_locks_everybody_out_for_3_s(path: Path, start: Start) -> None:
    write_study(path)
    other = start("exclusive_process.py", path)
    heard(other, "locked")
    began = time.monotonic()
    threading.Timer(3.0, other.communicate, ["let go\n"]).start()
    assert [info.status for info in store.studies(path)] == ["finished"]
    assert time.monotonic() - began > 2.5


def test_readers_say_who_keeps_them_out_when_it_takes_longer(
    path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_study(path)
    other = start("exclusive_process.py", path)
    heard(other, "locked")
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_S", 0.1)
    for use in (store.studies, store.verify, lambda path: store.resolve(path, "latest")):
        with pytest.raises(store.LockedError, match="another program holds the database locked"):
            use(path)
    other.communicate("let go\n")
    insist_whole(path, 16)


def test_a_lock_of_3_s_is_no_failure_of_the_engine_and_the_follower_goes_on(path: Path, start: Start) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer, store.Follower(path, study) as follower:
        other = start("locking_process.py", path)
        heard(other, "locked")
        for cell in cells_of(make_plan()):
            writer.attempt(attempt_of(cell))
            writer.cell(outcome_of(cell))
        over = time.monotonic() + 3.0
        while time.monotonic() < over:
            delta = follower.poll()
            assert delta is None or len(delta.cells) == 0
            assert writer.failure is None
            time.sleep(0.1)
        other.communicate("let go\n")
        writer.flush()
        delta = follower.poll()
        assert delta is not None
        assert len(delta.cells) == 16
    insist_whole(path, 16)


def test_two_readers_and_a_program_that_packs_the_file_lose_nothing_of_a_running_study(
    path: Path, start: Start
) -> None:
    n = 500
    study = make_study(path, n=n)
    seen: dict[str, list[tuple[int, int, int]]] = {"first": [], "second": []}
    failed: list[Exception] = []

    def follow(name: str) -> None:
        try:
            with store.Follower(path, study) as follower:
                over = False
                while not over:
                    if (delta := follower.poll()) is not None:
                        cells = delta.cells
                        seen[name] += zip(cells.arm, cells.repeat, cells.position, strict=True)
                        over = delta.info.state is StudyState.FINISHED
        except Exception as error:
            failed.append(error)

    readers = [threading.Thread(target=follow, args=[name]) for name in seen]
    packing = start("vacuuming_process.py", path)
    heard(packing, "packing")
    engine = start("writing_process.py", path, study)
    for reader in readers:
        reader.start()
    output, _ = engine.communicate()
    for reader in readers:
        reader.join()
    packed, _ = packing.communicate("enough\n")
    assert failed == []
    assert output.endswith("ended\n")
    assert int(packed) > 0
    for cells in seen.values():
        assert len(cells) == len(set(cells)) == 4 * n
    insist_whole(path, 4 * n)
