"""Limits that are given when a study is started stand in place of the file's, and are recorded."""

from __future__ import annotations

import json

import pytest
from evaltui_process import Evaltui


@pytest.mark.usefixtures("study_file")
def test_limits_of_the_command_line_are_those_of_the_study(evaltui: Evaltui) -> None:
    ended = evaltui(
        "run", "study.toml", "--repeats", "1", "--concurrency", "3", "--max-errors", "1", "--headless", "--json"
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["study"]["concurrency"] == 3
    again = evaltui("run", "study.toml", "--repeats", "1", "--headless", "--json")
    assert "study.concurrency: 3 before, 8 now" in again.stderr
    assert "study.max_errors: 1.0 before, 0.2 now" in again.stderr


@pytest.mark.usefixtures("study_file")
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--max-cost", "0", "max_cost: 0.0 does not fit"),
        ("--max-cost", "nan", "max_cost: nan is not a finite number"),
        ("--max-errors", "1.5", "max_errors: 1.5 does not fit"),
        ("--concurrency", "0", "concurrency: 0 does not fit"),
    ],
)
def test_a_limit_that_cannot_be_is_refused(evaltui: Evaltui, option: str, value: str, said: str) -> None:
    refused = evaltui("run", "study.toml", option, value, "--headless")
    assert refused.returncode == 2
    assert said in refused.stderr
