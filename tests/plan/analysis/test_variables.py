"""Which variables a plan can bind, and which it always binds."""

from __future__ import annotations

import pytest

from plan.plan_kit import built
from weir.plan import nodes as p
from weir.plan.analysis.variables import certain, marks, possible, reads, subjects


@pytest.mark.parametrize(
    ("pattern", "may", "must"),
    [
        ("?a :p ?b", "a b", "a b"),
        ("?a :p ?b OPTIONAL { ?b :q ?c }", "a b c", "a b"),
        ("{ ?a :p ?b } UNION { ?a :q ?c }", "a b c", "a"),
        ("?a :p ?b MINUS { ?b :q ?c }", "a b", "a b"),
        ("GRAPH ?g { ?a :p ?b }", "a b g", "a b g"),
        ("VALUES (?a ?b) { (1 2) (3 UNDEF) }", "a b", "a"),
        ("?a :p ?b BIND(?a AS ?c) BIND(?a + 1 AS ?d)", "a b c d", "a b c"),
        ("{ SELECT ?a (COUNT(*) AS ?n) (MAX(?b) AS ?m) { ?a :p ?b } GROUP BY ?a }", "a m n", "a n"),
        ("SERVICE <e> { ?a :p ?b }", "a b", ""),
    ],
)
def test_possible_and_certain(pattern: str, may: str, must: str) -> None:
    plan = built(pattern)
    assert (possible(plan), certain(plan)) == (set(may.split()), set(must.split()))


def test_a_formula_reads_what_its_exists_could_bind() -> None:
    plan = built("?a :p ?b FILTER(?a != 1 || EXISTS { ?b :q ?c })")
    assert isinstance(plan, p.Join)
    assert reads(plan.conditions[0]) == {"a", "b", "c"}


def test_subjects() -> None:
    assert subjects(built("?a :p ?b . ?c :q ?d OPTIONAL { ?e :r ?f }")) == {"a", "c"}


def test_marks_are_those_of_the_enclosing_graph() -> None:
    plan = built("GRAPH ?g { ?a :p ?b FILTER EXISTS { ?b :q ?c } }")
    assert isinstance(plan, p.Graph)
    assert marks(plan) == frozenset() and marks(plan.plan) == {plan.name}
