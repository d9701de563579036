"""When EXISTS may be a plain join with the solutions of its pattern."""

from __future__ import annotations

import pytest

from plan.plan_kit import built
from weir.language.algebra import patterns as a
from weir.plan.analysis.substitution import everything, joinable, may_be_empty, substituted
from weir.rdf.terms import IRI


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
