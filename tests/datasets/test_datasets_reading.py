"""What comes out of a data set file: items, notices and hashes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from evaltui import datasets
from evaltui.datasets import Dataset


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


ROWS = [
    {"id": "a", "question": "What is 2+2, exactly?", "answer": "4", "topic": "sum"},
    {"id": "b", "question": 'He said "naïve"\nand left', "answer": "x", "topic": "text"},
]
AS_JSONL = "".join(json.dumps(row) + "\n" for row in ROWS)
AS_CSV = 'id,question,answer,topic\na,"What is 2+2, exactly?",4,sum\nb,"He said ""naïve""\nand left",x,text\n'


def test_fields_are_mapped_to_gold_category_and_cluster(tmp_path: Path) -> None:
    path = written(tmp_path, "items.jsonl", AS_JSONL)
    first = datasets.read(path, gold="answer", category="topic", cluster="question").items[0]
    assert (first.id, first.gold, first.category, first.cluster) == ("a", "4", "sum", "What is 2+2, exactly?")
    assert first.fields == ROWS[0]
    assert first.position == -1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("items.csv", AS_CSV),
        ("items.csv", AS_CSV.replace("4,sum\n", "4,sum\r\n")),
        ("items.csv", b"\xef\xbb\xbf" + AS_CSV.encode()),
        ("items.csv", AS_CSV.encode("utf-16")),
        ("items.tsv", AS_CSV.replace(",", "\t").replace("2+2\t", "2+2,")),
        ("items.json", json.dumps(ROWS)),
        ("items.json", json.dumps({"version": 2, "items": ROWS})),
        ("items.json", AS_JSONL),
        ("items.jsonl", AS_JSONL.replace("\n", "\r\n\r\n")),
        ("items.jsonl", b"\xef\xbb\xbf" + AS_JSONL.encode()),
        ("items.jsonl", "".join(json.dumps(dict(reversed(row.items()))) + "\n" for row in reversed(ROWS))),
        ("items.jsonl", AS_JSONL.replace('"4"', "4")),
        ("items.jsonl", AS_JSONL.replace('"topic": "sum"', '"topic": "sum", "note": null, "other": ""')),
        ("items.txt", AS_JSONL),
    ],
)
def test_the_same_content_has_the_same_hash_in_every_format(tmp_path: Path, name: str, content: str | bytes) -> None:
    plain = datasets.read(written(tmp_path, "plain.jsonl", AS_JSONL))
    other = datasets.read(written(tmp_path, name, content))
    assert other.content_sha256 == plain.content_sha256
    assert {item.id: item.hash for item in other.items} == {item.id: item.hash for item in plain.items}


@pytest.mark.parametrize(
    "changed",
    [
        AS_JSONL.replace("2+2", "2+3"),
        AS_JSONL.replace('"4"', '"5"'),
        AS_JSONL.replace('"a"', '"c"'),
        AS_JSONL.splitlines()[0],
    ],
)
def test_changed_content_changes_the_hash(tmp_path: Path, changed: str) -> None:
    before = datasets.read(written(tmp_path, "before.jsonl", AS_JSONL))
    after = datasets.read(written(tmp_path, "after.jsonl", changed))
    assert after.content_sha256 != before.content_sha256


def test_the_hash_of_the_bytes_is_that_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "items.jsonl", AS_JSONL)
    assert datasets.read(path).bytes_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_ids_are_made_from_content_and_stay_with_their_rows(tmp_path: Path) -> None:
    lines = ['{"q": "one"}\n', '{"q": "two", "id": ""}\n', '{"q": "three", "id": null}\n']
    forth = datasets.read(written(tmp_path, "forth.jsonl", "".join(lines)))
    back = datasets.read(written(tmp_path, "back.jsonl", "".join(reversed(lines))))
    assert [item.id for item in forth.items] == [item.id for item in reversed(back.items)]
    assert len({item.id for item in forth.items}) == 3
    assert forth.notices == ("3 of 3 items have no 'id'; their ids were made from their content",)


def test_ids_that_differ_in_case_or_blanks_stay_apart(tmp_path: Path) -> None:
    path = written(tmp_path, "items.jsonl", '{"id": "a"}\n{"id": "A"}\n{"id": "a "}\n{"id": " "}\n{"id": "../a"}\n')
    assert [item.id for item in datasets.read(path).items] == ["a", "A", "a ", " ", "../a"]


def test_numbers_are_ids_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, "items.jsonl", '{"id": 7}\n{"id": 8.5}\n')
    assert [item.id for item in datasets.read(path).items] == ["7", "8.5"]


def test_another_field_can_be_the_id(tmp_path: Path) -> None:
    path = written(tmp_path, "items.jsonl", '{"task": "t1", "id": "x"}\n{"task": "t2", "id": "x"}\n')
    assert [item.id for item in datasets.read(path, id="task").items] == ["t1", "t2"]


def test_items_without_gold_are_named_in_a_notice(tmp_path: Path) -> None:
    path = written(tmp_path, "items.jsonl", '{"id": "a", "g": "1"}\n{"id": "b"}\n{"id": "c", "g": ""}\n')
    assert datasets.read(path, gold="g").notices == ("2 items have no gold answer: 'b', 'c'",)


def test_gold_that_is_not_text_reads_as_json(tmp_path: Path) -> None:
    path = written(tmp_path, "items.jsonl", '{"id": "a", "g": {"b": 1, "a": [true]}}\n{"id": "b", "g": 0.5}\n')
    assert [item.gold for item in datasets.read(path, gold="g").items] == ['{"a": [true], "b": 1}', "0.5"]


def test_lone_surrogates_survive(tmp_path: Path) -> None:
    path = written(
        tmp_path, "items.jsonl", '{"id": "half", "q": "Hello \\ud83d"}\n{"id": "low", "q": "Hello \\udc00"}\n'
    )
    half, low = datasets.read(path).items
    assert half.fields["q"] == "Hello \ud83d"
    assert half.hash != low.hash


def test_items_of_megabytes_are_read(tmp_path: Path) -> None:
    long = "x" * 5_000_000
    assert datasets.read(written(tmp_path, "i.jsonl", json.dumps({"id": "a", "q": long}))).items[0].fields["q"] == long


def test_csv_fields_longer_than_the_csv_module_allows_are_read(tmp_path: Path) -> None:
    long = "y" * 140_000
    assert datasets.read(written(tmp_path, "i.csv", f"id,q\na,{long}\n")).items[0].fields["q"] == long


def test_the_encoding_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", "id,q\na,café\n".encode("cp1252"))
    assert datasets.read(path, encoding="cp1252").items[0].fields["q"] == "café"


def test_the_delimiter_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", "id;q\na;1,5\n")
    assert datasets.read(path, delimiter=";").items[0].fields == {"id": "a", "q": "1,5"}


def test_line_separators_of_unicode_are_text(cases: Path) -> None:
    assert [item.id for item in datasets.read(cases / "repro" / "F_line_separators.jsonl").items] == [
        "ls",
        "nel",
        "ff",
        "ps",
    ]


@pytest.mark.parametrize(("name", "count"), [("F_bom.jsonl", 2), ("F_bom_crlf.csv", 2), ("F_surrogates.jsonl", 3)])
def test_real_oddities_load_whole(cases: Path, name: str, count: int) -> None:
    items = datasets.read(cases / "repro" / name).items
    assert len(items) == count
    assert all("input" in item.fields and "target" in item.fields for item in items)


def test_utf16_is_read_and_said(cases: Path) -> None:
    data = datasets.read(cases / "repro" / "F_utf16.csv")
    assert data.items[0].fields == {"input": "what is 2+2", "target": "4"}
    assert data.notices[0] == "the file was read as UTF-16"


def test_the_gsm8k_questions_have_made_ids_and_their_solutions_as_gold(cases: Path) -> None:
    data: Dataset = datasets.read(cases / "gsm8k" / "test.jsonl", gold="answer")
    assert len({item.id for item in data.items}) == 1319
    assert data.items[0].gold is not None
    assert data.items[0].gold.endswith("#### 18")
