"""Queries that read each other, and the slots that they go to."""

from __future__ import annotations

import pytest

from weir.errors import UsageError
from weir.language import Query, parse
from weir.plan.analysis.chain import evaluation_order, place, readers_of, refuse_bad_chains, streams_read


def reading(stream: str, output: str | None = None, form: str = "CONSTRUCT { ?x <p> ?y }") -> Query:
    head = "" if output is None else f"REGISTER STREAM <{output}> AS "
    return parse(
        f"{head}{form} FROM NAMED WINDOW <w> ON <{stream}> [NOW] {{ WINDOW <w> {{ ?x <{stream}> ?y }} }}"
    )


FIRST, SECOND = reading("in", "middle"), reading("middle", "out")


def test_a_query_comes_after_those_that_it_reads() -> None:
    assert evaluation_order({"b": SECOND, "a": FIRST}) == ("a", "b")
    assert readers_of("middle", {"a": FIRST, "b": SECOND}) == ["b"]


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({"a": FIRST, "b": reading("middle", "in")}, "writes the stream <in>, which has a source"),
        ({"a": reading("x", "y"), "b": reading("y", "x")}, "read each other in a circle"),
        ({"a": FIRST, "b": reading("in", "middle")}, "two queries write the stream <middle>"),
        ({"a": reading("in", "o", "SELECT *"), "b": reading("o")}, "which makes no triples"),
        ({"a": reading("elsewhere")}, "reads the unknown stream <elsewhere>"),
    ],
)
def test_what_cannot_run_together(queries: dict[str, Query], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        refuse_bad_chains(queries, ("in",))


def test_a_variable_ranges_over_the_registered_streams() -> None:
    query = parse("SELECT * { STREAM ?s [NOW] { ?x ?p ?y } STREAM <in> [ALL] { ?x ?q ?z } }")
    assert streams_read(query, ("in", "other")) == ("in", "other")


def test_chains_and_callers_of_one_endpoint_share_a_slot() -> None:
    queries = {"a": FIRST, "x": reading("in"), "b": SECOND, "c": reading("q"), "d": reading("r")}
    found = place(queries, {}, {}, [0, 0, 0], {"c": ["http://e/"], "d": ["http://e/"]}, {}, {})
    assert found["a"] == found["b"] and found["c"] == found["d"]
    assert len(set(found.values())) == 3


def test_queries_that_run_apart_cannot_be_chained_later() -> None:
    known = {"a": FIRST, "c": reading("far", "away")}
    both = parse(
        "SELECT * FROM NAMED WINDOW <v> ON <middle> [NOW] FROM NAMED WINDOW <w> ON <away> [NOW] "
        "{ WINDOW <v> { ?x ?p ?y } WINDOW <w> { ?y ?q ?z } }"
    )
    with pytest.raises(UsageError, match="would chain queries that already run apart"):
        place({"new": both}, known, {"a": 0, "c": 1}, [1, 1], {}, {}, {})


def test_equal_conjunctions_go_where_their_like_is() -> None:
    new = {name: reading("s") for name in "nm"}
    assert place(new, {}, {}, [0, 1], {}, {"n": "x", "m": ""}, {"x": 1}) == {"n": 1, "m": 0}
    assert place(new, {}, {}, [1, 0], {}, {"n": "x", "m": "x"}, {}) == {"n": 1, "m": 1}
