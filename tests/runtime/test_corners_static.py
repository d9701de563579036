"""Corners of static graphs on the whole path: EXISTS that reads outer values, and which graphs there are.

One window, three sensors: b reads 50, c reads 5, d reads 20. The limits in ``urn:g1`` are 10 and 60.
"""

from __future__ import annotations

import pytest

from weir.testing import Scenario

EVALUATORS = pytest.mark.parametrize("evaluator", ["interval", "reference"])
GRAPHS = {
    "urn:g1": "<urn:room> <urn:limit> 10 . <urn:hall> <urn:limit> 60 .",
    "urn:g2": "<urn:b> <urn:limit> 50 .",
    "urn:empty": "",
    None: "<urn:b> <urn:in> <urn:room> . <urn:c> <urn:in> <urn:hall> . <urn:room> <urn:max> 20 .",
}
WINDOW = "FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10]"
LIMITS = "GRAPH :g1 { ?r :limit ?l }"
OVER = f"{{ {LIMITS} FILTER(?v > ?l) }}"


def reading(sensor: str, value: int) -> str:
    return f'1\t<urn:{sensor}> <urn:p> "{value}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'


READINGS = reading("b", 50) + reading("c", 5) + reading("d", 20)


def answers(pattern: str, evaluator: str, select: str = "?o", rest: str = "") -> list[str]:
    """The values of each answer, without prefixes, one after the other."""
    text = f"PREFIX : <urn:> SELECT {select} {WINDOW} WHERE {{ WINDOW <w> {{ ?o :p ?v }} {pattern} }} {rest}"
    lines = Scenario(text, graphs=GRAPHS, evaluator=evaluator).run([READINGS], "s")
    return sorted(
        " ".join(term["value"].removeprefix("urn:") for _, term in sorted(line["bindings"].items()))
        for line in lines
    )


@EVALUATORS
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (OVER, "b d"),
        ("{ GRAPH :g1 { ?r :limit ?l FILTER(?v > ?l) } }", "b d"),
        ("{ VALUES ?l { 10 30 } FILTER(?v > ?l) }", "b d"),
        ("{ FILTER(?v > 10) }", "b d"),
        ("{ BIND(?v AS ?y) FILTER(?y > 10) }", "b d"),
        ("{ BIND(?v + 0 AS ?l) GRAPH :g2 { ?r :limit ?l } }", "b"),
        (f"{{ {LIMITS} FILTER(BOUND(?v)) }}", "b c d"),
        (f"{{ {LIMITS} BIND(?v - ?l AS ?over) FILTER(?over > 0) }}", "b d"),
        (f"{{ {{ {LIMITS} FILTER(?v > ?l) }} UNION {{ GRAPH :g2 {{ ?o :limit ?l }} }} }}", "b d"),
        (f"{{ {LIMITS} OPTIONAL {{ ?r :max ?m FILTER(?v > ?m) }} FILTER(BOUND(?m)) }}", "b"),
        (f"{{ {LIMITS} OPTIONAL {{ ?r :none ?v }} FILTER(?v > ?l) }}", "b d"),
        (f"{{ {LIMITS} OPTIONAL {{ ?r :none ?v }} BIND(?v - ?l AS ?y) FILTER(?y > 0) }}", "b d"),
        (
            f"{{ {LIMITS} OPTIONAL {{ ?r :none ?v }} BIND(EXISTS {{ FILTER(?v > ?l) }} AS ?y) FILTER(?y) }}",
            "b d",
        ),
        (
            f"{{ {LIMITS} OPTIONAL {{ ?r :max ?m OPTIONAL {{ ?r :none ?v }} FILTER(?v > ?m) }} "
            "FILTER(BOUND(?m)) }",
            "b",
        ),
        (f"{{ {{ {LIMITS} FILTER(?v > ?l) }} UNION {{ GRAPH :g2 {{ ?r :none ?l }} }} ?x :in ?r }}", "b d"),
        (f"{{ {{ SELECT ?v ?r {{ {LIMITS} FILTER(?v > ?l) }} }} ?x :in ?r }}", "b d"),
        (
            "{ { WINDOW <w> { ?r :p ?l } FILTER(?v > ?l) } UNION { WINDOW <w> { ?r :q ?l } } ?r :in ?x }",
            "b d",
        ),
        (f"{{ {LIMITS} FILTER(?l < 50) MINUS {{ {LIMITS} FILTER(?v > ?l) }} }}", "c"),
        ("{ GRAPH ?g { ?r :limit ?l } FILTER(?v > ?l) }", "b d"),
        ("{ GRAPH ?g { ?r :limit ?l FILTER NOT EXISTS { ?r :limit ?m FILTER(?v > ?m) } } }", "b c d"),
        ("{ GRAPH ?g { FILTER NOT EXISTS { ?r :limit ?m FILTER(?v >= ?m) } } FILTER(?g = :g2) }", "c d"),
        ("{ ?o :in* ?r FILTER(?v > 10) }", "b d"),
        ("{ ?v :in* 5 }", "c"),
        ("{ ?v (:in*)+ 5 }", "c"),
    ],
)
def test_exists_puts_outer_values_into_a_static_body(evaluator: str, pattern: str, expected: str) -> None:
    assert answers(f"FILTER EXISTS {pattern}", evaluator) == expected.split()
    left = {"b", "c", "d"} - set(expected.split())
    assert answers(f"FILTER NOT EXISTS {pattern}", evaluator) == sorted(left)


@EVALUATORS
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (f"{{ {LIMITS} FILTER EXISTS {{ ?o :in ?r FILTER(?v > ?l) }} }}", "b"),
        (
            f"{{ {LIMITS} FILTER NOT EXISTS {{ GRAPH :g2 {{ ?s :limit ?m }} FILTER(?v < ?m || ?l > ?m) }} }}",
            "b",
        ),
        ("{ FILTER EXISTS { FILTER EXISTS { FILTER(?v > 10) } } }", "b d"),
        (f"{{ {LIMITS} BIND(EXISTS {{ FILTER(?v > ?l) }} AS ?over) FILTER(?over) }}", "b d"),
        (f"{{ WINDOW <w> {{ ?o2 :p ?v2 }} {{ {LIMITS} FILTER(?v > ?l) }} FILTER(?v2 < ?l) }}", "b d"),
    ],
    ids=["again", "negated", "three deep", "in BIND", "beside a window"],
)
def test_nested_patterns_in_exists_see_the_outer_values(evaluator: str, pattern: str, expected: str) -> None:
    assert answers(f"FILTER EXISTS {pattern}", evaluator) == expected.split()


@EVALUATORS
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (f"{{ {{ SELECT ?l {{ {LIMITS} FILTER(?v > ?l) }} }} }}", ""),
        (f"{{ {{ SELECT ?l {{ {LIMITS} }} }} FILTER(?v > ?l) }}", "b d"),
        (f"{{ {{ SELECT DISTINCT ?l {{ {LIMITS} }} }} FILTER(?v > ?l) }}", "b d"),
        (f"{{ {{ SELECT ?v ?l {{ {LIMITS} FILTER(?v > ?l) }} }} }}", "b d"),
        (f"{{ {{ SELECT (MIN(?l) AS ?m) {{ {LIMITS} }} }} FILTER(?v > ?m) }}", "b d"),
        (f"{{ {{ SELECT ?l {{ {LIMITS} }} ORDER BY DESC(?l) LIMIT 1 }} FILTER(?v > ?l) }}", ""),
        (f"{{ WINDOW <w> {{ ?o2 :p ?v2 }} {{ SELECT ?l {{ {LIMITS} }} }} FILTER(?v > ?l) }}", "b d"),
        (f"{{ {{ SELECT ?l {{ {LIMITS} }} }} FILTER EXISTS {{ GRAPH :g2 {{ ?o :limit ?v }} }} }}", "b"),
    ],
    ids=["hidden", "outside", "distinct", "selected", "grouped", "sliced", "beside a window", "nested"],
)
def test_a_subselect_in_exists_sees_the_outer_values_of_what_it_selects(
    evaluator: str, pattern: str, expected: str
) -> None:
    assert answers(f"FILTER EXISTS {pattern}", evaluator) == expected.split()


@EVALUATORS
@pytest.mark.parametrize(
    ("pattern", "select", "rest", "expected"),
    [
        (f"BIND(EXISTS {OVER} AS ?z)", "?o ?z", "", ["b true", "c false", "d true"]),
        ("", f"?o (EXISTS {OVER} AS ?z)", "", ["b true", "c false", "d true"]),
        ("", "?v", f"GROUP BY ?v HAVING (EXISTS {OVER})", ["20", "50"]),
        ("", "?o", f"ORDER BY (EXISTS {OVER}) ?o LIMIT 1", ["c"]),
        ("", f"(SUM(IF(EXISTS {OVER}, 1, 0)) AS ?n)", "", ["2"]),
        (f"OPTIONAL {{ ?o :in ?x FILTER EXISTS {OVER} }}", "?o ?x", "", ["b room", "c", "d"]),
        (f"MINUS {{ WINDOW <w> {{ ?o :p ?v }} FILTER EXISTS {OVER} }}", "?o", "", ["c"]),
        (f"{{ SELECT ?o {{ WINDOW <w> {{ ?o :p ?v }} FILTER EXISTS {OVER} }} }}", "?o", "", ["b", "d"]),
    ],
    ids=["BIND", "SELECT", "HAVING", "ORDER BY", "aggregate", "OPTIONAL", "MINUS", "sub-select"],
)
def test_exists_over_a_static_body_wherever_an_expression_stands(
    evaluator: str, pattern: str, select: str, rest: str, expected: list[str]
) -> None:
    assert answers(pattern, evaluator, select, rest) == expected


@EVALUATORS
def test_a_static_part_that_sees_one_graph_at_a_time_is_not_evaluated_once_for_all(evaluator: str) -> None:
    each = "GRAPH ?g { OPTIONAL { ?x :limit ?l } FILTER(YEAR(NOW()) = 1970 && COALESCE(?l, 60) = 60) }"
    assert answers(each, evaluator, "DISTINCT ?g") == ["empty", "g1"]


# Which graphs there are


@EVALUATORS
@pytest.mark.parametrize(
    "inside",
    [
        "",
        "FILTER NOT EXISTS { ?x ?y ?z }",
        "OPTIONAL { ?x ?y ?z }",
        "BIND(1 AS ?x)",
        "VALUES ?x { 1 }",
        "?x :in* :room",
        "{ SELECT (COUNT(*) AS ?n) { ?x ?y ?z } }",
    ],
)
def test_a_graph_that_was_not_given_has_no_solutions(evaluator: str, inside: str) -> None:
    assert answers(f"GRAPH :none {{ {inside} }}", evaluator) == []
    assert answers(f"GRAPH :empty {{ {inside} }}", evaluator) == ["b", "c", "d"]
    assert answers(f"FILTER EXISTS {{ GRAPH :none {{ {inside} }} }}", evaluator) == []


@EVALUATORS
@pytest.mark.parametrize("mention", ["GRAPH :none { ?a ?b ?c }", "GRAPH :none { ?a :in+ ?c }"])
def test_a_name_in_a_query_makes_no_graph(evaluator: str, mention: str) -> None:
    given = ["empty", "g1", "g2"]
    assert answers(f"GRAPH ?g {{}} OPTIONAL {{ {mention} }}", evaluator, "DISTINCT ?g") == given
    without = "GRAPH ?g { FILTER NOT EXISTS { ?x :limit ?y } }"
    assert answers(f"{without} FILTER NOT EXISTS {{ {mention} }}", evaluator, "DISTINCT ?g") == ["empty"]


@EVALUATORS
def test_a_graph_in_from_makes_no_named_graph(evaluator: str) -> None:
    text = f"SELECT ?g FROM <urn:none> {WINDOW} WHERE {{ GRAPH ?g {{}} }}"
    lines = Scenario(text, graphs=GRAPHS, evaluator=evaluator).run([READINGS], "s")
    assert sorted(line["bindings"]["g"]["value"] for line in lines) == ["urn:empty", "urn:g1", "urn:g2"]


def during_updates(pattern: str, evaluator: str, *, restarts: bool) -> list[str]:
    """Closes and values, while graphs are deleted from and inserted into between the closes.

    closes:    10        20        30        40        50        60        70        80
    updates:     │ ghost:  │ new:    │ new:    │ late: insert at 65
                   delete    insert    delete
    """
    updates = {
        15: "DELETE DATA { GRAPH <urn:ghost> { <urn:a> <urn:p> 1 } }",
        25: "INSERT DATA { GRAPH <urn:new> { <urn:a> <urn:p> 1 } }",
        35: "DELETE DATA { GRAPH <urn:new> { <urn:a> <urn:p> 1 } }",
        45: "INSERT DATA { GRAPH <urn:late> { <urn:a> <urn:p> 1 } }",
    }
    text = f"PREFIX : <urn:> SELECT ?g {WINDOW} WHERE {{ {pattern} }}"
    scenario = Scenario(
        text, graphs={"urn:old": "<urn:a> <urn:p> 1 ."}, evaluator=evaluator, restarts=restarts
    )
    lines = []
    for time in (5, 15, 25, 35, 45, 85):
        scenario.lane("s").put(f"{time}\t<urn:a> <urn:b> <urn:c> .")
        lines += scenario.batch()
        if time in updates:
            scenario.update(updates[time], 65_000 if time == 45 else None)
    return sorted(f"{line['at'][-3:-1]} {line['bindings']['g']['value'][4:]}" for line in lines)


@EVALUATORS
@pytest.mark.parametrize("restarts", [False, True])
def test_an_insertion_makes_a_graph_and_a_deletion_makes_none(evaluator: str, restarts: bool) -> None:
    old = [f"{close} old" for close in range(10, 90, 10)]
    new = [f"{close} new" for close in range(30, 90, 10)]
    late = [f"{close} late" for close in (70, 80)]
    assert during_updates("GRAPH ?g {}", evaluator, restarts=restarts) == sorted(old + new + late)


@EVALUATORS
@pytest.mark.parametrize("restarts", [False, True])
def test_a_graph_that_lost_its_triples_stays(evaluator: str, restarts: bool) -> None:
    bare = "GRAPH ?g { FILTER NOT EXISTS { ?a :p ?b } }"
    gone = [f"{close} new" for close in range(40, 90, 10)]
    assert during_updates(bare, evaluator, restarts=restarts) == gone
    named = "GRAPH :new { BIND(:new AS ?g) FILTER NOT EXISTS { ?a :q ?b } }"
    made = [f"{close} new" for close in range(30, 90, 10)]
    assert during_updates(named, evaluator, restarts=restarts) == made
