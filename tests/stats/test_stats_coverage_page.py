"""What bench/coverage.py makes of a measured rate, and how it writes its tables into a page."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench" / "coverage_page.py"


@pytest.fixture(scope="module")
def coverage_page():
    spec = importlib.util.spec_from_file_location("coverage_page", BENCH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage_page"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["coverage_page"]


@pytest.mark.parametrize(
    ("wrong", "shown", "violated", "doubtful"),
    [
        (60, "6.0 ±0.8", 0, 0),
        (70, "7.0 ±0.8 above", 0, 1),
        (90, "**9.0 ±0.9 VIOLATED**", 1, 0),
    ],
    ids=["at the limit", "within the error", "beyond three errors"],
)
def test_a_rate_is_judged_by_its_own_error(coverage_page, wrong, shown, violated, doubtful):
    """Of 1,000: errors sqrt(0.06 x 0.94 / 1000) = 0.0075, sqrt(0.07 x 0.93 / 1000) = 0.0081, and 0.0090."""
    table = coverage_page.Table("T", "", ["rate"])
    assert table.rate(np.repeat([1.0, 0.0], [wrong, 1000 - wrong]), 6.0, "here") == shown
    assert (len(table.violations), len(table.doubtful)) == (violated, doubtful)
    told = coverage_page.verdict([table])
    assert ("VIOLATED" in told, "Above" in told) == (bool(violated), bool(doubtful))


def test_a_rate_without_a_limit_is_only_shown(coverage_page):
    table = coverage_page.Table("T", "", ["rate"])
    assert table.rate(np.ones(100), None, "") == "100.0 ±1.0"
    assert coverage_page.verdict([table]) == "No measured number is above its limit."


def test_only_what_stands_between_the_marks_is_replaced(coverage_page, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Words\n{coverage_page.BEGIN}\nold\n{coverage_page.END}\nthe end\n", "utf-8")
    for text in ("new ±", "newer ±\n"):
        coverage_page.put_into(page, text)
        expected = f"# Words\n{coverage_page.BEGIN}\n\n{text.strip()}\n\n{coverage_page.END}\nthe end\n"
        assert page.read_text("utf-8") == expected


@pytest.mark.parametrize("marks", [(), (0,), (1, 0), (0, 0, 1)], ids=["none", "no end", "end first", "two begins"])
def test_a_page_without_its_two_marks_is_left_alone(coverage_page, tmp_path, marks):
    page = tmp_path / "page.md"
    text = "\n".join((coverage_page.BEGIN, coverage_page.END)[mark] for mark in marks)
    page.write_text(text, "utf-8")
    with pytest.raises(ValueError, match="to be written between"):
        coverage_page.put_into(page, "new")
    assert page.read_text("utf-8") == text
