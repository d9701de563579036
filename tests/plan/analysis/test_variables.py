"""Which variables a plan can bind, which it always binds, and when EXISTS may be a plain join."""

from __future__ import annotations

import pytest

from plan.plan_kit import built
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import may_be_empty
from weir.plan import nodes as p
from weir.plan.analysis.variables import (
    certain,
    everything,
    joinable,
    marks,
    possible,
    reads,
    subjects,
    substituted,
)
from weir.rdf.terms import IRI


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


@pytest.mark.parametrize(
    ("pattern", "outer"),
    [
        ("?a :p ?b", ()),
        ("?a :p ?b FILTER(?a != ?b)", ()),
        ("?b :p ?c FILTER(?a != ?b)", ("a",)),
        ("?c :p ?d OPTIONAL { ?d :q ?a }", ("a",)),
        ("?a :p* ?c", ("a",)),
        ("?a :p+ ?c", ()),
        ("{ SELECT ?c { ?c :p ?a FILTER(?a > 1) } }", ()),
        ("{ SELECT ?a { ?a :p ?c } LIMIT 1 }", ("a",)),
    ],
)
def test_what_has_to_be_put_in(pattern: str, outer: tuple[str, ...]) -> None:
    plan = built(pattern)
    assert substituted(plan, frozenset({"a"})) == outer
    assert joinable(plan, frozenset({"a"})) is not bool(outer)


def test_everything_that_is_mentioned_but_hidden() -> None:
    plan = built("?a :p ?b FILTER(?x > 1) OPTIONAL { { SELECT ?c { ?c :q ?hidden } } }")
    assert everything(plan) == {"a", "b", "x", "c"}


@pytest.mark.parametrize(
    ("path", "empty"),
    [
        (a.Link(IRI("p")), False),
        (a.ZeroOrMore(a.Link(IRI("p"))), True),
        (a.Sequence(a.ZeroOrOne(a.Link(IRI("p"))), a.Link(IRI("q"))), False),
        (a.Alternative(a.ZeroOrOne(a.Link(IRI("p"))), a.Link(IRI("q"))), True),
        (a.Inverse(a.OneOrMore(a.ZeroOrMore(a.Link(IRI("p"))))), True),
    ],
)
def test_paths_of_length_zero(path: a.Path, empty: bool) -> None:
    assert may_be_empty(path) is empty
