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
