"""Whole studies whose answers come from a command, a function or a recording, and whose scorer is the user's."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

STUDY = """\
[study]
name = "local"
repeats = 3
concurrency = 4

[dataset]
path = "items.jsonl"
gold = "answer"

[endpoints.main]
{endpoint}

[arms.baseline]
endpoint = "main"
model = "m"
prompt_text = "{{{{question}}}}"

[arms.candidate]
extends = "baseline"
temperature = 0.5

[scorers.own]
{scorer}
"""

AGENT = """
import json, sys

def answer(asked):
    a, b = asked["prompt"].removesuffix("?").split("+")
    return {"text": str(int(a) + int(b)), "model": "adder-1"}

async def answer_soon(asked):
    print("a print of the user's own")
    return answer(asked)

def score(said, item):
    return said == item["gold"]

if __name__ == "__main__":
    if sys.argv[1] == "score":
        given = json.load(sys.stdin)
        print("right" if score(given["answer"], given["item"]) else "wrong")
    elif sys.argv[1] == "lines":
        for line in sys.stdin:
            asked = json.loads(line)
            print(json.dumps({"id": asked["id"], **answer(asked)}), flush=True)
    elif sys.argv[1] == "text":
        print(answer({"prompt": sys.stdin.read()})["text"])
    else:
        print(json.dumps(answer(json.load(sys.stdin))))
"""

PYTHON = json.dumps(sys.executable)
OWN = 'kind = "python"\nfunction = "agent:score"'


def evaltui(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVALTUI")}
    return subprocess.run(
        [sys.executable, "-m", "evaltui", *args, "--db", str(folder / "t.db")],
        cwd=folder.parent,
        env=kept | {"NO_COLOR": "1", "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def studied(tmp_path):
    """``studied(endpoint, scorer)``: the study's folder, run from another one."""

    def write(endpoint: str, scorer: str = OWN) -> Path:
        folder = tmp_path / "study"
        folder.mkdir(exist_ok=True)
        rows = [{"id": f"i{n}", "question": f"{n}+{n}?", "answer": str(2 * n)} for n in range(6)]
        (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "agent.py").write_text(AGENT)
        recorded = [{"item": row["id"], "repeat": r, "text": row["answer"]} for row in rows for r in (1, 2, 3)]
        (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in recorded))
        (folder / "study.toml").write_text(STUDY.format(endpoint=endpoint, scorer=scorer))
        return folder

    return write


@pytest.mark.parametrize(
    "endpoint",
    [
        pytest.param(f'kind = "command"\ncommand = [{PYTHON}, "agent.py", "text"]', id="text"),
        pytest.param(f'kind = "command"\ncommand = [{PYTHON}, "agent.py", "json"]\nformat = "json"', id="json"),
        pytest.param(f'kind = "command"\ncommand = [{PYTHON}, "agent.py", "lines"]\nmode = "lines"', id="lines"),
        pytest.param('kind = "python"\nfunction = "agent:answer"', id="function"),
        pytest.param('kind = "python"\nfunction = "agent:answer_soon"', id="async function"),
        pytest.param('kind = "replay"\npath = "answers.jsonl"', id="replay"),
    ],
)
def test_every_kind_of_endpoint_runs_a_study_to_its_end(studied, endpoint):
    folder = studied(endpoint)
    ran = evaltui(folder, "run", str(folder / "study.toml"), "--json")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert [run["score"] for arm in report["arms"].values() for run in arm["runs"]] == [1.0] * 6
    assert report["study"]["status"] == "finished"
    again = evaltui(folder, "run", str(folder / "study.toml"), "--headless")
    assert "is finished already" in again.stderr


def test_a_command_scores(studied):
    folder = studied(
        'kind = "replay"\npath = "answers.jsonl"', f'kind = "command"\ncommand = [{PYTHON}, "agent.py", "score"]'
    )
    ran = evaltui(folder, "run", str(folder / "study.toml"), "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["arms"]["baseline"]["mean"] == 1.0


def test_recorded_answers_make_runs_of_their_own_kind(studied):
    folder = studied('kind = "replay"\npath = "answers.jsonl"')
    assert evaltui(folder, "run", str(folder / "study.toml"), "--json").returncode == 0
    with closing(sqlite3.connect(folder / "t.db")) as connection:
        assert connection.execute("select distinct kind from v_runs").fetchall() == [("frozen-import",)]


def test_a_study_does_not_go_on_with_another_recording(studied):
    folder = studied('kind = "replay"\npath = "answers.jsonl"')
    recording = folder / "answers.jsonl"
    lines = recording.read_text().splitlines(keepends=True)
    recording.write_text("".join(lines[:-1]))
    assert evaltui(folder, "run", str(folder / "study.toml"), "--json").returncode == 0
    evaltui(folder, "extend", "latest", "--repeats", "+1")
    recording.write_text("".join(lines))
    resumed = evaltui(folder, "resume", "latest", "--headless")
    assert resumed.returncode == 2
    assert "the files behind endpoint main have changed since arm baseline was pinned" in resumed.stderr


def test_what_a_recording_has_too_much_or_lacks_is_told_before_the_start(studied):
    folder = studied('kind = "replay"\npath = "answers.jsonl"')
    recording = folder / "answers.jsonl"
    first, *rest = recording.read_text().splitlines()
    lost = json.loads(first)
    stranger = json.dumps({"item": "zz", "text": "4"})
    recording.write_text("\n".join([*rest, stranger]))
    command = [sys.executable, "-m", "evaltui", "check", str(folder / "study.toml")]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    said = " ".join(checked.stdout.split())
    assert checked.returncode == 0
    assert "endpoint main: 1 answer that no cell asks for, the first item 'zz'" in said
    assert f"the first item '{lost['item']}'" in said


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ('kind = "python"\nfunction = "agent:nothing"', "endpoint main: function agent:nothing: agent has no nothing"),
        ('kind = "python"\nfunction = "agent"', "endpoints.main.function"),
        ('kind = "python"', "needs function, such as"),
        ('kind = "replay"\npath = "none.jsonl"', "none.jsonl cannot be read: No such file"),
        ('kind = "command"\ncommand = []', "endpoints.main.command"),
        ('kind = "command"\ncommand = ["x"]\nbase_url = "http://h/v1"', "base_url belongs to kind"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_exit_code_2(studied, endpoint, said):
    folder = studied(endpoint)
    ran = evaltui(folder, "run", str(folder / "study.toml"), "--headless")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
