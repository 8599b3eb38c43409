"""One engine per study; a dead one is told from a live one."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from study_making import first_cell, make_study, outcome_of

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.status import StudyState
from evaltui.store.lease import HeldLease
from evaltui.store.process_identity import ProcessIdentity, runs, this_process

Start = Callable[..., subprocess.Popen[str]]


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def elsewhere(heartbeat: int) -> HeldLease:
    return HeldLease(1, "token", ProcessIdentity(1, "then", "another-host", ""), heartbeat)


def set_lease(path: Path, study: str, **columns: object) -> None:
    connection = sqlite3.connect(path)
    row = {
        "token": "t",
        "pid": 1,
        "started": "then",
        "host": "another-host",
        "namespace": "",
        "heartbeat": 5,
        **columns,
    }
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    with connection:
        connection.execute(
            f"INSERT OR REPLACE INTO leases (study, {names}) SELECT key, {marks} FROM studies WHERE id = ?",
            (*row.values(), study),
        )
    connection.close()


def test_a_second_engine_is_refused_with_pid_and_host(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study), pytest.raises(store.LeaseHeldError) as caught:
        store.Writer(path, study).__enter__()
    assert (caught.value.pid, caught.value.host) == (os.getpid(), socket.gethostname())
    assert f"process {os.getpid()} on {socket.gethostname()}" in str(caught.value)


def test_two_studies_of_one_file_run_at_the_same_time(path: Path) -> None:
    one, other = make_study(path), make_study(path)
    with store.Writer(path, one) as first, store.Writer(path, other) as second:
        first.cell(outcome_of(first_cell()))
        second.cell(outcome_of(first_cell()))
    assert all(store.cell_detail(path, study, "baseline", 1, 0).record for study in (one, other))


def test_the_lease_is_given_up_at_the_end(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study):
        assert store.resolve(path, study).live
    assert store.resolve(path, study).lease is None
    with store.Writer(path, study):
        pass


def test_a_killed_engine_of_this_host_is_taken_over_at_once(path: Path, start: Start) -> None:
    study = make_study(path, n=5000, repeats=5)
    engine = start("writing_process.py", path, study)
    assert engine.stdout is not None
    assert engine.stdout.readline() == "started\n"
    assert store.resolve(path, study).live
    engine.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, engine.pid, os.WEXITED | os.WNOWAIT)
    info = store.resolve(path, study)
    assert (info.live, info.lease is not None) == (False, True)
    with store.Writer(path, study, patience=1000):
        assert store.resolve(path, study).live


def test_a_later_process_with_the_same_pid_is_not_the_engine(path: Path) -> None:
    study = make_study(path)
    me = this_process()
    set_lease(path, study, pid=me.pid, started="before", host=me.host, namespace=me.namespace)
    assert not store.resolve(path, study).live
    with store.Writer(path, study, patience=1000):
        pass


def test_an_engine_on_another_host_is_alive_until_its_heartbeat_has_stood_still_for_15_s() -> None:
    clock = Clock()
    watch = store.LeaseWatch(clock=clock)
    assert watch.alive(elsewhere(1))
    clock.now += 14.9
    assert watch.alive(elsewhere(1))
    assert watch.alive(elsewhere(2))
    clock.now += 14.9
    assert watch.alive(elsewhere(2))
    clock.now += 0.1
    assert not watch.alive(elsewhere(2))


def test_a_new_engine_on_another_host_is_a_new_heartbeat() -> None:
    clock = Clock()
    watch = store.LeaseWatch(clock=clock)
    watch.alive(elsewhere(1))
    clock.now += 20
    assert watch.alive(replace(elsewhere(1), token="another"))


def test_a_process_of_another_container_is_not_looked_up_here() -> None:
    assert runs(replace(this_process(), namespace="pid:[1]")) is None
    assert runs(replace(this_process(), host="another-host")) is None
    assert runs(this_process()) is True


def test_an_engine_that_died_on_another_host_is_taken_over_after_watching_it(path: Path) -> None:
    study = make_study(path)
    set_lease(path, study)
    with store.Writer(path, study, patience=0.1):
        lease = store.resolve(path, study).lease
    assert lease is not None
    assert lease.pid == os.getpid()


def test_a_lease_left_on_another_host_is_cleared_after_watching_it(path: Path) -> None:
    study = make_study(path)
    set_lease(path, study)
    store.clear_lease(path, study, patience=0.1)
    assert store.resolve(path, study).lease is None


def test_a_lease_whose_engine_lives_is_not_cleared(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study):
        with pytest.raises(store.LeaseHeldError):
            store.clear_lease(path, study, patience=0.1)
        assert store.resolve(path, study).live


def test_an_engine_that_was_taken_over_stops_writing(path: Path) -> None:
    study = make_study(path)
    writer = store.Writer(path, study).__enter__()
    set_lease(path, study, pid=77)
    writer.cell(outcome_of(first_cell()))
    with pytest.raises(store.LeaseHeldError, match="process 77 on another-host"):
        writer.flush()
    with pytest.raises(store.LeaseHeldError):
        writer.state(StudyState.FINISHED)
    with pytest.raises(StoreError, match=r"1 records could not be saved: .*process 77"):
        writer.close()
    assert store.cell_detail(path, study, "baseline", 1, 0).record is None
    lease = store.resolve(path, study).lease
    assert lease is not None
    assert lease.pid == 77


def test_an_engine_that_waits_for_commands_learns_that_it_was_taken_over(path: Path) -> None:
    study = make_study(path)
    writer = store.Writer(path, study).__enter__()
    set_lease(path, study, pid=77)
    while writer.failure is None:
        pass
    with pytest.raises(store.LeaseHeldError, match="process 77 on another-host"):
        writer.commands()
    with pytest.raises(StoreError):
        writer.close()


def test_the_heartbeat_rises_while_nothing_happens(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study), store.Follower(path, study) as follower:
        seen = {read_heartbeat(path)}
        while len(seen) < 2:
            seen.add(read_heartbeat(path))
        first = follower.poll()
        assert first is not None
        assert follower.poll() is None


def read_heartbeat(path: Path) -> int:
    connection = sqlite3.connect(path)
    ((heartbeat,),) = connection.execute("SELECT heartbeat FROM leases").fetchall()
    connection.close()
    return int(heartbeat)
