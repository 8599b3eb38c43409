"""The engine as a process: started apart, refused, cut off from whoever started it."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from evaltui_process import Evaltui, environment

from evaltui import store
from evaltui.cli.launch import check, control
from evaltui.core.errors import EvaltuiError
from evaltui.core.status import Command, StudyState

KEYED = """
[study]
name = "keyed"
[dataset]
path = "items.jsonl"
gold = "answer"
[endpoints.main]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
api_key_env = "EVALTUI_TEST_NO_SUCH_KEY"
[arms.baseline]
endpoint = "main"
model = "m"
prompt_text = "{{question}}"
[scorers.number]
kind = "numeric"
"""


def ended(evaltui: Evaltui, db: str) -> str:
    """The status of the one study, once no engine runs it."""
    while (study := json.loads(evaltui("studies", "--json", "--db", db).stdout)[0])["live"]:
        time.sleep(0.05)
    return str(study["status"])


@pytest.mark.usefixtures("study_file")
def test_an_engine_that_cannot_start_says_why_with_its_own_exit_code(tmp_path: Path, evaltui: Evaltui) -> None:
    (tmp_path / "keyed.toml").write_text(KEYED, encoding="utf-8")
    refused = evaltui("run", "keyed.toml", "--detach", "--db", "t.db")
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert line.startswith("evaltui: ")
    assert "endpoints.main.api_key_env: the environment variable EVALTUI_TEST_NO_SUCH_KEY is not set" in line


@pytest.mark.usefixtures("study_file")
def test_a_study_runs_detached_without_a_home_to_write_to(tmp_path: Path, evaltui: Evaltui) -> None:
    nowhere = tmp_path / "items.jsonl" / "home"
    detached = evaltui("run", "study.toml", "--detach", "--db", "t.db", HOME=str(nowhere), XDG_STATE_HOME=str(nowhere))
    assert detached.returncode == 0, detached.stderr
    assert ended(evaltui, "t.db") == "finished"


def test_the_demo_asks_for_a_database_where_there_is_no_home(tmp_path: Path, evaltui: Evaltui) -> None:
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "home")
    refused = evaltui("demo", "--headless", HOME=nowhere, XDG_DATA_HOME=nowhere)
    assert refused.returncode == 2
    assert "name a database with --db" in refused.stderr


@pytest.mark.usefixtures("study_file")
def test_a_study_goes_on_when_nobody_reads_its_progress_any_more(tmp_path: Path, evaltui: Evaltui) -> None:
    engine = subprocess.Popen(
        [sys.executable, "-m", "evaltui", "run", "study.toml", "--headless", "--db", "t.db"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert engine.stderr is not None
    engine.stderr.readline()
    engine.stderr.close()
    assert engine.wait() == 0
    assert ended(evaltui, "t.db") == "finished"


@pytest.mark.usefixtures("study_file")
def test_a_study_under_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    engine = subprocess.Popen(
        ["sh", "-c", f'trap "" HUP; exec "{sys.executable}" -m evaltui run study.toml --headless --db t.db'],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert engine.stderr is not None
    with engine.stderr as stderr:
        while not stderr.readline().startswith(b"0 of"):
            pass
        engine.send_signal(signal.SIGHUP)
        stderr.read()
    assert engine.wait() == 0


@pytest.mark.usefixtures("study_file")
def test_a_report_that_cannot_be_made_leaves_the_file_as_it_was(tmp_path: Path, evaltui: Evaltui) -> None:
    kept = tmp_path / "report.txt"
    kept.write_text("last week's report", encoding="utf-8")
    evaltui("run", "study.toml", "--headless", "--db", "t.db")
    assert evaltui("report", "no-such-study", "--db", "t.db", "-o", "report.txt").returncode == 2
    assert kept.read_text(encoding="utf-8") == "last week's report"
    assert evaltui("report", "latest", "--db", "t.db", "-o", "report.txt").returncode == 0
    assert "baseline" in kept.read_text(encoding="utf-8")


def test_a_study_whose_key_is_not_set_is_not_begun(tmp_path: Path, study_file: Path, evaltui: Evaltui) -> None:
    text = study_file.read_text(encoding="utf-8")
    real = 'kind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "NO_SUCH_KEY"\ntimeout_s = 5'
    text = text[: text.index("[endpoints.sim.simulator]")] + text[text.index("[arms.baseline]") :]
    study_file.write_text(text.replace('kind = "simulator"\ntimeout_s = 5', real), encoding="utf-8")
    refused = evaltui("run", "study.toml", "--headless", "--db", "t.db")
    assert refused.returncode == 2
    assert "NO_SUCH_KEY is not set" in refused.stderr
    assert not (tmp_path / "t.db").exists()


@pytest.mark.usefixtures("study_file")
def test_detached_with_json_names_the_study_and_returns(evaltui: Evaltui) -> None:
    started = evaltui("run", "study.toml", "--detach", "--json", "--db", "t.db")
    assert started.returncode == 0, started.stderr
    study = json.loads(started.stdout)["study"]
    assert [row["id"] for row in json.loads(evaltui("studies", "--json", "--db", "t.db").stdout)] == [study]


def test_an_output_that_is_full_is_a_sentence(evaltui: Evaltui, tmp_path: Path) -> None:
    evaltui("demo", "--headless", "--items", "12", "--repeats", "2", "--speed", "100", "--db", "d.db")
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with full.open("w") as stream:
        command = [sys.executable, "-m", "evaltui", "report", "--db", "d.db", "--json"]
        done = subprocess.run(command, cwd=tmp_path, stdout=stream, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "evaltui: the output: No space left on device\n"


@pytest.mark.usefixtures("study_file")
def test_the_simulator_is_served_on_loopback_only(evaltui: Evaltui) -> None:
    refused = evaltui("simulate", "study.toml", "--host", "0.0.0.0")
    assert refused.returncode == 2
    assert "not a loopback address" in refused.stderr


def test_a_study_whose_engine_died_on_another_host_is_started_again(tmp_path: Path, study_file: Path) -> None:
    db = tmp_path / "t.db"
    study = store.open_study(db, check(study_file, repeats=1).plan).study_id
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute(
            "INSERT INTO leases (study, token, pid, started, host, namespace, heartbeat) "
            "VALUES (1, 'left', 1, 'then', 'another-host', '', 5)"
        )
    with pytest.raises(EvaltuiError, match="is not running, so there is nothing to pause"):
        control(db, study, Command.PAUSE, patience=0.1)
    assert "runs again" in control(db, study, Command.RESUME, patience=0.1)
    while store.resolve(db, study).live:
        time.sleep(0.05)
    assert store.resolve(db, study).state is StudyState.FINISHED


def test_settings_changed_on_a_finished_study_are_told_as_not_applied(study_file: Path, evaltui: Evaltui) -> None:
    evaltui("run", "study.toml", "--headless", "--repeats", "1", "--db", "t.db")
    text = study_file.read_text(encoding="utf-8")
    study_file.write_text(text.replace("retries = 2", "retries = 5"), encoding="utf-8")
    again = evaltui("run", "study.toml", "--headless", "--repeats", "1", "--db", "t.db")
    assert again.stderr.splitlines()[:2] == [
        "these settings are not applied to a finished study:",
        "  endpoints.sim.retries: 2 before, 5 now",
    ]
    more = evaltui("run", "study.toml", "--headless", "--repeats", "2", "--db", "t.db")
    assert more.stderr.splitlines()[:2] == ["changed settings:", "  endpoints.sim.retries: 2 before, 5 now"]


@pytest.mark.usefixtures("study_file")
def test_the_simulator_ends_quietly_when_it_is_terminated(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "evaltui", "simulate", "study.toml", "--port", "0"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    with server.stderr as stderr:
        assert stderr.readline().startswith("simulating at http://127.0.0.1:")
        server.terminate()
        assert stderr.read() == ""
    assert server.wait() == 0
