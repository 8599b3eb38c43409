"""What the engine puts in is in the file: once, soon, and whatever stands in the way."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import RawIOBase
from pathlib import Path

import pytest
from study_making import attempt_of, cells_of, first_cell, make_plan, make_study, outcome_of

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.records import Cell, Event, Usage
from evaltui.core.status import Command, Status, StudyState
from evaltui.store import connect

Start = Callable[..., subprocess.Popen[str]]


def count(path: Path, table: str) -> int:
    connection = sqlite3.connect(path)
    ((number,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    connection.close()
    return int(number)


def until(condition: Callable[[], object]) -> None:
    """Wait for what another thread is about to do; the test run's own time limit ends it."""
    while not condition():
        pass


def received(writer: store.Writer, number: int) -> list[Command]:
    """The next commands, however they are split over calls."""
    got: list[Command] = []
    while len(got) < number:
        got += writer.commands()
    return got


def test_a_cell_is_read_back_as_it_was_written(path: Path) -> None:
    study = make_study(path)
    attempts = (
        attempt_of(first_cell(), 1, status=Status.RATE_LIMITED, http_status=429, message="slow down", wait_s=1.5),
        attempt_of(
            first_cell(),
            2,
            queue_wait_s=0.25,
            usage=Usage(10, 20, 5),
            cost=0.01,
            model="m-1",
            fingerprint="fp",
            seed=3,
            request_hash=b"h" * 16,
            in_flight=6,
        ),
    )
    outcome = outcome_of(first_cell(), text="4", reasoning="two and two", attempts=2)
    with store.Writer(path, study) as writer:
        for attempt in attempts:
            writer.attempt(attempt)
        writer.cell(outcome)
    assert store.cell_detail(path, study, "baseline", 1, 0) == store.CellDetail(outcome, attempts)


def test_the_highest_revision_is_the_current_one(path: Path) -> None:
    study = make_study(path)
    second = outcome_of(first_cell(), text="5", label="5", revision=1)
    with store.Writer(path, study) as writer:
        writer.cell(outcome_of(first_cell()))
        writer.cell(second)
    assert store.cell_detail(path, study, "baseline", 1, 0).record == second
    assert store.events(path, study) == []


@pytest.mark.parametrize(("arm", "repeat", "position"), [("other", 1, 0), ("baseline", 3, 0), ("baseline", 1, 4)])
def test_looking_up_a_cell_that_the_study_has_not_is_refused(path: Path, arm: str, repeat: int, position: int) -> None:
    study = make_study(path)
    with pytest.raises(StoreError, match="the study has no"):
        store.cell_detail(path, study, arm, repeat, position)


def test_a_cell_of_which_nothing_is_stored_yet_is_empty(path: Path) -> None:
    assert store.cell_detail(path, make_study(path), "baseline", 1, 0) == store.CellDetail(None, ())


def test_numbers_beyond_64_bits_are_held_at_the_limit(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        writer.attempt(attempt_of(first_cell(), usage=Usage(2**70, -(2**70), None), http_status=200))
    (attempt,) = store.cell_detail(path, study, "baseline", 1, 0).attempts
    assert attempt.usage == Usage(2**63 - 1, -(2**63 - 1), None)


def test_a_change_of_state_is_committed_with_all_before_it_without_closing(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        writer.cell(outcome_of(first_cell()))
        writer.state(StudyState.PAUSED, "endpoint down")
        until(lambda: store.resolve(path, study).state is StudyState.PAUSED)
        assert store.resolve(path, study).reason == "endpoint down"
        assert store.cell_detail(path, study, "baseline", 1, 0).record is not None


def test_cells_are_committed_without_being_asked(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        writer.cell(outcome_of(first_cell()))
        until(lambda: store.cell_detail(path, study, "baseline", 1, 0).record is not None)


def test_the_done_masks_tell_a_resumed_engine_what_is_left(path: Path) -> None:
    study = make_study(path, n=3, repeats=1)
    with store.Writer(path, study) as writer:
        assert not any(mask.any() for mask in writer.terminal().values())
        writer.cell(outcome_of(Cell("candidate", 1, 2, "item-2")))
    with store.Writer(path, study) as writer:
        masks = {run: mask.tolist() for run, mask in writer.terminal().items()}
    assert masks == {("baseline", 1): [False, False, False], ("candidate", 1): [False, False, True]}


def test_a_resumed_engine_learns_what_earlier_calls_cost_and_who_answered(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        writer.attempt(attempt_of(first_cell(), cost=0.25, model="m-1"))
        writer.attempt(attempt_of(first_cell(), 2, cost=0.5, model="m-2", fingerprint="fp"))
    with store.Writer(path, study) as writer:
        earlier = writer.earlier()
    assert (earlier.cost, earlier.calls) == (0.75, 2)
    assert (earlier.models, earlier.fingerprints) == ({"baseline": ("m-1", "m-2")}, {"baseline": ("fp",)})


def test_a_second_verdict_of_a_revision_is_an_error_event_and_the_first_stands(path: Path) -> None:
    study = make_study(path)
    others = [cell for cell in cells_of(make_plan()) if cell != first_cell()]
    with store.Writer(path, study) as writer:
        writer.cell(outcome_of(first_cell(), label="first"))
        writer.cell(outcome_of(first_cell(), label="second"))
        for cell in others:
            writer.cell(outcome_of(cell))
    record = store.cell_detail(path, study, "baseline", 1, 0).record
    assert record is not None
    assert record.verdicts[0].label == "first"
    assert count(path, "verdicts") == 2 * 16
    events = store.events(path, study)
    assert {(event.kind, event.level, event.arm, event.repeat) for event in events} == {
        ("duplicate", "error", "baseline", 1)
    }


@pytest.mark.parametrize(
    "cell", [Cell("other", 1, 0, "item-0"), Cell("baseline", 3, 0, "item-0"), Cell("baseline", 1, 4, "item-4")]
)
def test_a_cell_of_no_run_is_refused_where_it_is_made(path: Path, cell: Cell) -> None:
    with store.Writer(path, make_study(path)) as writer:
        with pytest.raises(StoreError, match="not part of this study"):
            writer.cell(outcome_of(cell))
        with pytest.raises(StoreError, match="not part of this study"):
            writer.attempt(attempt_of(cell))


def test_a_verdict_of_an_unknown_scorer_is_refused(path: Path) -> None:
    with store.Writer(path, make_study(path)) as writer:
        outcome = outcome_of(first_cell())
        with pytest.raises(StoreError, match="'judge' is not a scorer"):
            writer.cell(replace(outcome, verdicts=(replace(outcome.verdicts[0], scorer="judge"),)))


def test_closing_twice_does_nothing(path: Path) -> None:
    writer = store.Writer(path, make_study(path)).__enter__()
    writer.close()
    writer.close()


def test_a_closed_writer_takes_nothing_more(path: Path) -> None:
    with store.Writer(path, make_study(path)) as writer:
        pass
    with pytest.raises(StoreError, match="is closed"):
        writer.cell(outcome_of(first_cell()))


def test_full_synchronous_mode_writes_the_same(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study, synchronous="FULL") as writer:
        writer.cell(outcome_of(first_cell()))
    assert store.cell_detail(path, study, "baseline", 1, 0).record == outcome_of(first_cell())


def test_commands_arrive_in_order_and_once(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        store.send(path, study, Command.PAUSE)
        store.send(path, study, Command.RESUME)
        assert received(writer, 2) == [Command.PAUSE, Command.RESUME]
        assert writer.commands() == []


def test_commands_for_an_engine_that_died_are_not_for_the_next_one(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study):
        store.send(path, study, Command.STOP)
    with store.Writer(path, study) as writer:
        store.send(path, study, Command.PAUSE)
        assert received(writer, 1) == [Command.PAUSE]


def test_a_lock_held_by_another_process_delays_and_loses_nothing(path: Path, start: Start) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        other = start("locking_process.py", path)
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell))
        assert count(path, "verdicts") == 0
        other.communicate("let go\n")
        writer.flush()
        assert writer.failure is None
        assert count(path, "verdicts") == 2 * 16


def test_a_lock_held_for_long_is_told_and_loses_nothing(
    path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_S", 0.05)
    study = make_study(path)
    with store.Writer(path, study, grace=0.2) as writer:
        other = start("locking_process.py", path)
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell))
        until(lambda: writer.failure)
        assert "another program holds the database locked; 16 records wait in memory" in str(writer.failure)
        with pytest.raises(StoreError, match="holds the database locked"):
            writer.flush()
        other.communicate("let go\n")
        writer.flush()
        assert writer.failure is None
    assert count(path, "verdicts") == 2 * 16


def test_a_reader_that_keeps_its_transaction_open_does_not_stop_the_writer(path: Path) -> None:
    study = make_study(path)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM verdicts").fetchall()
    with store.Writer(path, study) as writer:
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell))
        writer.flush()
        assert writer.failure is None
    reader.close()
    assert count(path, "verdicts") == 2 * 16


def test_closing_while_nothing_can_be_written_says_how_many_records_are_lost(
    path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_S", 0.05)
    writer = store.Writer(path, make_study(path), grace=0.2).__enter__()
    other = start("locking_process.py", path)
    assert other.stdout is not None
    assert other.stdout.readline() == "locked\n"
    for cell in cells_of(make_plan()):
        writer.cell(outcome_of(cell))
    with pytest.raises(StoreError, match="16 records could not be saved: another program holds the database locked"):
        writer.close()


def test_closing_says_why_it_waits_and_loses_nothing_however_long_that_takes(
    path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_S", 0.05)
    told: list[str] = []

    def let_go(failure: StoreError) -> None:
        told.append(str(failure))
        other.communicate("let go\n")

    with store.Writer(path, make_study(path), waiting=let_go) as writer:
        other = start("locking_process.py", path)
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell))
    assert told == [f"{path}: another program holds the database locked; 16 records wait in memory and are tried again"]
    assert count(path, "verdicts") == 2 * 16


def test_a_last_attempt_that_succeeds_after_the_patience_is_over_loses_nothing(
    path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_S", 0.05)

    def let_go(_: StoreError) -> None:
        other.communicate("let go\n")

    with store.Writer(path, make_study(path), grace=0.0, waiting=let_go) as writer:
        other = start("locking_process.py", path)
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell))
    assert count(path, "verdicts") == 2 * 16


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB, where the tests may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this account may not mount a file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill_up(stream: RawIOBase) -> None:
    while True:
        stream.write(bytes(4096))


def test_a_full_disk_is_told_and_loses_nothing_once_there_is_room(small_disk: Path) -> None:
    path = small_disk / "t.db"
    study = make_study(path)
    plan = make_plan()
    with store.Writer(path, study, grace=0.1) as writer:
        ballast = small_disk / "ballast"
        with ballast.open("wb", buffering=0) as stream, pytest.raises(OSError, match="No space left"):
            fill_up(stream)
        for cell in cells_of(plan):
            writer.cell(outcome_of(cell, text=os.urandom(3000).hex()))
        with pytest.raises(StoreError, match="the disk is full; 16 records wait in memory"):
            writer.flush()
        ballast.unlink()
        writer.flush()
        assert writer.failure is None
        assert count(path, "verdicts") == 2 * 16


LIMITED = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from study_making import cells_of, make_plan, outcome_of
from evaltui import store
from evaltui.core.errors import StoreError

path, study = Path(sys.argv[1]), sys.argv[2]
with store.Writer(path, study, grace=0.1) as writer:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    for cell in cells_of(make_plan()):
        writer.cell(outcome_of(cell))
    try:
        writer.flush()
    except StoreError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit on file sizes here")
def test_a_disk_that_refuses_to_write_is_told_and_loses_nothing(path: Path) -> None:
    study = make_study(path)
    command = [sys.executable, "-c", LIMITED, str(path), study, str(Path(__file__).parent)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "the disk reports an error; 16 records wait in memory" in result.stdout
    assert count(path, "verdicts") == 2 * 16


def test_an_event_keeps_every_field(path: Path) -> None:
    study = make_study(path)
    event = Event(12.5, "weather", "candidate#2 is slow", "warning", "candidate", 2)
    with store.Writer(path, study) as writer:
        writer.event(event)
    assert store.events(path, study) == [event]


def test_a_loop_that_never_waits_is_told_that_the_writer_is_behind(path: Path) -> None:
    plan = make_plan(n=2_000, repeats=1)
    study = store.open_study(path, plan).study_id
    most = 0
    with store.Writer(path, study) as writer:
        for cell in cells_of(plan):
            writer.attempt(attempt_of(cell, 1))
            writer.cell(outcome_of(cell))
            while writer.behind:
                time.sleep(0.001)
            most = max(most, writer.backlog)
        writer.flush()
        assert (writer.backlog, writer.behind) == (0, False)
    assert 0 < most <= 1_002
