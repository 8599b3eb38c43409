"""No key is found anywhere: every file that is written, everything that is printed, and the screen."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from echoing_server import ANSWERS, echoing
from evaltui_process import Evaltui, environment

KEY: Final = "sk-test-CANARY0123456789"
GATE: Final = "open CANARY sesame"
"""The value of a header that has not the shape of a key."""

STUDY: Final = """
[study]
name = "keys"
repeats = 2
concurrency = 4
max_errors = 1
[dataset]
path = "items.jsonl"
gold = "answer"
[endpoints.main]
kind = "openai"
base_url = "{url}"
api_key_env = "A_TEST_KEY"
headers = {{ X-Gate = "{gate}" }}
timeout_s = 5
retries = 1
[arms.baseline]
endpoint = "main"
model = "m"
prompt_text = "{{{{question}}}}"
[scorers.number]
kind = "numeric"
"""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home of its own, so that logs are searched too, and the key."""
    folder = tmp_path / "home"
    folder.mkdir()
    names = ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    return dict.fromkeys(names, str(folder)) | {"A_TEST_KEY": KEY}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., None]:
    """``write(url)``: a study whose items ask for a secret in every place, one of them each."""

    def study(url: str, gate: str = GATE) -> None:
        rows = [{"id": place, "question": place, "answer": "4"} for place in ANSWERS]
        (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        (tmp_path / "study.toml").write_text(STUDY.format(url=url, gate=gate), encoding="utf-8")

    return study


def insist_no_canary(folder: Path, *said: subprocess.CompletedProcess[str]) -> None:
    """Look at every byte below ``folder`` but the study file itself, and at all that was printed."""
    searched = [path for path in folder.rglob("*") if path.is_file() and path.name != "study.toml"]
    assert not [path for path in searched if b"CANARY" in path.read_bytes()]
    for each in said:
        assert "CANARY" not in each.stdout + each.stderr


def on_screen(folder: Path, home: dict[str, str], *arguments: str, keys: str) -> bytes:
    """Everything that a terminal was sent while ``evaltui ARGUMENTS`` ran in it and ``keys`` were pressed."""
    master, slave = pty.openpty()
    shown = subprocess.Popen(
        [sys.executable, "-m", "evaltui", *arguments],
        cwd=folder,
        env=environment() | home | {"TERM": "xterm-256color", "COLUMNS": "150", "LINES": "50"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    drawn = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):
            while data := os.read(master, 65536):
                drawn.extend(data)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    give_up = time.monotonic() + 20
    while b"baseline" not in drawn and time.monotonic() < give_up:
        time.sleep(0.05)
    for key in keys:
        os.write(master, key.encode())
        time.sleep(0.4)
    shown.terminate()
    shown.wait(20)
    reader.join(5)
    os.close(master)
    return bytes(drawn)


def test_a_server_that_gives_its_secrets_back_finds_them_kept_nowhere(
    tmp_path: Path, evaltui: Evaltui, write: Callable[..., None], home: dict[str, str]
) -> None:
    loud = home | {"PYTHONASYNCIODEBUG": "1", "PYTHONDEVMODE": "1", "EVALTUI_DEBUG": "1"}
    with echoing() as (url, seen):
        write(url)
        said = [
            evaltui("check", "study.toml", "--ping", **home),
            evaltui("run", "study.toml", "--headless", "--db", "t.db", **loud),
            evaltui("run", "study.toml", "--repeats", "3", "--detach", "--db", "t.db", **loud),
        ]
        while json.loads(evaltui("studies", "--json", "--db", "t.db", **home).stdout)[0]["live"]:
            time.sleep(0.1)
    assert set(seen) == {f"Bearer {KEY} {GATE}"}
    said += [
        evaltui("report", "latest", "--db", "t.db", **home),
        evaltui("report", "latest", "--json", "--db", "t.db", **home),
        evaltui("report", "latest", "-o", "report.txt", "--db", "t.db", **home),
        evaltui("studies", "--json", "--db", "t.db", **home),
    ]
    assert [each.returncode for each in said[1:]] == [0] * 6, said[1].stderr
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        texts = [row[0] for row in connection.execute("select message from attempts")]
    assert any("••••" in text for text in texts)
    assert list((tmp_path / "home").rglob("engine-*.log"))
    insist_no_canary(tmp_path, *said)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pseudo-terminal")
def test_the_screen_shows_no_secret(
    tmp_path: Path, evaltui: Evaltui, write: Callable[..., None], home: dict[str, str]
) -> None:
    with echoing() as (url, _):
        write(url)
        evaltui("run", "study.toml", "--headless", "--db", "t.db", **home)
    # Through the runs, a cell's answer and its attempts, and the events.
    drawn = on_screen(tmp_path, home, "watch", "latest", "--db", "t.db", keys="\t\r\t\r\x1bh\rjjl\r\r")
    assert b"baseline" in drawn
    assert "••••".encode() in drawn
    assert b"CANARY" not in drawn
    insist_no_canary(tmp_path)


def test_a_refused_key_that_comes_back_in_the_refusal(
    tmp_path: Path,
    evaltui: Evaltui,
    scripted: Callable[[str], str],
    write: Callable[..., None],
    home: dict[str, str],
) -> None:
    write(scripted("H_key_echo"))
    ended = evaltui("run", "study.toml", "--headless", "--db", "t.db", **home)
    assert ended.returncode == 4
    assert "Incorrect API key provided: ••••6789" in ended.stderr
    detached = evaltui("run", "study.toml", "--detach", "--db", "t.db", **home)
    while json.loads(evaltui("studies", "--json", "--db", "t.db", **home).stdout)[0]["live"]:
        time.sleep(0.1)
    insist_no_canary(tmp_path, ended, detached, evaltui("report", "latest", "--db", "t.db", **home))


def test_no_connection_and_no_secret_in_what_is_said_of_it(
    tmp_path: Path, evaltui: Evaltui, write: Callable[..., None], home: dict[str, str]
) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        write(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        ended = evaltui(
            "run",
            "study.toml",
            "--headless",
            "--json",
            "--db",
            "t.db",
            **home,
            PYTHONASYNCIODEBUG="1",
            EVALTUI_DEBUG="1",
        )
    assert ended.returncode == 4
    assert "no connection" in ended.stderr
    insist_no_canary(tmp_path, ended)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('base_url = "', 'base_url = "http://user:CANARYPW@127.0.0.1:9/v1" # "'),
        ('base_url = "', f'base_url = "http://127.0.0.1:9/v1?key={KEY}" # "'),
        ('timeout_s', f'api_key = "{KEY}"\ntimeout_s'),
        ('X-Gate = "', 'X-Api-Key = "CANARY", X-Gate = "'),
        (GATE, KEY),
        ('"A_TEST_KEY"', f'"{KEY}"'),
    ],
)  # fmt: skip
def test_a_key_in_the_study_file_is_refused_without_being_shown(
    tmp_path: Path, evaltui: Evaltui, write: Callable[..., None], home: dict[str, str], old: str, new: str
) -> None:
    write("http://127.0.0.1:9/v1")
    file = tmp_path / "study.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    said = [evaltui(*verb, **home) for verb in (("check", "study.toml"), ("run", "study.toml", "--db", "t.db"))]
    assert [each.returncode for each in said] == [2, 2]
    assert not (tmp_path / "t.db").exists()
    insist_no_canary(tmp_path, *said)


def test_an_engine_killed_amid_its_calls_leaves_no_secret_in_the_log_of_the_database(
    tmp_path: Path, evaltui: Evaltui, write: Callable[..., None], home: dict[str, str]
) -> None:
    with echoing() as (url, seen):
        write(url)
        engine = subprocess.Popen(
            [sys.executable, "-m", "evaltui", "run", "study.toml", "--headless", "--db", "t.db", "--repeats", "300"],
            cwd=tmp_path,
            env=environment() | home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while len(seen) < 60:
            time.sleep(0.02)
        engine.send_signal(signal.SIGKILL)
        engine.wait()
    assert (tmp_path / "t.db-wal").stat().st_size > 0
    insist_no_canary(tmp_path)


def test_another_key_makes_no_other_configuration(
    tmp_path: Path, evaltui: Evaltui, write: Callable[..., None], home: dict[str, str]
) -> None:
    def pin_hashes() -> list[tuple[str, ...]]:
        with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
            return connection.execute("select pin_hash, config from studies").fetchall()

    with echoing() as (url, seen):
        write(url)
        evaltui("run", "study.toml", "--headless", "--repeats", "1", "--db", "t.db", **home)
        before = pin_hashes()
        write(url, "open another CANARY")
        again = evaltui(
            "run", "study.toml", "--headless", "--db", "t.db", **home | {"A_TEST_KEY": "sk-another-CANARY1"}
        )
        assert again.returncode == 0, again.stderr
    ((pinned, _),) = before
    ((now, _),) = pin_hashes()
    assert now == pinned
    assert set(seen) == {f"Bearer {KEY} {GATE}", "Bearer sk-another-CANARY1 open another CANARY"}
    insist_no_canary(tmp_path, again)


def test_a_resumed_study_takes_its_headers_from_the_study_file(
    tmp_path: Path, evaltui: Evaltui, write: Callable[..., None], home: dict[str, str]
) -> None:
    with echoing() as (url, _):
        write(url)
        evaltui("run", "study.toml", "--headless", "--repeats", "1", "--db", "t.db", **home)
        file = tmp_path / "study.toml"
        file.write_text(file.read_text("utf-8").replace("X-Gate", "X-Other"), encoding="utf-8")
        refused = evaltui("extend", "latest", "--repeats", "+1", "--headless", "--db", "t.db", **home)
    assert refused.returncode == 2
    assert "endpoints.main.headers.X-Gate: values of headers are not stored" in refused.stderr
    insist_no_canary(tmp_path, refused)
