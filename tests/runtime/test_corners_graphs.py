"""Names of graphs in windows, through every stage but Spark: GRAPH sees each named graph of which the window
holds a triple, also where no triple of it matches.

Messages in the timelines: g1 has a triple that the patterns match (:a :p :b), g2 and g3 have one they do not
(:c :z :d); a plain line is in no graph.
"""

from __future__ import annotations

from typing import Any

import pytest

from weir.testing import Scenario

EVALUATORS = ("interval", "auto", "reference")
P, Z = "<http://e/a> <http://e/p> <http://e/b>", "<http://e/c> <http://e/z> <http://e/d>"
G1, G2, G3 = (f"<http://e/g{n}>" for n in (1, 2, 3))


def query(body: str, window: str = "RANGE 10 STEP 10", selected: str = "*") -> str:
    return (
        f"PREFIX : <http://e/> SELECT {selected} FROM NAMED WINDOW <w> ON <s> [{window}] "
        f"WHERE {{ WINDOW <w> {{ {body} }} }}"
    )


def lines(*sent: tuple[int, str]) -> str:
    return "".join(f"{at}\t{statement} .\n" for at, statement in sent)


def shown(found: list[dict[str, Any]]) -> list[str]:
    """Each result as its time in milliseconds and its bindings, without namespaces, in order."""
    out = []
    for line in found:
        bindings = sorted(line["bindings"].items())
        at = int(line["at"].rstrip("Z").rsplit(".")[1])
        out.append(
            " ".join([str(at), *(f"{name}={each['value'].rsplit('/')[-1]}" for name, each in bindings)])
        )
    return sorted(out)


def answers(text: str, sent: str, evaluator: str, **options: Any) -> list[str]:
    return shown(Scenario(text, evaluator=evaluator, **options).run([sent], "s"))


ONE_WINDOW = lines((0, f"{P} {G1}"), (0, f"{Z} {G2}"), (1, f"{Z} {G2}"), (2, Z))
"""g1 and g2, the latter in two messages, and a triple in no graph."""


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("GRAPH ?g {}", ["10 g=g1", "10 g=g2"]),
        ("GRAPH ?g { OPTIONAL { ?s :p ?o } }", ["10 g=g1 o=b s=a", "10 g=g2"]),
        (
            "GRAPH ?g { { ?s :p ?o } UNION { BIND(1 AS ?n) } }",
            ["10 g=g1 n=1", "10 g=g1 o=b s=a", "10 g=g2 n=1"],
        ),
        ("GRAPH ?g { FILTER NOT EXISTS { ?s :p ?o } }", ["10 g=g2"]),
        ("GRAPH ?g { VALUES ?n { 1 } MINUS { ?s :p ?o BIND(1 AS ?n) } }", ["10 g=g2 n=1"]),
        ("GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s :p ?o } }", ["10 g=g1 n=1", "10 g=g2 n=0"]),
        ("GRAPH ?g { SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s }", ["10 g=g1 n=1 s=a"]),
        ("GRAPH ?g { BIND(EXISTS { ?s :p ?o } AS ?n) }", ["10 g=g1 n=true", "10 g=g2 n=false"]),
        ("GRAPH ?g { BIND(?g AS ?n) } FILTER (?g = :g2)", ["10 g=g2"]),
        ("GRAPH ?g {} FILTER (?g = :g2)", ["10 g=g2"]),
        ("GRAPH ?g { GRAPH ?h { ?s :p ?o } }", ["10 g=g1 h=g1 o=b s=a", "10 g=g2 h=g1 o=b s=a"]),
        ("GRAPH :g2 {}", ["10"]),
        ("GRAPH :g2 { OPTIONAL { ?s :p ?o } }", ["10"]),
        ("GRAPH :g2 { BIND(1 AS ?n) }", ["10 n=1"]),
        ("GRAPH :g3 {}", []),
        ("GRAPH :g3 { SELECT (COUNT(*) AS ?n) { ?s :p ?o } }", []),
        ("?s :p ?o FILTER EXISTS { GRAPH :g2 {} }", ["10 o=b s=a"]),
        ("?s :p ?o FILTER NOT EXISTS { GRAPH :g2 {} }", []),
        ("?s :p ?o FILTER EXISTS { GRAPH ?g { FILTER NOT EXISTS { ?s :p ?o } } }", ["10 o=b s=a"]),
        ("?s :p ?o FILTER NOT EXISTS { GRAPH ?g { ?s :z ?x } }", ["10 o=b s=a"]),
        ("?s :p ?o OPTIONAL { GRAPH ?g {} FILTER (?g = :g2) }", ["10 g=g2 o=b s=a"]),
        ("?s :p ?o", ["10 o=b s=a"]),
        ("GRAPH ?g { ?s :p ?o }", ["10 g=g1 o=b s=a"]),
        ("GRAPH ?g { ?s :y* :q }", ["10 g=g1 s=q", "10 g=g2 s=q"]),
    ],
)
def test_bodies(body: str, expected: list[str], evaluator: str) -> None:
    assert answers(query(body), ONE_WINDOW, evaluator) == expected


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("content", ["GRAPH", "BAG"])
def test_a_name_counts_once(content: str, evaluator: str) -> None:
    text = query("GRAPH ?g {}", f"RANGE 10 STEP 10 CONTENT {content}")
    assert answers(text, ONE_WINDOW, evaluator) == ["10 g=g1", "10 g=g2"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_variables_that_results_do_not_show(evaluator: str) -> None:
    text = query("GRAPH ?g { OPTIONAL { ?s :p ?o } }", selected="(COUNT(*) AS ?n)")
    assert answers(text, ONE_WINDOW, evaluator) == ["10 n=2"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("restarts", [False, True])
def test_a_name_is_there_as_long_as_a_triple_of_its_graph(evaluator: str, restarts: bool) -> None:
    """
    g2   0    12
    g3        12
         [--10--)
              [--10--)
    """
    sent = [lines((0, f"{Z} {G2}")), lines((12, f"{Z} {G3}"), (12, f"{Z} {G2}")), lines((25, Z))]
    text = query("GRAPH ?g { OPTIONAL { ?s :p ?o } }", "RANGE 10 STEP 10")
    found = Scenario(text, evaluator=evaluator, restarts=restarts).run(sent, "s")
    assert shown(found) == ["10 g=g2", "20 g=g2", "20 g=g3"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("TRIPLES 2", ["0 g=g1", "0 g=g2", "1 g=g2", "2 g=g2"]),
        ("TRIPLES 1 STEP 2", ["0 g=g2"]),
        ("ELEMENTS 1", ["0 g=g1", "0 g=g2", "1 g=g2"]),
        ("ALL", ["0 g=g1", "0 g=g2", "1 g=g1", "1 g=g2", "2 g=g1", "2 g=g2"]),
        ("NOW", ["0 g=g1", "0 g=g2", "1 g=g2"]),
        ("RANGE 1", ["1 g=g1", "1 g=g2", "2 g=g2"]),
    ],
)
def test_kinds_of_windows(window: str, expected: list[str], evaluator: str) -> None:
    assert answers(query("GRAPH ?g {}", window), ONE_WINDOW, evaluator) == expected


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_window_of_triples_may_hold_the_middle_of_a_message(evaluator: str) -> None:
    """Of five triples of g2, g1, g2, g3, g2 in one message, the third and fourth are shown."""
    sent = lines(*((0, f"{Z[:-2]}{n}> {g}") for n, g in enumerate((G2, G1, G2, G3, G2))), (1, Z))
    assert answers(query("GRAPH ?g {}", "TRIPLES 2 STEP 4"), sent, evaluator) == ["0 g=g2", "0 g=g3"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_several_windows_have_their_own_names(evaluator: str) -> None:
    text = (
        "SELECT * FROM NAMED WINDOW <http://e/v> ON <s> [RANGE 10 STEP 10] "
        "FROM NAMED WINDOW <http://e/w> ON <t> [RANGE 10 STEP 10] WHERE { WINDOW ?w { GRAPH ?g {} } }"
    )
    scenario = Scenario(text, evaluator=evaluator)
    scenario.lane("s").put(lines((0, f"{Z} {G2}"))).end()
    scenario.lane("t").put(lines((0, f"{Z} {G3}"))).end()
    assert shown(scenario.batch()) == ["10 g=g2 w=v", "10 g=g3 w=w"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("beside", ["", "FROM NAMED WINDOW <v> ON <s> [RANGE 10 STEP 10]"])
def test_outside_windows_names_are_those_of_static_graphs(beside: str, evaluator: str) -> None:
    text = f"SELECT * FROM WINDOW <w> ON <s> [RANGE 10 STEP 10] {beside} WHERE {{ GRAPH ?g {{}} }}"
    static = {"http://e/static": "<urn:x> <urn:x> <urn:x> ."}
    assert answers(text, ONE_WINDOW, evaluator, graphs=static) == ["10 g=static"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_csparql_merges_triples_but_not_names(evaluator: str) -> None:
    text = (
        "PREFIX : <http://e/> SELECT * FROM STREAM <s> [RANGE 10ms STEP 10ms] "
        "WHERE { ?s :p ?o OPTIONAL { GRAPH ?g { OPTIONAL { ?x :none ?y } } } }"
    )
    static = {"http://e/static": "<urn:x> <urn:x> <urn:x> .", None: "<urn:s> <http://e/p> <urn:o> ."}
    found = answers(text, ONE_WINDOW, evaluator, graphs=static, dialect="csparql")
    assert found == ["10 g=static o=b s=a", "10 g=static o=urn:o s=urn:s"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_cqels_streams(evaluator: str) -> None:
    text = "SELECT ?g WHERE { STREAM <s> [NOW] { GRAPH ?g {} } }"
    sent = lines((0, f"{Z} {G2}"), (0, f"{Z} {G2}"), (3, f"{Z} {G3}"))
    assert answers(text, sent, evaluator, dialect="cqels") == ["0 g=g2", "3 g=g3"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_what_a_query_makes_has_no_names(evaluator: str) -> None:
    queries = {
        "made": "PREFIX : <http://e/> REGISTER RSTREAM <made> AS CONSTRUCT { ?g :is :there } "
        "FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { WINDOW <w> { GRAPH ?g {} } }",
        "read": "SELECT ?s (EXISTS { WINDOW <w> { GRAPH ?g {} } } AS ?named) "
        "FROM NAMED WINDOW <w> ON <made> [RANGE 10 STEP 10] WHERE { WINDOW <w> { ?s ?p ?o } }",
    }
    found = Scenario(queries, evaluator=evaluator).run([ONE_WINDOW], "s")
    assert shown([line for line in found if line["query"] == "read"]) == [
        "20 named=false s=g1",
        "20 named=false s=g2",
    ]


def test_queries_that_differ_in_constants_alone() -> None:
    """Sixteen of one shape are evaluated as one; each asks for graphs without its own predicate."""
    queries = {
        f"q{n:02}": query(
            f"GRAPH ?g {{ FILTER NOT EXISTS {{ ?s <http://e/{'pz'[n % 2]}> <http://e/{n}> }} }}"
        )
        for n in range(16)
    }
    sent = lines((0, "<urn:s> <http://e/p> <http://e/4> <http://e/g1>"), (0, f"{Z} {G2}"))
    together = shown(Scenario(queries, evaluator="shared").run([sent], "s"))
    assert together == shown(Scenario(queries, evaluator="reference").run([sent], "s"))
    assert together.count("10 g=g1") == 15


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize(
    "text",
    [
        query("?s :p ?o", selected="?s"),
        query("?s :p ?o . ?x :z ?y", selected="(COUNT(*) AS ?n)"),
        query("?s ?p :b", selected="?s"),
        query("?s :p ?o FILTER (?s = :a)", selected="?s"),
        query("?s :p/:z* ?o", selected="?s"),
    ],
)
def test_quads_where_no_graph_is_asked_for(text: str, evaluator: str) -> None:
    (found,) = answers(text, ONE_WINDOW, evaluator)
    assert found in ("10 s=a", "10 n=1")


def test_auto_falls_back_on_quads() -> None:
    """RAND inside EXISTS is left to the reference evaluator."""
    text = query("?s :p ?o FILTER EXISTS { ?x :z ?y FILTER (RAND() < 2) }")
    assert answers(text, ONE_WINDOW, "auto") == ["10 o=b s=a"]


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
@pytest.mark.parametrize("graph", ["<urn:g>", "?g"])
@pytest.mark.parametrize("there", [True, False])
def test_a_graph_around_another_window_has_to_be_there(evaluator: str, graph: str, there: bool) -> None:
    """What stands in GRAPH matches triples of another window, not of the graph, whose name counts all the
    same; no pattern matches its only triple."""
    query = f"""SELECT ?x FROM NAMED WINDOW <urn:g> ON <s> [ALL] FROM NAMED WINDOW <w> ON <s> [ALL]
        WHERE {{ WINDOW <w> {{ GRAPH {graph} {{ WINDOW <urn:g> {{ ?x <urn:p> ?y }} }} }} }}"""
    lines = "1\t<urn:a> <urn:p> <urn:b> .\n" + "1\t<urn:z> <urn:z> <urn:z> <urn:g> .\n" * there
    assert len(Scenario(query, evaluator=evaluator).run([lines], "s")) == int(there)
