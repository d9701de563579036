"""Where the tick CHANGE costs no more than BATCH, and which graphs a query reads."""

from __future__ import annotations

import pytest

from weir.language import parse
from weir.language.algebra.windows import TickKind
from weir.plan.analysis.ticks import GraphsRead, at_arrivals, graphs_read, looking

MOVING = "STREAM <s> [RANGE 5s] { ?x <p> ?y }"
RSPQL = (
    "SELECT {} FROM NAMED WINDOW <w> ON <s> [{} TICK CHANGE] PREVIOUS {} "
    "WHERE {{ WINDOW <w> {{ ?x <p> ?y }} }}"
)


@pytest.mark.parametrize(
    ("body", "graphs"),
    [
        (MOVING, True),
        (f"{MOVING} ?y <q> ?z FILTER (?z > 5) BIND (?z + 1 AS ?n)", True),
        (f"{MOVING} GRAPH <g> {{ ?y <q> ?z }} OPTIONAL {{ GRAPH <g> {{ ?z <r> ?w }} }}", True),
        (f"{MOVING} MINUS {{ ?y <q> ?z }} FILTER NOT EXISTS {{ ?x <q> ?z }}", True),
        (f"{{ {MOVING} }} UNION {{ STREAM <t> [TRIPLES 3] {{ ?x <p>/<q>* ?y }} }}", True),
        ("STREAM <s> [NOW] { ?x <p> ?y } OPTIONAL { " + MOVING + " }", False),
        ("STREAM <s> [NOW] { ?x <p> ?y } FILTER NOT EXISTS { " + MOVING + " }", False),
        ("STREAM <s> [NOW] { ?x <p> ?y } FILTER (RAND() > 0.5 || NOW() > ?y)", False),
    ],
)
def test_answers_that_cannot_grow_between_arrivals(body: str, graphs: bool) -> None:
    found = looking(parse(f"SELECT ?x WHERE {{ {body} }}", "cqels"))
    assert (found.tick.kind, found.graphs) == (TickKind.BATCH, graphs)
    assert found.reason is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"SELECT ?x WHERE {{ {MOVING} OPTIONAL {{ STREAM <t> [RANGE 1s] {{ ?x <q> ?z }} }} }}", "OPTIONAL"),
        (f"SELECT ?x WHERE {{ {MOVING} MINUS {{ STREAM <t> [RANGE 1s] {{ ?x <q> ?z }} }} }}", "MINUS"),
        (
            f"SELECT ?x WHERE {{ {MOVING} FILTER EXISTS {{ STREAM <t> [RANGE 1s] {{ ?x <q> ?z }} }} }}",
            "EXISTS",
        ),
        (f"SELECT (COUNT(*) AS ?n) WHERE {{ {MOVING} }}", "groups"),
        ("SELECT (COUNT(*) AS ?n) WHERE { STREAM <s> [NOW] { ?x <p> ?y } }", "groups"),
        (f"SELECT ?x WHERE {{ {MOVING} }} LIMIT 3", "LIMIT"),
        (f"SELECT ?x (NOW() AS ?n) WHERE {{ {MOVING} }}", "another value"),
        (f"SELECT ?x (RAND() AS ?n) WHERE {{ {MOVING} }}", "another value"),
        (f"SELECT ?x WHERE {{ {MOVING} SERVICE <e> {{ ?x <q> ?z }} }}", "SERVICE"),
        (f"ASK {{ {MOVING} }}", "ASK"),
        (RSPQL.format("RSTREAM ?x", "NOW", "INSTANT"), "RSTREAM"),
        (RSPQL.format("ISTREAM ?x", "NOW", "EVALUATION"), "the one before"),
        (RSPQL.format("ISTREAM ?x", "NOW", "INSTANT EMPTY"), "without results"),
        (RSPQL.format("ISTREAM ?x", "RANGE 5s", "INSTANT"), "otherwise than on content change"),
        (RSPQL.format("ISTREAM ?x", "FROM NOW-5s TO NOW-2s REPORT CONTENT CHANGE", "INSTANT"), "past"),
    ],
)
def test_why_every_change_has_to_be_looked_at(text: str, reason: str) -> None:
    found = looking(parse(text))
    assert found.tick.kind is TickKind.CHANGE and found.graphs
    assert found.reason is not None and reason in found.reason


def test_a_group_that_needs_a_row_of_now_is_there_at_arrivals_alone() -> None:
    query = parse("SELECT ?x (COUNT(*) AS ?n) WHERE { STREAM <s> [NOW] { ?x <p> ?y } } GROUP BY ?x", "cqels")
    assert looking(query).tick.kind is TickKind.BATCH
    assert at_arrivals(query).dataset.windows[0].semantics.tick.kind is TickKind.BATCH


def test_other_ticks_stay_what_they_are() -> None:
    query = parse(RSPQL.replace("CHANGE", "TIME 2s").format("ISTREAM ?x", "NOW", "INSTANT"))
    assert (looking(query).tick.unit, looking(query).graphs, looking(query).reason) == (2_000_000, True, None)
    assert at_arrivals(query) is query


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (MOVING, GraphsRead()),
        (f"{MOVING} ?y <q> ?z", GraphsRead(default=True)),
        (f"{MOVING} GRAPH <g> {{ ?y <q> ?z }}", GraphsRead(named=frozenset({"g"}))),
        (f"{MOVING} FILTER EXISTS {{ GRAPH ?g {{ ?y <q>* ?z }} }}", GraphsRead(named=None)),
    ],
)
def test_the_graphs_that_a_query_reads(body: str, read: GraphsRead) -> None:
    assert graphs_read(parse(f"SELECT ?x WHERE {{ {body} }}", "cqels")) == read
