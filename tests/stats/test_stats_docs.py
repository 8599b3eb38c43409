"""The worked examples of docs/statistics.md are what the program computes."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
SECTION = re.compile(r"^## (.+)$", re.M)


def examples() -> doctest.DocTest:
    """All blocks of the page as one session, at the lines where they stand."""
    text = PAGE.read_text("utf-8")
    parser, found = doctest.DocTestParser(), []
    for block in BLOCK.finditer(text):
        before = text.count("\n", 0, block.start(1))
        for example in parser.get_examples(block[1], PAGE.name):
            example.lineno += before
            found.append(example)
    return doctest.DocTest(found, {}, PAGE.name, str(PAGE), 0, text)


def test_the_worked_examples_hold():
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(examples(), out=told.append)
    assert result.attempted > 50
    assert result.failed == 0, "".join(told)


def test_every_example_that_shows_a_value_says_what_it_is():
    silent = [
        example.source for example in examples().examples if example.source.startswith("round(") and not example.want
    ]
    assert silent == []


def anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(#([^)]+)\)", PAGE.read_text("utf-8")))))
def test_links_within_the_page_lead_to_a_section(target):
    assert target in {anchor(heading) for heading in SECTION.findall(PAGE.read_text("utf-8"))}


def section(title: str, level: int) -> str:
    """What stands below a heading, up to the next one of the same level."""
    return re.split(rf"^{'#' * level} ", PAGE.read_text("utf-8").split(f"\n{'#' * level} {title}\n")[1], flags=re.M)[0]


def rows(title: str) -> list[list[str]]:
    """The cells of the measured table with this title, without its head."""
    lines = [line for line in section(title, 3).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def number(cell: str) -> float:
    return float(cell.split()[0])


def test_the_page_holds_the_whole_measurement_its_command_and_nothing_violated():
    measured = section("Coverage, measured", 2)
    assert re.search(r"Made by `python bench/coverage.py --seed \d+ --output docs/statistics.md`", measured)
    assert measured.count("\n### ") == 8
    assert "VIOLATED**" not in measured
    assert "- VIOLATED" not in measured


def test_the_headline_is_wrong_as_rarely_as_the_page_says():
    titles = re.findall(r"^### (Intervals: .+)$", PAGE.read_text("utf-8"), re.M)
    every = [row for title in titles for row in rows(title) if row[1] != "1"]
    assert len(every) == 3 * 3 * 5 + 2 * 2 * 5 + 2 * 5
    assert max(number(row[7]) for row in every) <= 6
    told = re.search(r"the wider of two, which errs in up to (\d+) %", section("The headline", 2))
    assert int(told[1]) == round(max(number(row[6]) for row in every))


def test_each_tenth_holds_a_thousand_forecasts_and_the_page_says_by_how_much_they_are_too_sure():
    calm, moving = rows("Forecast, shift none"), rows("Forecast, shift 0.06 own")
    assert [len(calm), len(moving)] == [10, 10]
    assert min(int(row[1]) for row in calm + moving) >= 1000
    assert max(abs(number(row[2]) - number(row[3])) for row in calm) <= 5
    told = re.search(r"too sure by up to\s+(\d+) points in the middle tenths", section("Forecast", 2))
    assert int(told[1]) == round(max(number(row[2]) - number(row[3]) for row in moving))
