"""The user's own scorers: a function, a command, and every kind of thing that they may return."""

from __future__ import annotations

import sys
import textwrap
import time

import pytest

from evaltui import scorers
from evaltui.core.errors import InputError
from evaltui.core.records import Completion, Item
from evaltui.core.status import Status
from evaltui.scorers.own import read_mark

ITEM = Item("i1", {"question": "2+2?", "answer": "4"}, "4", "sums", None, b"0" * 16)


@pytest.fixture
def built(tmp_path, monkeypatch):
    """``built(code)``: a python scorer whose function ``score`` is that code."""
    monkeypatch.setattr(sys, "path", sys.path[:])

    def build(code: str, **options: object):
        name = f"scoring_{time.monotonic_ns()}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        return scorers.build(
            "own", "python", {"function": f"{name}:score", "folder": str(tmp_path), "timeout_s": 5.0, **options}
        )

    return build


@pytest.mark.parametrize("how", ["def", "async def"])
async def test_a_function_gets_the_answer_and_the_item(built, how):
    scorer = built(f"""
        {how} score(answer, item):
            label = "|".join([answer, item["gold"], item["fields"]["question"]])
            return {{"score": 0.5, "label": label, "note": "half"}}
    """)
    verdict = await scorer.score(ITEM, Completion(" five "))
    assert (verdict.status, verdict.score, verdict.label) == (Status.OK, 0.5, "five|4|2+2?")
    assert verdict.note == "half"


async def test_reasoning_truncation_and_refusals_never_reach_it_as_answers(built):
    scorer = built("def score(answer, item): return answer == '4'")
    assert (await scorer.score(ITEM, Completion("<think>5</think>4"))).score == 1.0
    cut = await scorer.score(ITEM, Completion("4", Status.TRUNCATED))
    assert (cut.status, cut.score, cut.label) == (Status.TRUNCATED, None, "true")
    assert (await scorer.score(ITEM, Completion("no", Status.REFUSED))).status is Status.REFUSED


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def score(answer, item): raise ValueError('bad ' + answer)", "ValueError: bad 4"),
        ("def score(answer): return 1", "TypeError"),
        ("def score(answer, item):\n    import time\n    time.sleep(30)", "no verdict within 0.2 s"),
    ],
)
async def test_a_function_that_fails_makes_a_scorer_error(built, code, said):
    verdict = await built(code, timeout_s=0.2).score(ITEM, Completion("4"))
    assert (verdict.status, verdict.score) == (Status.SCORER_ERROR, None)
    assert said in verdict.note


def test_another_version_of_the_module_is_another_scorer(built, tmp_path):
    scorer = built("def score(answer, item): return 1")
    (path,) = tmp_path.glob("scoring_*.py")
    options = {"function": f"{path.stem}:score", "folder": str(tmp_path)}
    assert scorers.build("own", "python", options).version == scorer.version
    path.write_text("def score(answer, item): return 0")
    assert scorers.build("own", "python", options).version != scorer.version


def test_a_function_that_is_not_there_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="no_such_module_here cannot be imported"):
        scorers.build("own", "python", {"function": "no_such_module_here:f", "folder": str(tmp_path)})


@pytest.mark.parametrize(
    ("code", "status", "score", "note"),
    [
        ("print(json.load(sys.stdin)['answer'] == '4')", Status.OK, 1.0, ""),
        ("print('wrong')", Status.OK, 0.0, ""),
        ("print(json.dumps({'score': 0.25, 'note': 'a quarter'}))", Status.OK, 0.25, "a quarter"),
        ("print('maybe')", Status.PARSE_FAILURE, None, "'maybe', which is no verdict"),
        ("sys.exit('no luck')", Status.SCORER_ERROR, None, "exit code 1: no luck"),
        ("import time; time.sleep(30)", Status.SCORER_ERROR, None, "no verdict within 2 s"),
    ],
)
async def test_a_command_prints_its_verdict(tmp_path, code, status, score, note):
    (tmp_path / "score.py").write_text(f"import json, sys\n{code}\n")
    options = {"command": [sys.executable, "score.py"], "folder": str(tmp_path), "timeout_s": 2.0}
    verdict = await scorers.build("own", "command", options).score(ITEM, Completion("4"))
    assert (verdict.status, verdict.score) == (status, score)
    assert note in verdict.note


@pytest.mark.parametrize(
    ("value", "status", "label", "score"),
    [
        (True, Status.OK, "true", 1.0),
        (False, Status.OK, "false", 0.0),
        (1, Status.OK, "1", 1.0),
        (0.5, Status.OK, "0.5", 0.5),
        ("Correct", Status.OK, "correct", 1.0),
        ({"label": "FAIL"}, Status.OK, "fail", 0.0),
        ({"score": 1, "label": "B"}, Status.OK, "b", 1.0),
        (None, Status.PARSE_FAILURE, None, None),
        ({}, Status.PARSE_FAILURE, None, None),
        ("false alarm", Status.PARSE_FAILURE, None, None),
        (float("nan"), Status.SCORER_ERROR, None, None),
        (1.5, Status.SCORER_ERROR, None, None),
        (-1, Status.SCORER_ERROR, None, None),
        ([1], Status.SCORER_ERROR, None, None),
    ],
)
def test_what_a_scorer_may_return(value, status, label, score):
    mark = read_mark(value)
    assert (mark.status, mark.label, mark.score) == (status, label, score)
