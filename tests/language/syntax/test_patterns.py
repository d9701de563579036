"""Groups in braces as patterns: the W3C translation of patterns, paths and blank nodes."""

from __future__ import annotations

import pytest

from language.algebra_kit import EMPTY, ONE, XPY, XQZ, P, Q, X, Y, Z, b, bgp, where
from weir.errors import SyntaxError
from weir.language import parse
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.syntax.patterns import joined, numbered
from weir.rdf.terms import IRI, XSD, Literal, Variable


@pytest.mark.parametrize(
    ("group", "pattern"),
    [
        ("", EMPTY),
        ("{}", EMPTY),
        ("?x :p ?y", XPY),
        ("{ ?x :p ?y }", XPY),
        ("?x :p ?y . ?x :q ?z", bgp((X, P, Y), (X, Q, Z))),
        ("?x :p ?y ; :q ?z", bgp((X, P, Y), (X, Q, Z))),
        ("?x :p ?y , ?z", bgp((X, P, Y), (X, P, Z))),
        ("?x :p ?y . { ?x :q ?z }", a.Join(XPY, XQZ)),
        ("?x :p ?y OPTIONAL { ?x :q ?z }", a.LeftJoin(XPY, XQZ)),
        ("OPTIONAL { ?x :q ?z }", a.LeftJoin(EMPTY, XQZ)),
        ("?x :p ?y MINUS { ?x :q ?z }", a.Minus(XPY, XQZ)),
        ("{ ?x :p ?y } UNION { ?x :q ?z }", a.Union(XPY, XQZ)),
        ("GRAPH ?g { ?x :p ?y }", a.Graph(Variable("g"), XPY)),
        ("GRAPH ?g {}", a.Graph(Variable("g"), EMPTY)),
        ("SERVICE SILENT :p { ?x :p ?y }", a.Service(P, XPY, True)),
        ("BIND (1 AS ?x)", a.Extend(EMPTY, ((X, ONE),))),
        ("VALUES ?x { 1 UNDEF }", a.Values((X,), ((ONE,), (None,)))),
        ("?x :p ?y VALUES ?x { 1 }", a.Join(XPY, a.Values((X,), ((ONE,),)))),
    ],
)
def test_patterns(group: str, pattern: a.Pattern) -> None:
    assert where(group) == pattern


def test_the_empty_pattern_joins_with_nothing() -> None:
    assert joined(None, XPY) == joined(EMPTY, XPY) == joined(XPY, EMPTY) == XPY
    assert joined(XPY, XQZ) == a.Join(XPY, XQZ)


def test_a_filter_acts_on_its_whole_group() -> None:
    """Section 18.2.2.2: also on what stands after it, and it does not part the triples around it."""
    condition = e.Compare(e.Comparison.GT, X, ONE)
    assert where("FILTER (?x > 1) ?x :p ?y") == a.Filter(condition, XPY)
    assert where("?x :p ?y FILTER (?x > 1) ?x :q ?z") == a.Filter(condition, bgp((X, P, Y), (X, Q, Z)))


def test_two_filters_are_one_conjunction() -> None:
    one, two = e.Bound(X), e.Bound(Y)
    assert where("?x :p ?y FILTER BOUND(?x) FILTER BOUND(?y)") == a.Filter(e.And(one, two), XPY)


def test_a_filter_of_an_optional_is_its_condition() -> None:
    """Section 18.2.2.6; one bracket deeper it is not (test dawg-optional-filter-005-not-simplified)."""
    condition = e.Bound(Y)
    assert where("?x :p ?y OPTIONAL { ?x :q ?z FILTER BOUND(?y) }") == a.LeftJoin(XPY, XQZ, condition)
    deeper = where("?x :p ?y OPTIONAL { { ?x :q ?z FILTER BOUND(?y) } }")
    assert deeper == a.LeftJoin(XPY, a.Filter(condition, XQZ))


@pytest.mark.parametrize(
    ("triple", "pattern"),
    [
        ("?x :p/:q ?y", bgp((X, P, b(0)), (b(0), Q, Y))),
        ("?x ^:p ?y", bgp((Y, P, X))),
        ("?x ^(:p/:q) ?y", bgp((b(0), Q, X), (Y, P, b(0)))),
        ("?x :p* ?y", a.PathPattern(X, a.ZeroOrMore(a.Link(P)), Y)),
        ("?x ^(:p*) ?y", a.PathPattern(Y, a.ZeroOrMore(a.Link(P)), X)),
        ("?x :p|:q ?y", a.PathPattern(X, a.Alternative(a.Link(P), a.Link(Q)), Y)),
        ("?x !(:p|^:q) ?y", a.PathPattern(X, a.NegatedSet((P,), (Q,)), Y)),
        ("?x !() ?y", a.PathPattern(X, a.NegatedSet((), ()), Y)),
        ("?x :p/:q+ ?y", a.Join(bgp((X, P, b(0))), a.PathPattern(b(0), a.OneOrMore(a.Link(Q)), Y))),
        ("?x (:p/:q)? ?y", a.PathPattern(X, a.ZeroOrOne(a.Sequence(a.Link(P), a.Link(Q))), Y)),
        ("?x :p +5", bgp((X, P, Literal("+5", XSD + "integer")))),
        ("?x :p+ 5", a.PathPattern(X, a.OneOrMore(a.Link(P)), Literal("5", XSD + "integer"))),
        ("?x (:p) ?y", XPY),
    ],
)
def test_paths(triple: str, pattern: a.Pattern) -> None:
    assert where(triple) == pattern


def test_blank_nodes_are_variables_of_their_basic_graph_pattern() -> None:
    assert where("_:a :p [] . _:a :q [ :p 1 ]") == bgp((b(0), P, b(1)), (b(2), P, ONE), (b(0), Q, b(2)))


def test_collections() -> None:
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    first, rest, nil = (IRI(rdf + name) for name in ("first", "rest", "nil"))
    assert where("?x :p (1 ?y)") == bgp(
        (b(0), first, ONE), (b(0), rest, b(1)), (b(1), first, Y), (b(1), rest, nil), (X, P, b(0))
    )
    assert where("?x :p ()") == bgp((X, P, nil))


def test_a_blank_node_belongs_to_one_basic_graph_pattern() -> None:
    with pytest.raises(SyntaxError, match="_:a is used in two basic graph patterns"):
        where("_:a :p 1 OPTIONAL { _:a :q 2 }")


def test_bind_cannot_assign_what_is_bound() -> None:
    with pytest.raises(SyntaxError, match="BIND cannot assign"):
        where("?x :p ?y BIND (1 AS ?x)")


def test_streams_are_numbered_as_they_stand_in_the_text() -> None:
    query = parse("SELECT * { FILTER EXISTS { STREAM <a> [NOW] {} } STREAM <b> [ALL] {} }")
    assert [(window.name, window.stream) for window in query.dataset.windows] == [(".1", "a"), (".2", "b")]


def test_a_remote_service_cannot_see_windows() -> None:
    text = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { SERVICE <e> { WINDOW <w> { ?x ?p ?y } } }"
    with pytest.raises(SyntaxError, match="SERVICE cannot see"):
        parse(text)


def test_names_follow_the_algebra_wherever_exists_stands() -> None:
    early = where("FILTER EXISTS { ?x :p [] } ?x :q []")
    late = where("?x :q [] FILTER EXISTS { ?x :p [] }")
    assert early != late and numbered(early) == numbered(late) == late


def test_a_filter_does_not_part_the_blank_nodes_around_it() -> None:
    assert where("_:a :p ?x FILTER EXISTS { ?x :p 1 } _:a :q ?z").pattern == bgp((b(0), P, X), (b(0), Q, Z))


@pytest.mark.parametrize(
    ("text", "primary"),
    [
        ("?x <p> 1 ?x <p> 1", "expected '.' or '}'"),
        (".", "expected a pattern or '}'"),
        ("VALUES (?x ?x) {}", "VALUES names a variable twice"),
        ("VALUES (?x) { (1 2) }", "2 values for 1 variables"),
        ("VALUES ?x { _:a }", "expected an IRI, a literal, a triple term or UNDEF"),
    ],
)
def test_what_is_refused(text: str, primary: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        where(text)
    assert primary in caught.value.primary
