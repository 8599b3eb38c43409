"""What is said about a data set file that cannot be used."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evaltui import datasets
from evaltui.core.errors import InputError


def faults(path: Path, **mapping: str) -> list[str]:
    """Every fault that reading finds, as ``where: message``."""
    with pytest.raises(InputError) as refused:
        datasets.read(path, **mapping)  # type: ignore[arg-type]
    assert refused.value.source == str(path)
    return [str(fault) for fault in refused.value.faults]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_every_fault_of_a_file_is_told_at_once(cases: Path) -> None:
    assert faults(cases / "repro" / "F_ids.jsonl") == [
        "lines 1, 2: 2 items have the same id 'a'",
        "line 8: the id ('id') is a list; an id is text or a number",
        "line 10: not JSON: Expecting value at column 1",
        "line 11: not JSON: Expecting ',' delimiter at column 25",
        "line 12: the key 'id' stands twice in one object",
    ]


def test_another_code_page_is_named_with_line_and_byte(cases: Path) -> None:
    assert faults(cases / "repro" / "F_cp1252.csv") == [
        'line 2: byte 3 is 0xef, which is not utf-8; save the file as UTF-8 or say encoding = "cp1252"'
    ]


def test_semicolons_are_asked_about(cases: Path) -> None:
    (fault,) = faults(cases / "repro" / "F_semicolon.csv")
    assert 'are the fields separated by semicolons? then say delimiter = ";"' in fault


def test_a_mapped_column_that_is_nowhere_is_refused_with_the_columns_there_are(tmp_path: Path) -> None:
    path = written(tmp_path, "i.jsonl", '{"id": "a", "question": "q"}')
    assert faults(path, gold="answer", category="topic") == [
        "no item has the field 'answer' that dataset.gold names; the fields are 'id', 'question'",
        "no item has the field 'topic' that dataset.category names; the fields are 'id', 'question'",
    ]


def test_items_alike_in_everything_and_without_an_id_cannot_be_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path, "i.jsonl", '{"q": "x"}\n\n{"q": "x"}')
    assert faults(path) == ["lines 1, 3: 2 items have no id and the same content"]


def test_many_faults_are_counted_not_poured_out(tmp_path: Path) -> None:
    found = faults(written(tmp_path, "i.jsonl", "broken\n" * 1000))
    assert len(found) == 51
    assert found[-1] == "and 950 more faults"


def test_endless_nesting_is_a_sentence(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    line = f'{{"id": "a", "q": {deep}}}'
    assert faults(written(tmp_path, "i.jsonl", line)) == ["line 1: nested more than 100 deep"]
    assert faults(written(tmp_path, "i.json", deep)) == ["nested more than 100 deep"]
    assert faults(written(tmp_path, "j.jsonl", '{"q":' + "[" * 150 + "]" * 150 + "}")) == [
        "line 1: nested more than 100 deep"
    ]


def test_nan_is_not_json(tmp_path: Path) -> None:
    assert faults(written(tmp_path, "i.jsonl", '{"q": NaN}')) == [
        "line 1: NaN is not JSON; write null, or the value as text"
    ]


def test_a_line_that_is_no_object_is_named_as_what_it_is(tmp_path: Path) -> None:
    assert faults(written(tmp_path, "i.jsonl", '[1]\n"x"')) == [
        "line 1: a list, where an object {…} is expected",
        "line 2: a text, where an object {…} is expected",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file holds nothing but blanks"),
        (b"PK\x03\x04rest", "a zip archive"),
        (gzip.compress(b"{}", mtime=0), "compressed with gzip"),
        (b"SQLite format 3\x00...", "an SQLite database"),
        (b"PAR1....", "a Parquet file"),
    ],
)
def test_what_is_no_data_set_is_named_as_what_it_is(tmp_path: Path, content: bytes, said: str) -> None:
    (fault,) = faults(written(tmp_path, "i.jsonl", content))
    assert said in fault


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    assert faults(tmp_path / "absent.jsonl") == ["no such file; [dataset] path is relative to the study file"]


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    assert faults(tmp_path) == ["a folder, where one data set file is expected"]


def test_a_file_of_unknown_kind_is_asked_to_say_what_it_is(tmp_path: Path) -> None:
    (fault,) = faults(written(tmp_path, "i.txt", "question,answer\nq,a\n"))
    assert "call it .jsonl, .json or .csv" in fault


def test_a_listing_of_logs_is_not_taken_for_items(tmp_path: Path) -> None:
    listing = {f"2026-01-0{n}_task.eval": {"version": 2, "status": "success"} for n in range(1, 4)}
    (fault,) = faults(written(tmp_path, "logs.json", json.dumps(listing)))
    assert "an object without a list of items" in fault


def test_an_object_with_several_lists_is_ambiguous(tmp_path: Path) -> None:
    (fault,) = faults(written(tmp_path, "i.json", '{"train": [{}], "test": [{}]}'))
    assert "several lists ('train', 'test')" in fault


def test_csv_records_of_another_width_are_listed(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", 'id,q\n1,"two\nlines"\n2\n3,a,b\n')
    assert faults(path) == ["line 4: 1 fields, where the header has 2", "line 5: 3 fields, where the header has 2"]


def test_csv_headers_without_or_with_the_same_name_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", "id,,q,q\n1,2,3,4\n")
    assert faults(path) == [
        "line 1: column 2 has no name; name it or leave it out",
        "line 1: the column 'q' stands 2 times",
    ]


def test_an_unclosed_quote_is_a_sentence(tmp_path: Path) -> None:
    (fault,) = faults(written(tmp_path, "i.csv", 'id,q\n1,"open\n2,x\n'))
    assert fault.startswith("line 2: not CSV: unexpected end of data")


def test_a_header_alone_has_no_items(tmp_path: Path) -> None:
    assert faults(written(tmp_path, "i.csv", "id,q\n")) == ["there is no item in the file"]


def test_utf16_without_its_mark_is_recognised(tmp_path: Path) -> None:
    (fault,) = faults(written(tmp_path, "i.csv", "id,q\na,b\n".encode("utf-16-le")))
    assert 'say encoding = "utf-16-le"' in fault


@pytest.mark.parametrize("encoding", ["punycode", "idna", "rot13", "zlib", "no-such"])
def test_what_is_no_encoding_of_texts_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "i.csv"
    path.write_bytes("id,q\na,caf\u00e9\n".encode())
    with pytest.raises(InputError) as refused:
        datasets.read(path, encoding=encoding)
    assert "encoding" in str(refused.value)


def test_a_number_of_endless_digits_is_refused_in_our_words(tmp_path: Path) -> None:
    path = tmp_path / "i.jsonl"
    path.write_text('{"id": "a", "q": ' + "9" * 5000 + "}\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        datasets.read(path)
    assert "line 1: a number of 5,000 digits; write it as text in quotes" in str(refused.value)
