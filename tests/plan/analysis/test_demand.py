"""What a query wants of its streams: filters that hold a variable to an IRI leave the rest out, and nothing
else changes by it."""

from __future__ import annotations

import pytest

from weir.language import parse
from weir.plan.analysis.demand import Wanted, demands
from weir.rdf.terms import IRI
from weir.testing import Scenario

HEAD = "PREFIX : <http://e/> SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 30 STEP 10] WHERE {{ {} }}"
A = IRI("http://e/a")


def wanted(body: str) -> set[Wanted]:
    return set(demands(parse(HEAD.format(body)), ["s"])["s"])


def subjects(body: str) -> set[object]:
    return {each.subject for each in wanted(body)}


@pytest.mark.parametrize(
    "body",
    [
        "WINDOW <w> { ?x :p ?y } FILTER (?x = :a)",
        "WINDOW <w> { ?x :p ?y . ?x :q ?z } FILTER (:a = ?x)",
        "WINDOW <w> { ?x :p ?y FILTER (?x = :a && ?y != :b) }",
        "{ WINDOW <w> { ?x :p ?y } } UNION { WINDOW <w> { ?x :q ?y } } FILTER (?x = :a)",
        "{ SELECT ?x WHERE { WINDOW <w> { ?x :p ?y } } } FILTER (?x = :a)",
    ],
)
def test_a_filter_holds_a_variable_to_an_iri(body: str) -> None:
    assert subjects(body) == {A}


@pytest.mark.parametrize(
    "body",
    [
        "WINDOW <w> { ?x :p ?y } FILTER (?x != :a)",
        "WINDOW <w> { ?x :p ?y } FILTER (?x = :a || ?y = :a)",
        "WINDOW <w> { ?x :p ?y } FILTER (!(?x = :a))",
        "{ SELECT ?y WHERE { WINDOW <w> { ?x :p ?y } } } FILTER (?x = :a)",
        "WINDOW <w> { ?x :p ?y } OPTIONAL { WINDOW <w> { ?x :q ?z } FILTER (?x = :a) }",
    ],
)
def test_where_it_may_not(body: str) -> None:
    assert None in subjects(body)


def test_only_an_iri_is_equal_to_nothing_but_itself() -> None:
    assert {each.object for each in wanted("WINDOW <w> { ?x :p ?y } FILTER (?y = 1)")} == {None}


@pytest.mark.parametrize(
    "body",
    [
        "WINDOW <w> {{ ?x :p ?y }} FILTER ({})",
        "WINDOW <w> {{ ?x :p ?y . ?y :q ?z }} FILTER ({} && BOUND(?y))",
        "WINDOW <w> {{ ?x :p ?y }} OPTIONAL {{ WINDOW <w> {{ ?x :q ?z }} FILTER ({}) }}",
        "WINDOW <w> {{ ?x :p ?y }} MINUS {{ WINDOW <w> {{ ?x :q ?z }} FILTER ({}) }}",
        "WINDOW <w> {{ ?y :p ?z }} OPTIONAL {{ WINDOW <w> {{ ?x :q ?y }} }} FILTER ({})",
        "WINDOW <w> {{ ?y :q ?z }} FILTER EXISTS {{ WINDOW <w> {{ ?x :p ?y }} FILTER ({}) }}",
        "{{ SELECT ?x (COUNT(*) AS ?n) WHERE {{ WINDOW <w> {{ ?x :p ?y }} }} GROUP BY ?x }} FILTER ({})",
        "{{ WINDOW <w> {{ ?x :p ?y }} }} UNION {{ WINDOW <w> {{ ?z :q ?y }} }} FILTER ({})",
    ],
)
def test_results_are_those_of_a_filter_that_says_the_same_otherwise(body: str) -> None:
    lines = "".join(
        f"{10 * n + at}\t<http://e/{s}> <http://e/{p}> <http://e/{o}> .\n"
        for n, (s, p, o) in enumerate(["apb", "bpc", "bqc", "aqb", "cpa", "apa", "aqa", "cqb", "bpa"])
        for at in (0, 7)
    )
    found = [
        Scenario({"q": HEAD.format(body.format(condition))}).run([lines], "s")
        for condition in ("?x = :a", 'STR(?x) = "http://e/a"')
    ]
    assert found[0] == found[1]
    assert found[0]


def names(body: str, window: str = "RANGE 30 STEP 10") -> set[object]:
    """The graphs whose names are asked for; None is any."""
    text = HEAD.format(body).replace("RANGE 30 STEP 10", window)
    return {each.graph for each in demands(parse(text), ["s"])["s"] if each.names}


@pytest.mark.parametrize(
    "body",
    [
        "GRAPH ?g {}",
        "GRAPH ?g { OPTIONAL { ?x :p ?y } }",
        "GRAPH ?g { { ?x :p ?y } UNION { BIND(1 AS ?z) } }",
        "GRAPH ?g { FILTER NOT EXISTS { ?x :p ?y } }",
        "GRAPH ?g { SELECT (COUNT(*) AS ?z) { ?x :p ?y } }",
        "GRAPH ?g { VALUES ?x { :a } MINUS { ?x :p ?y } }",
        "GRAPH ?g { GRAPH :a { ?x :p ?y } }",
        "?x :p ?y FILTER EXISTS { GRAPH ?g { OPTIONAL { ?x :q ?y } } }",
    ],
)
def test_names_of_graphs_where_a_body_can_do_without_a_triple(body: str) -> None:
    assert names(f"WINDOW <w> {{ {body} }}") == {None}


@pytest.mark.parametrize(
    "body",
    [
        "WINDOW <w> { GRAPH ?g { ?x :p ?y } }",
        "WINDOW <w> { GRAPH ?g { ?x :p ?y OPTIONAL { ?x :q ?z } BIND(1 AS ?n) } }",
        "WINDOW <w> { GRAPH ?g { { ?x :p ?y } UNION { ?x :q ?y } MINUS { ?x :p :a } } }",
        "WINDOW <w> { GRAPH ?g { SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x } }",
        "WINDOW <w> { GRAPH ?g { VALUES ?x { :a } ?x :p ?y FILTER NOT EXISTS { ?x :q ?y } } }",
        "WINDOW <w> { ?x :p ?y OPTIONAL { ?x :q ?z } }",
        "WINDOW <w> { ?x :p ?y } GRAPH ?g {}",
    ],
)
def test_and_only_there(body: str) -> None:
    assert names(body) == set()


def test_the_name_of_one_graph() -> None:
    assert names("WINDOW <w> { GRAPH :a { OPTIONAL { ?x :p ?y } } }") == {A}
    assert names("WINDOW <w> { GRAPH ?g {} } FILTER (?g = :a)") == {A}


def test_a_window_that_counts_triples_wants_all_of_them() -> None:
    body = "WINDOW <w> { GRAPH ?g {} }"
    assert names(body, "TRIPLES 3") == set()
    text = HEAD.format(body).replace("RANGE 30 STEP 10", "TRIPLES 3")
    assert demands(parse(text), ["s"])["s"] == (Wanted(texts=(False, False, False, True)),)


def test_an_evaluator_on_terms_needs_every_text() -> None:
    query = parse(HEAD.format("WINDOW <w> { ?x :p ?y . GRAPH :a {} }"))
    assert {each.texts for each in demands(query, ["s"], every_text=True)["s"]} == {(True,) * 4}
    assert {each.texts[3] for each in demands(query, ["s"])["s"]} == {False}
