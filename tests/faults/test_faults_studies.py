"""Every failure of an endpoint has its name, from the wire to the report: public reports, played as whole studies.

Each row says what becomes of a question: its status and after how many calls. The scripts and what is right are those
of the folder of real cases (its ``reports.md``); without it these tests skip.
"""

from __future__ import annotations

import pytest

OK = ("ok", 1)


@pytest.mark.parametrize(
    ("script", "expected", "score", "bounds"),
    [
        pytest.param(
            "C_null_content",
            {
                "Q1": ("truncated", 1),
                "Q2": ("empty", 1),
                "Q3": ("empty", 1),
                "Q4": ("empty", 1),
                "Q5": OK,
                "Q6": OK,
            },
            1 / 2,
            [1 / 6, 5 / 6],
            id="R16 content is null",
        ),
        pytest.param(
            "C_truncated",
            {"Q1": ("truncated", 1), "Q2": ("truncated", 1), "Q3": OK},
            1.0,
            [1 / 3, 1.0],
            id="R17 cut off at max_tokens",
        ),
        pytest.param(
            "C_200_with_error",
            {
                "Q1": ("ok", 2),
                "Q2": ("server_error", 2),
                "Q3": ("server_error", 2),
                "Q4": ("server_error", 2),
                "Q5": ("server_error", 2),
                "Q6": ("ok", 2),
                "Q7": ("server_error", 2),
                "Q8": OK,
            },
            1.0,
            [3 / 8, 1.0],
            id="R18 failures behind status 200",
        ),
        pytest.param(
            "C_content_filter",
            {"Q1": ("refused", 1), "Q2": ("refused", 1), "Q3": ("refused", 1), "Q4": ("parse_failure", 1), "Q5": OK},
            1.0,
            [1 / 5, 1.0],
            id="R20 refusals and content filters",
        ),
        pytest.param(
            "D_connection_dropped",
            {"Q1": ("ok", 2), "Q2": ("ok", 2), "Q3": ("network_error", 2), "Q4": OK},
            1.0,
            [3 / 4, 1.0],
            id="R24 dropped connections",
        ),
    ],
)
def test_each_question_ends_as_the_report_asks(play, script, expected, score, bounds):
    played = play(script, list(expected), study={"max_errors": 1.0})
    assert played.code == 0, played.stderr
    ended = {item.partition(".")[0]: outcome for (item, _), outcome in played.cells.items()}
    assert ended == expected
    assert played.run["score"] == pytest.approx(score)
    assert played.run["bounds"] == pytest.approx(bounds)
    assert len(played.asked) == len(played.calls) == sum(attempts for _, attempts in expected.values())
    counts = played.run["counts"]
    assert counts == {status: [s for s, _ in expected.values()].count(status) for status in counts}
    assert played.run["retries"] == sum(attempts - 1 for _, attempts in expected.values())


def test_what_the_body_said_stands_at_the_item(play):
    """R18: an error in a body of status 200 is told in its own words."""
    played = play("C_200_with_error", ["Q3", "Q4", "Q8"], endpoint={"retries": 0}, study={"max_errors": 1.0})
    notes = dict(played.rows("select item, note from v_cells"))
    assert "Upstream error" in notes["Q3.0"]
    assert "502 Bad Gateway" in notes["Q4.1"]
    assert "<" not in notes["Q4.1"]


def test_a_model_that_is_loading_is_waited_for_and_an_item_that_is_too_long_fails_alone(play):
    """R25: 503 and 500 are asked again, a context-length 400 is that item's error."""
    played = play("D_loading_and_permanent", ["Q1", "Q3", "Q5", "Q6"], endpoint={"retries": 3})
    assert played.code == 0, played.stderr
    assert played.cells == {
        ("Q1.0", 1): ("ok", 4),
        ("Q3.1", 1): ("request_error", 1),
        ("Q5.2", 1): ("ok", 2),
        ("Q6.3", 1): ("ok", 1),
    }


@pytest.mark.parametrize(
    ("question", "said"),
    [("Q2", "does not exist"), ("Q4", "api_key_env")],
    ids=["R25 a misspelt model", "R25 a wrong key"],
)
def test_what_every_call_would_meet_stops_the_study_before_items_are_burnt(play, question, said):
    played = play("D_loading_and_permanent", [question] * 200)
    assert played.code == 4
    assert said in played.stderr
    assert played.cells == {}
    assert len(played.asked) <= 4, "those in flight"


def test_a_storm_of_rate_limits_holds_back_the_endpoint_and_every_item_gets_its_verdict(play):
    """R22: each form of Retry-After is waited for, and the wait is not in the latency."""
    played = play("D_429_storm", ["What is 2 + 2?"] * 4, endpoint={"retries": 0}, study={"concurrency": 2})
    assert played.code == 0, played.stderr
    assert set(played.cells.values()) == {("ok", 4)} or sum(a for _, a in played.cells.values()) == 4 + 3
    first, second, third = sorted(entry["t"] for entry in played.asked)[:3]
    assert third - first >= 1.9, "nobody asks before the first Retry-After is over"
    assert second - first < 1.0, "two were in flight"
    # Which of the two in flight is heard first is chance: one asks for 2 s, the other for a date 3 s ahead.
    (told,) = [text for kind, text in played.events if kind == "rate_limit"]
    assert 2 <= float(told.removesuffix(" s").rpartition(" ")[2]) <= 3
    assert played.run["counts"] == {"ok": 4}
    assert played.run["latency"]["max"] < 1.0


def test_calls_that_never_end_and_bodies_that_trickle_are_timeouts_of_the_whole_call(play):
    """R10: a deadline for the whole request; everything else has its verdict."""
    questions = [f"item {n}" for n in range(140, 200)]
    played = play("B_last_item_hangs", questions, endpoint={"timeout_s": 2, "retries": 0})
    assert played.code == 0, played.stderr
    lost = {item for (item, _), (status, _) in played.cells.items() if status == "timeout"}
    assert lost == {"item 150.10", "item 199.59"}
    assert played.run["counts"] == {"ok": 58, "timeout": 2}


def test_an_item_that_flips_under_load_flips_alone(play):
    """R01: what was asked for is pinned, and one item of three flips."""
    questions = ["Q1", "Q2", "Q3"]
    played = play(
        "A_batch_flips",
        questions,
        study={"repeats": 5, "concurrency": 8},
        arm={"temperature": 0.0, "seed": 42},
        scorer={"kind": "exact"},
    )
    assert played.code == 0, played.stderr
    labels = dict(played.rows("select item, labels from v_items"))
    assert labels == {"Q1.0": 2, "Q2.1": 1, "Q3.2": 1}
    pins = played.report["pins"]["baseline"]
    assert (pins["temperature"], pins["seed"], pins["concurrency"]) == (0.0, 42, 8)
    assert {entry["seed"] for entry in played.asked} == {42}


def test_another_fingerprint_part_way_is_an_event(play):
    """R05: what was sent is recorded, what came back too, and its change is told."""
    played = play(
        "A_seed_changes_temperature",
        ["Write a poem."],
        study={"repeats": 5, "concurrency": 1},
        arm={"temperature": 0.8, "seed": 1},
        scorer={"kind": "contains"},
    )
    assert played.code == 0, played.stderr
    assert played.rows("select fingerprint, seed from v_attempts order by repeat") == [
        ("fp_a", 1),
        ("fp_a", 1),
        ("fp_b", 1),
        ("fp_b", 1),
        ("fp_b", 1),
    ]
    (event,) = [text for kind, text in played.events if "fingerprint" in kind or "fingerprint" in text]
    assert "fp_a" in event
    assert "fp_b" in event


@pytest.mark.parametrize(
    "form", ["{root}", "{root}/v1", "{root}/v1/", "{root}/v1/chat/completions", " {root}/v1 ", "{root}//v1"]
)
def test_every_form_of_the_base_url_that_people_paste_works(play, form):
    """R26."""
    played = play("D_base_url", ["Q"], url=lambda server: form.format(root=server.removesuffix("/v1")))
    assert played.code == 0, played.stderr
    assert played.cells == {("Q.0", 1): OK}
    assert [entry["path"] for entry in played.asked] == ["/v1/chat/completions"]


def test_the_query_of_a_base_url_stays_a_query(play):
    """R26, as Azure has it; the scripted server knows its path without one only."""
    played = play("D_base_url", ["Q"], url=lambda server: f"{server}?api-version=2")
    assert {entry["path"] for entry in played.asked} == {"/v1/chat/completions?api-version=2"}
    pins = played.rows("select design from studies")[0][0]
    assert "/v1/chat/completions?api-version=2" in pins


def test_a_base_url_without_a_scheme_is_refused_with_a_sentence(play):
    played = play("D_base_url", ["Q"], url=lambda server: server.removeprefix("http://"))
    assert played.code == 2
    assert "endpoints.main.base_url" in played.stderr
    assert "scheme" in played.stderr
    assert played.asked == []
