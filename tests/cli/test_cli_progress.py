"""Headless progress in a log: a line now and then, and trouble at once."""

from __future__ import annotations

import pytest

from evaltui.cli.progress import ProgressLine
from evaltui.engine.progress import Progress

FULL = "t.db: the disk is full"


def test_trouble_is_told_when_it_comes_and_when_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    for done, trouble in [(0, ""), (1, ""), (2, FULL), (3, FULL), (4, "")]:
        line(Progress(done, 10, 0.0, {}, None, trouble))
    assert capsys.readouterr().err.splitlines() == [
        "0 of 10 (0%)",
        f"2 of 10 (20%) · no new calls: {FULL}",
        "4 of 10 (40%)",
    ]
