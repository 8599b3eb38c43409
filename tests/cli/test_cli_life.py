"""What an engine outlives: signals, the loss of its terminal, a machine that sleeps, a clock that is set back."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from answering_server import AnsweringServer
from evaltui_process import Evaltui, environment

from evaltui import store
from evaltui.report.live import Live

N_CELLS: Final = 40 * 2 * 3
ENDPOINT: Final = 'kind = "simulator"\ntimeout_s = 5'
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def run(tmp_path: Path, study_file: Path) -> Iterator[Start]:
    """``run(server, stderr=…, …)``: the study of 240 cells against that server, in a process of its own."""
    running: list[subprocess.Popen[bytes]] = []

    def start(server: AnsweringServer, *, settings: str = "", **how: Any) -> subprocess.Popen[bytes]:
        text = study_file.read_text(encoding="utf-8")
        text = text[: text.index("[endpoints.sim.simulator]")] + text[text.index("[arms.baseline]") :]
        text = text.replace(ENDPOINT, f'{ENDPOINT}\nbase_url = "{server.url}"')
        if settings:
            text = text.replace("timeout_s = 5\n", "").replace("retries = 2", settings)
        study_file.write_text(text, encoding="utf-8")
        nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        arguments = [sys.executable, "-m", "evaltui", "run", "study.toml", "--headless", "--db", "t.db"]
        running.append(subprocess.Popen(arguments, cwd=tmp_path, **{**nowhere, "env": environment(), **how}))
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait()


def under_way(server: AnsweringServer, calls: int = 20) -> None:
    while len(server.answered) < calls:
        time.sleep(0.01)


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{folder / 't.db'}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(sql).fetchall()


def insist_whole(folder: Path) -> None:
    """Every cell has its one verdict, and the study knows that it is finished."""
    assert rows(folder, "select state from studies") == [("finished",)]
    assert rows(folder, "select count(*), count(distinct run || ' ' || position) from v_cells") == [(N_CELLS, N_CELLS)]


def time_left(db: Path, now: float) -> float | None:
    """What a screen says at that moment of the wall clock."""
    study = store.resolve(db, "latest").id
    with closing(store.Follower(db, study)) as follower:
        delta = follower.poll()
        assert delta is not None
        live = Live(delta.info, store.items(db, study))
        live.apply(delta)
        return live.summary(now).progress.eta_s


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_after_the_calls_in_flight(
    number: signal.Signals, tmp_path: Path, run: Start, evaltui: Evaltui
) -> None:
    with AnsweringServer(0.1) as server:
        engine = run(server, stderr=subprocess.PIPE)
        under_way(server)
        engine.send_signal(number)
        _, said = engine.communicate(timeout=20)
        server.settle()
        # Nothing that was answered is thrown away, and nothing was called after it.
        assert rows(tmp_path, "select count(*) from v_cells") == [(len(server.answered),)]
        assert engine.returncode == 130
        assert b"the study is stopped: interrupted; evaltui resume" in said
        again = evaltui("resume", "latest", "--headless", "--db", "t.db")
    assert again.returncode == 0, again.stderr
    insist_whole(tmp_path)
    assert sum(map(len, server.answered.values())) == N_CELLS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_second_signal_cuts_the_calls_in_flight_off(number: signal.Signals, tmp_path: Path, run: Start) -> None:
    with AnsweringServer(0.05) as server:
        engine = run(server, settings="timeout_s = 60")
        under_way(server)
        server.delay_s = 30.0
        time.sleep(0.3)
        engine.send_signal(number)
        time.sleep(0.5)
        assert engine.poll() is None
        asked = time.monotonic()
        engine.send_signal(number)
        assert engine.wait(10) == 130
        assert time.monotonic() - asked < 5
        cut = rows(tmp_path, "select count(*) from v_attempts where status = 'cancelled'")
    # One of the eight may have been waiting to be asked again.
    assert cut in ([(7,)], [(8,)])
    assert rows(tmp_path, "select state from studies") == [("stopped",)]


@pytest.mark.parametrize("closed", ["stderr", "stdout and stderr", "both from the start"])
def test_a_study_goes_on_to_its_end_when_its_pipes_are_closed(
    closed: str, tmp_path: Path, run: Start, evaltui: Evaltui
) -> None:
    with AnsweringServer(0.03) as server:
        if closed == "both from the start":
            reading, writing = os.pipe()
            os.close(reading)
            engine = run(server, stdout=writing, stderr=writing)
            os.close(writing)
        else:
            out = subprocess.PIPE if "stdout" in closed else subprocess.DEVNULL
            engine = run(server, stdout=out, stderr=subprocess.PIPE)
            under_way(server)
            for stream in filter(None, (engine.stdout, engine.stderr)):
                stream.close()
        assert engine.wait(60) == 0
    insist_whole(tmp_path)


def test_a_study_runs_without_any_stream_at_all(tmp_path: Path, study_file: Path) -> None:
    command = f'exec "{sys.executable}" -m evaltui run study.toml --headless --db t.db <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment(), check=False).returncode == 0
    insist_whole(tmp_path)


@pytest.mark.parametrize("ignored", [False, True], ids=["stops cleanly", "goes on under nohup"])
def test_the_terminal_goes(ignored: bool, tmp_path: Path, study_file: Path, evaltui: Evaltui) -> None:
    master, slave = pty.openpty()
    trap = "trap '' HUP; " if ignored else ""
    shell = f"{trap}exec '{sys.executable}' -m evaltui run study.toml --headless --db t.db"
    engine = subprocess.Popen(
        ["sh", "-c", shell],
        cwd=tmp_path,
        env=environment(),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    seen = b""
    while b"of 240" not in seen or b"0 of 240" in seen[-60:]:
        seen += os.read(master, 4096)
    os.close(master)
    code = engine.wait(60)
    if ignored:
        insist_whole(tmp_path)
        return
    assert code == 130
    assert rows(tmp_path, "select state, reason from studies") == [("stopped", "interrupted")]
    assert evaltui("resume", "latest", "--headless", "--db", "t.db").returncode == 0
    insist_whole(tmp_path)


def test_what_a_users_function_prints_after_the_terminal_has_gone_fails_no_call(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import sys, time\n"
        "def ask(document):\n"
        "    time.sleep(0.05)\n"
        "    print('asked'); print('asked', file=sys.stderr, flush=True)\n"
        "    return '4'\n",
        encoding="utf-8",
    )
    rows_ = "".join(json.dumps({"id": f"i{n}", "question": "2 + 2", "answer": "4"}) + "\n" for n in range(60))
    (tmp_path / "items.jsonl").write_text(rows_, encoding="utf-8")
    (tmp_path / "study.toml").write_text(
        '[study]\nname = "own"\nrepeats = 1\nconcurrency = 2\n[dataset]\npath = "items.jsonl"\ngold = "answer"\n'
        '[endpoints.own]\nkind = "python"\nfunction = "own:ask"\nretries = 0\n'
        '[arms.baseline]\nendpoint = "own"\nmodel = "m"\nprompt_text = "{{question}}"\n'
        '[scorers.number]\nkind = "numeric"\n',
        encoding="utf-8",
    )
    engine = subprocess.Popen(
        [sys.executable, "-m", "evaltui", "run", "study.toml", "--headless", "--db", "t.db"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert engine.stderr is not None
    assert engine.stdout is not None
    while b"asked" not in engine.stderr.readline():
        pass
    engine.stderr.close()
    engine.stdout.close()
    assert engine.wait(60) == 0
    assert rows(tmp_path, "select status, count(*) from v_cells group by status") == [("ok", 60)]


def test_calls_that_a_sleeping_machine_cut_off_are_made_again(tmp_path: Path, run: Start, evaltui: Evaltui) -> None:
    with AnsweringServer(0.1) as server:
        # Without retries, each call that timed out would be an item lost; ten of them would pause the study.
        engine = run(server, settings="timeout_s = 2\nretries = 0\nretry_timeouts = false")
        under_way(server, 30)
        server.delay_s = 0.6
        time.sleep(0.2)
        engine.send_signal(signal.SIGSTOP)
        server.delay_s = 0.03
        time.sleep(2)
        refused = evaltui("resume", "latest", "--headless", "--db", "t.db")
        time.sleep(1.5)
        engine.send_signal(signal.SIGCONT)
        assert engine.wait(60) == 0
    assert refused.returncode != 0
    assert "is run by process" in refused.stderr
    insist_whole(tmp_path)
    slept = "select status, message from v_attempts where status not in ('ok', 'server_error')"
    assert set(rows(tmp_path, slept)) == {("timeout", "this machine slept during the call")}
    assert rows(tmp_path, "select count(*) from v_cells where status not in ('ok', 'server_error')") == [(0,)]
    assert rows(tmp_path, "select count(*) from leases") == [(0,)]


def test_a_clock_that_is_set_back_only_stamps(tmp_path: Path, run: Start, evaltui: Evaltui) -> None:
    shifted = tmp_path / "shifted"
    shifted.mkdir()
    (shifted / "sitecustomize.py").write_text(
        "import os, time\n"
        "real = time.time\n"
        "time.time = lambda: real() - (3600 if os.path.exists(os.environ['SET_BACK']) else 0)\n",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(shifted), *filter(None, [os.environ.get("PYTHONPATH")])])
    flag = tmp_path / "set-back"
    with AnsweringServer(0.08) as server:
        moved = environment() | {"PYTHONPATH": path, "SET_BACK": str(flag)}
        engine = run(server, env=moved)
        under_way(server, 80)
        flag.touch()
        under_way(server, 160)
        left = time_left(tmp_path / "t.db", time.time() - 3600)
        assert engine.wait(60) == 0
    assert left is not None
    assert 0 <= left < 60
    insist_whole(tmp_path)
    ((shortest, longest, wait),) = rows(
        tmp_path, "select min(latency_s), max(latency_s), min(wait_s + queue_wait_s) from v_attempts"
    )
    assert 0 <= shortest <= longest < 5
    assert wait >= 0
    stamps = [at for (at,) in rows(tmp_path, "select at from events order by key")]
    assert stamps != sorted(stamps)
    kinds = [kind for (kind,) in rows(tmp_path, "select kind from events order by key")]
    assert kinds[-1] == "finished"
    assert kinds[:2] == ["environment", "started"]
    report = json.loads(evaltui("report", "latest", "--json", "--db", "t.db").stdout)
    for arm in report["arms"].values():
        for each in arm["runs"]:
            assert each["started"] <= each["finished"]
            assert 0 <= each["latency"]["p50"] < 5
    assert report["comparison"]["marks"] == []
