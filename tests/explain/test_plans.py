"""The plan as text: operators, windows in words, what is kept."""

from __future__ import annotations

import pytest

from weir.explain import explain_text
from weir.explain.plans import parts_text, plan_text, service_text, windows_text
from weir.language import parse
from weir.plan.analysis.bind_joins import asked_services
from weir.plan.planner import plan_query

QUERY = """PREFIX : <urn:>
SELECT ISTREAM ?a (COUNT(*) AS ?n)
FROM NAMED WINDOW <now> ON <s> [NOW]
FROM NAMED WINDOW <five> ON <s> [RANGE PT5M STEP PT1M REPORT WINDOW CLOSE, NON EMPTY]
WHERE {
  WINDOW <now> { ?a :in ?x }
  WINDOW <five> { ?b :in ?y FILTER(?b != :me) }
  GRAPH <plan> { ?x :next ?y . ?x :floor 1 }
  OPTIONAL { SERVICE <http://names> { ?a :name ?m } }
} GROUP BY ?a"""


def test_operators_are_a_tree_with_static_parts_apart() -> None:
    plan = plan_query(parse(QUERY, "rspql"))
    assert plan_text(plan).splitlines() == [
        "project ?a ?n",
        "  bind ?n := ?.a0",
        "    group by ?a: ?.a0 := COUNT(*)",
        "      optional",
        "        join, where ?b != <urn:me>",
        "          window <now>: ?a <urn:in> ?x",
        "          window <five>: ?b <urn:in> ?y",
        "          static part, evaluated once and indexed",
        "            join",
        "              graph <plan>: ?x <urn:next> ?y",
        "              graph <plan>: ?x <urn:floor> 1",
        "        service <http://names>, asked for the rows beside it",
    ]
    assert parts_text(plan) == "2 stream patterns, 1 static parts, 1 service calls"


def test_windows_are_told_in_words() -> None:
    assert windows_text(plan_query(parse(QUERY, "rspql"))).splitlines() == [
        "<now> on <s>, named",
        "    holds    the messages of the current timestamp, as a graph: equal triples count once",
        "    seen     whenever a message comes",
        "    keeps    the triples of 1 pattern, of one timestamp",
        "<five> on <s>, named",
        "    holds    the last PT5M every PT1M, as a graph: equal triples count once",
        "    seen     at each close, unless it is empty",
        "    keeps    the triples of 1 pattern, of PT6M at most",
    ]


@pytest.mark.parametrize(
    ("window", "holds", "keeps"),
    [
        ("RANGE PT2S", "PT2S at a time, one stretch after the other", "of PT4S at most"),
        ('RANGE PT4S STEP PT1S BOUNDS "(]"', "(after the open up to the close)", "of PT5S at most"),
        ("FROM NOW-PT9S TO NOW-PT4S STEP PT1S", "between PT9S and PT4S ago, every PT1S", "of PT10S at most"),
        ("ALL", "everything so far", "for ever (each distinct one once)"),
        ("ALL CONTENT BAG", "each occurrence of a triple counts", "for ever: without bound"),
        ("TRIPLES 7 STEP 2", "the 7 latest triples after every 2", "at most 9 of them"),
        ("ELEMENTS 7", "the 7 latest messages", "of 7 messages at most"),
    ],
)
def test_each_kind_of_window(window: str, holds: str, keeps: str) -> None:
    query = parse(
        f"SELECT ?s FROM NAMED WINDOW <w> ON <s> [{window}] WHERE {{ WINDOW <w> {{ ?s ?p ?o }} }}", "rspql"
    )
    _, held, _, kept = windows_text(plan_query(query)).splitlines()
    assert holds in held
    assert kept.endswith(keeps)


def test_the_evaluator_is_named_with_its_routing_policy() -> None:
    text = explain_text(parse(QUERY, "rspql"))
    assert "== evaluator ==\ninterval: covers all of the query\njoins are routed by cost" in text


def test_the_fallback_is_named_with_its_reason() -> None:
    text = explain_text(parse("SELECT ?s { ?s ?p ?o FILTER EXISTS { ?s ?q ?o FILTER(RAND() < 2) } }"))
    assert "reference: interval does not cover RAND, UUID, STRUUID or BNODE inside EXISTS" in text


def test_an_endpoint_that_is_asked_for_everything_is_warned_of() -> None:
    def told(where: str) -> str:
        plan = plan_query(parse(f"SELECT * {{ {where} }}", "sparql"))
        return "\n".join(map(service_text, asked_services(plan.root)))

    service = "SERVICE <http://e/q> { ?k ?a ?b }"
    assert told(f"?k ?p ?o {service}") == "<http://e/q> is asked by ?k"
    assert "warning" in told(service)
    assert "by ?k where a row binds it\nwarning" in told(f"?s ?p ?o OPTIONAL {{ ?s ?q ?k }} {service}")
