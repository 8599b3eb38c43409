"""Foreign text on its way to a screen."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path

import pytest

from evaltui.core.text import CUT, clean

INVISIBLE = [
    code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
]


def test_plain_text_is_unchanged() -> None:
    text = "The answer is 42, says Zoë: 計算 ñ שלום ✔ 100 %"
    assert clean(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x00", "␀"),
        ("\x1f", "␟"),
        ("\x7f", "␡"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("a\tb", "a    b"),
        ("a\nb", "a↵b"),
        ("a\r\nb", "a↵b"),
        ("over\rwritten", "over␍written"),
        ("a\u2028b\u2029c", "a↵b↵c"),
        ("abc\u202egnp.exe", "abc⟨U+202E⟩gnp.exe"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\ufeffid", "⟨U+FEFF⟩id"),
        ("✔\ufe0f", "✔⟨U+FE0F⟩"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("🇳🇱", "⟨U+1F1F3⟩⟨U+1F1F1⟩"),
    ],
)
def test_what_cannot_be_seen_becomes_visible(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_no_invisible_character_of_unicode_is_left() -> None:
    kept = [hex(code) for code in INVISIBLE if chr(code) in clean(chr(code))]
    assert kept == []


def test_line_ends_stay_when_asked_for() -> None:
    assert clean("one\ntwo\r\nthree\u2028four", newlines=True) == "one\ntwo\nthree\nfour"


def test_only_line_ends_stay_when_asked_for() -> None:
    assert clean("a\tb\x1b\n", newlines=True) == "a    b␛\n"


def test_texts_that_differ_only_in_what_is_invisible_stay_distinguishable() -> None:
    assert len({clean(text) for text in ("ab", "a\u200bb", "a\u200cb", "a\xadb", "a\u2060b")}) == 5


@pytest.mark.parametrize("text", ["[/bold]", "[/", "[b", "[@click=app.quit]quit[/]", "\\[bold]", ":smile: [blink]x"])
def test_markup_is_shown_letter_for_letter(text: str) -> None:
    assert clean(text) == text


def test_a_long_text_is_cut_before_it_is_looked_at_and_marked() -> None:
    assert clean("\x1b" * 5_000_000, limit=3) == "␛␛␛" + CUT


def test_a_text_of_exactly_the_limit_is_whole() -> None:
    assert clean("abc", limit=3) == "abc"


def test_marks_heaped_on_one_letter_are_thinned() -> None:
    assert clean("a" + "\u0301" * 500 + "b") == "a\u0301\u0301\u0301b"


@pytest.mark.parametrize("name", ["G_markup_items", "G_escape_items", "G_wide_items"])
def test_texts_of_the_reported_bugs_leave_nothing_for_a_terminal_to_obey(cases: Path, name: str) -> None:
    lines = (cases / "repro" / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    texts = [value for line in lines if line for value in json.loads(line).values()]
    assert texts
    for text in texts:
        assert not [char for char in clean(text) if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]
