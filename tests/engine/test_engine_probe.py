"""Endpoints tried out before a study: real servers with habits of their own, from the command line to the pins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Answer = Callable[[dict[str, Any], int], tuple[int, dict[str, Any]]]


def answer(text: str, usage: bool = True) -> tuple[int, dict[str, Any]]:
    body: dict[str, Any] = {
        "model": "m-7",
        "system_fingerprint": "fp1",
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 5, "completion_tokens": 3}
    return 200, body


def refuse(parameter: str) -> tuple[int, dict[str, Any]]:
    said = f"Unsupported parameter: '{parameter}' is not supported with this model."
    return 400, {"error": {"message": said, "code": "unsupported_parameter"}}


@pytest.fixture
def served() -> Iterator[Callable[[Answer], tuple[str, list[dict[str, Any]]]]]:
    """``served(reply)``: the base URL of a server, and the bodies that it was sent."""
    servers = []

    def start(reply: Answer) -> tuple[str, list[dict[str, Any]]]:
        asked: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                status, body = reply(asked[-1], len(asked))
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/v1", asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def evaltui(folder: Path, url: str, *args: str, endpoint: str = "probe = true", arm: str = "") -> Any:
    (folder / "items.jsonl").write_text('{"id": "i1", "q": "2+2?", "a": "4"}\n')
    (folder / "study.toml").write_text(f"""\
[study]
name = "probed"
repeats = 1
[dataset]
path = "items.jsonl"
gold = "a"
[endpoints.main]
kind = "openai"
base_url = "{url}"
retries = 0
{endpoint}
[arms.baseline]
endpoint = "main"
model = "m"
prompt_text = "{{{{q}}}}"
temperature = 0.5
max_tokens = 40
{arm}
[arms.candidate]
extends = "baseline"
[scorers.s]
kind = "numeric"
""")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVALTUI")}
    return subprocess.run(
        [sys.executable, "-m", "evaltui", *args],
        cwd=folder,
        env=kept | {"NO_COLOR": "1", "COLUMNS": "300", "EVALTUI_DB": "t.db"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def picky(body: dict[str, Any], number: int) -> tuple[int, dict[str, Any]]:
    """A reasoning model's server: another name for the limit, and no temperature."""
    for parameter in ("max_tokens", "temperature"):
        if parameter in body:
            return refuse(parameter)
    return answer("4")


def test_what_an_endpoint_refuses_is_left_out_for_all_of_its_arms_and_pinned(served, tmp_path):
    url, asked = served(picky)
    ran = evaltui(tmp_path, url, "run", "study.toml", "--json")
    assert ran.returncode == 0, ran.stderr
    assert "endpoint main calls the limit on an answer's tokens max_completion_tokens" in ran.stderr
    assert "endpoint main refuses temperature: it is left out for all of its arms" in ran.stderr
    assert "asked for: 0.5 in baseline, 0.5 in candidate" in ran.stderr
    report = json.loads(ran.stdout)
    for pins in report["pins"].values():
        assert (pins["token_limit"], pins["omit"], pins["temperature"]) == (
            "max_completion_tokens",
            "temperature",
            None,
        )
    study_calls = [body for body in asked if body["messages"][0]["content"] == "2+2?"]
    assert [set(body) for body in study_calls] == [{"model", "messages", "max_completion_tokens"}] * 2
    again = evaltui(tmp_path, url, "run", "study.toml", "--headless")
    assert "is finished already" in again.stderr


def test_what_it_shows_is_pinned_and_makes_no_other_configuration(served, tmp_path):
    def seeded(body: dict[str, Any], number: int) -> tuple[int, dict[str, Any]]:
        return answer(f"4, said seed {body.get('seed')}", usage=False)

    url, _ = served(seeded)
    ran = evaltui(tmp_path, url, "run", "study.toml", "--json")
    pins = json.loads(ran.stdout)["pins"]["baseline"]
    assert {name: value for name, value in pins.items() if name.startswith("probe.")} == {
        "probe.model": "m-7",
        "probe.fingerprint": "fp1",
        "probe.usage": False,
        "probe.same_seed": "same answer",
        "probe.other_seed": "other answer",
    }
    unprobed = evaltui(tmp_path, url, "run", "study.toml", "--headless", endpoint="probe = false")
    assert "is finished already" in unprobed.stderr


def test_an_endpoint_on_this_machine_is_tried_out_only_when_asked_to(served, tmp_path):
    url, asked = served(lambda body, number: answer("4"))
    assert evaltui(tmp_path, url, "run", "study.toml", "--json", endpoint="").returncode == 0
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (401, {"message": "Incorrect API key"}, "HTTP 401: Incorrect API key; check the key named by api_key_env"),
        (404, {"message": "The model does not exist"}, "HTTP 404: The model does not exist; check the model's name"),
    ],
)
def test_an_endpoint_that_does_not_answer_stops_the_study_before_it_is_stored(served, tmp_path, status, error, said):
    url, asked = served(lambda body, number: (status, {"error": error}))
    ran = evaltui(tmp_path, url, "run", "study.toml", "--headless")
    assert ran.returncode == 4
    assert said in ran.stderr
    assert "nothing was started" in ran.stderr
    assert not (tmp_path / "t.db").exists()
    assert len(asked) == 1


def test_one_that_is_still_loading_is_asked_again(served, tmp_path):
    def loading(body: dict[str, Any], number: int) -> tuple[int, dict[str, Any]]:
        return (503, {"error": {"message": "Loading model"}}) if number == 1 else answer("4")

    url, _ = served(loading)
    assert evaltui(tmp_path, url, "run", "study.toml", "--json").returncode == 0


def test_check_ping_shows_all_of_it(served, tmp_path):
    url, asked = served(picky)
    shown = evaltui(tmp_path, url, "check", "study.toml", "--ping")
    assert shown.returncode == 0, shown.stderr
    told = " ".join(shown.stdout.split())
    assert "answers in" in told
    assert "model m-7" in told
    assert "limit on tokens sent as max_completion_tokens; not sent: temperature" in told
    assert "same seed: same answer, other seed: same answer" in told
    assert len(asked) == 6
    (result,) = json.loads(evaltui(tmp_path, url, "check", "study.toml", "--ping", "--json").stdout)["ping"]
    assert (result["token_limit"], result["omit"], result["usage"]) == ("max_completion_tokens", ["temperature"], True)
