"""Patterns are values: equal where they say the same, usable as keys."""

from __future__ import annotations

from weir.language import parse
from weir.language.algebra import patterns as a
from weir.rdf.terms import IRI, Variable

X, Y = Variable("x"), Variable("y")


def test_a_text_means_a_pattern() -> None:
    found = parse("SELECT DISTINCT ?x { ?x <p> ?y OPTIONAL { GRAPH <g> { ?y <q> ?x } } } LIMIT 3").pattern
    left = a.BGP((a.TriplePattern(X, IRI("p"), Y),))
    right = a.Graph(IRI("g"), a.BGP((a.TriplePattern(Y, IRI("q"), X),)))
    assert found == a.Slice(a.Distinct(a.Project(a.LeftJoin(left, right), (X,))), 0, 3)


def test_equal_patterns_are_one_key() -> None:
    texts = (
        "SELECT * { ?x <p> [] ; <q> 1 }",
        "SELECT * { ?x <p> _:b . ?x <q> 1 }",
        "SELECT * { ?x <p> ?b ; <q> 1 }",
    )
    assert len({parse(text).pattern for text in texts}) == 2


def test_every_pattern_is_a_pattern() -> None:
    assert isinstance(a.BGP(()), a.Pattern) and isinstance(a.Reduced(a.BGP(())), a.Pattern)
    assert not isinstance(a.TriplePattern(X, X, X), a.Pattern)


def test_assignments_one_after_the_other_are_one_extend() -> None:
    once = a.extended(a.BGP(()), X, IRI("a"))
    assert once == a.Extend(a.BGP(()), ((X, IRI("a")),))
    assert a.extended(once, Y, IRI("b")) == a.Extend(a.BGP(()), ((X, IRI("a")), (Y, IRI("b"))))
