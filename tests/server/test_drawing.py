"""A query as plain values: windows, plan, and where its windows stand."""

from __future__ import annotations

from typing import Any

import weir
from weir.server.drawing import activity_of, bounds_of, counted, form_of, plan_graph, ticks_of, windows_of

SECOND = 1_000_000
QUERY = weir.parse(
    "SELECT ?a (COUNT(*) AS ?n) (MAX(?c) AS ?m) FROM NAMED WINDOW <w> ON <http://e/s> "
    "[RANGE PT10S STEP PT2S] { WINDOW <w> { ?a ?b ?c } } GROUP BY ?a"
)


def test_windows_have_lengths_in_milliseconds() -> None:
    (window,) = windows_of(QUERY)
    assert (window["kind"], window["width"], window["step"]) == ("range", 10_000.0, 2_000.0)
    counting = weir.parse("SELECT * { STREAM <http://e/s> [TRIPLES 5] { ?a ?b ?c } }")
    assert windows_of(counting)[0]["width"] == 5


def test_forms_and_variables_that_are_numbers() -> None:
    assert counted(QUERY) == ["n"]
    assert [form_of(weir.parse(text, dialect="sparql")) for text in ("ASK {}", "DESCRIBE <http://e/a>")] == [
        "ASK",
        "DESCRIBE",
    ]


def test_a_plan_is_a_graph_from_its_leaves_to_what_is_sent_out() -> None:
    graph = plan_graph(QUERY, ["http://e/s"], {})
    assert graph["edges"][-1][1] == "out"
    assert {"window", "group", "output"} <= {node["kind"] for node in graph["nodes"]}


def test_where_a_window_stands_and_when_it_was_reported() -> None:
    (window,) = QUERY.dataset.windows
    assert bounds_of(window, 7 * SECOND) == (-2 * SECOND, 8 * SECOND)
    assert bounds_of(window, 8 * SECOND) == (0, 10 * SECOND)
    assert sorted(ticks_of(window, 7 * SECOND, [1 * SECOND]))[-2:] == [4 * SECOND, 6 * SECOND]


def test_activity_has_messages_and_rows() -> None:
    told: dict[str, Any] = {"through": 7 * SECOND, "results": 3}
    activity = activity_of(QUERY, ["http://e/s"], told, {"http://e/s": [(SECOND, 2)], "http://e/t": [(0, 1)]})
    assert activity["now"] == "1970-01-01T00:00:07.000Z"
    assert activity["windows"][0]["messages"] == [{"time": "1970-01-01T00:00:01.000Z", "triples": 2}]
    assert activity["ticks"][-1] == "1970-01-01T00:00:06.000Z"
    assert activity["operators"][-1] == {"id": "out", "rows": 3, "kept": False, "chosen": False}


def test_windows_are_counted_from_the_first_message_where_they_start_at_it() -> None:
    # messages   3.5  4            evaluations at 5.5, 7.5 (not at 6, 8)
    query = weir.parse(
        "SELECT * FROM NAMED WINDOW <w> ON <http://e/s> [RANGE PT10S STEP PT2S STARTING AT FIRST] "
        "{ WINDOW <w> { ?a ?b ?c } }"
    )
    messages = {"http://e/s": [(3_500_000, 1), (4 * SECOND, 1)]}
    activity = activity_of(query, ["http://e/s"], {"through": 8 * SECOND}, messages)
    assert activity["windows"][0]["close"] == "1970-01-01T00:00:09.500Z"
    assert activity["ticks"][-2:] == ["1970-01-01T00:00:05.500Z", "1970-01-01T00:00:07.500Z"]
    told = {"through": 8 * SECOND, "origins": {"w": 3 * SECOND}, "times": [5 * SECOND]}
    activity = activity_of(query, ["http://e/s"], told, messages)
    assert activity["windows"][0]["close"] == "1970-01-01T00:00:09.000Z"
    assert activity["ticks"] == ["1970-01-01T00:00:05.000Z"]


def test_a_message_that_leaves_is_an_evaluation_under_the_tick_of_change() -> None:
    # messages   1        3        they leave a range of 4 s at 5 and 7
    query = weir.parse(
        "SELECT * FROM NAMED WINDOW <w> ON <http://e/s> [RANGE PT4S STEP MESSAGE TICK CHANGE] "
        "{ WINDOW <w> { ?a ?b ?c } }"
    )
    (window,) = query.dataset.windows
    assert sorted(ticks_of(window, 8 * SECOND, [SECOND, 3 * SECOND])) == [n * SECOND for n in (1, 3, 5, 7)]


def test_the_window_of_now_is_the_instant_that_was_evaluated_last() -> None:
    query = weir.parse("SELECT * { STREAM <http://e/s> [NOW] { ?a ?b ?c } }")
    (window,) = query.dataset.windows
    assert bounds_of(window, 8 * SECOND, [SECOND, 3 * SECOND, 8 * SECOND]) == (3 * SECOND, 3 * SECOND)
    assert bounds_of(window, 8 * SECOND) == (None, None)
