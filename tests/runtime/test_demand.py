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
