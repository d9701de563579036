"""Text → algebra: the W3C translation, its scoping rules and its static checks."""

from __future__ import annotations

import pytest

import weir
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.query import Ask, Construct, Describe, Select
from weir.language.algebra.scope import mentioned, visible
from weir.rdf.terms import IRI, XSD, Literal, Variable

X, Y, Z = (Variable(name) for name in "xyz")
P, Q = IRI("http://e/p"), IRI("http://e/q")
EMPTY = a.BGP(())
ONE = Literal("1", XSD + "integer")


def where(group: str) -> a.Pattern:
    """The pattern of a group, below the projection."""
    pattern = weir.parse(f"PREFIX : <http://e/> SELECT * {{ {group} }}").pattern
    assert isinstance(pattern, a.Project)
    return pattern.pattern


def bgp(*triples: tuple[a.Node, a.Node, a.Node]) -> a.BGP:
    return a.BGP(tuple(a.TriplePattern(*triple) for triple in triples))


def b(number: int) -> Variable:
    return Variable(f".b{number}")


XPY = bgp((X, P, Y))
XQZ = bgp((X, Q, Z))


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
        ("BIND (1 AS ?x)", a.Extend(EMPTY, X, ONE)),
        ("VALUES ?x { 1 UNDEF }", a.Values((X,), ((ONE,), (None,)))),
        ("?x :p ?y VALUES ?x { 1 }", a.Join(XPY, a.Values((X,), ((ONE,),)))),
    ],
)
def test_patterns(group: str, pattern: a.Pattern) -> None:
    assert where(group) == pattern


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
    assert weir.parse("SELECT * { [] ?p ?x }").form == Select((Variable("p"), X))


def test_collections() -> None:
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    first, rest, nil = (IRI(rdf + name) for name in ("first", "rest", "nil"))
    assert where("?x :p (1 ?y)") == bgp(
        (b(0), first, ONE), (b(0), rest, b(1)), (b(1), first, Y), (b(1), rest, nil), (X, P, b(0))
    )
    assert where("?x :p ()") == bgp((X, P, nil))


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("1 + 2 * 3", ("+", "1", ("*", "2", "3"))),
        ("1 - 2 - 3", ("-", ("-", "1", "2"), "3")),
        ("1 -2", ("-", "1", "2")),
        ("1 + -2", ("+", "1", "-2")),
        ("(1 + 2) * 3", ("*", ("+", "1", "2"), "3")),
        ("8 / 2 * 3", ("*", ("/", "8", "2"), "3")),
    ],
)
def test_arithmetic_binds_as_it_should(text: str, expression: object) -> None:
    def shape(found: e.Expression) -> object:
        if isinstance(found, e.Calculate):
            return found.operator.value, shape(found.left), shape(found.right)
        assert isinstance(found, Literal)
        return found.lexical

    pattern = where(f"BIND ({text} AS ?x)")
    assert isinstance(pattern, a.Extend) and shape(pattern.expression) == expression


def test_signs() -> None:
    def bound(text: str) -> e.Expression:
        pattern = where(f"BIND ({text} AS ?x)")
        assert isinstance(pattern, a.Extend)
        return pattern.expression

    assert bound("-5") == Literal("-5", XSD + "integer")
    assert bound("- 5") == e.Negate(Literal("5", XSD + "integer"))
    assert bound("-?y") == e.Negate(Y)
    assert bound("+?y") == e.Plus(Y)


@pytest.mark.parametrize(
    "expression", ["?x = ?y = ?z", "!!?x", "?x <", "IF(1, 2)", "RAND(1)", "BOUND(1)", "SUBSTR(?x)"]
)
def test_bad_expressions(expression: str) -> None:
    with pytest.raises(weir.SyntaxError):
        weir.parse(f"SELECT * {{ FILTER ({expression}) }}")


def test_groups_and_aggregates() -> None:
    query = weir.parse(
        "SELECT ?k (COUNT(*) AS ?n) (SUM(?y) / COUNT(*) AS ?m) { ?x ?p ?y } "
        "GROUP BY (STR(?x) AS ?k) ?p (?y + 1) HAVING (MAX(?y) > 1) ORDER BY DESC(?n) ?y"
    )
    count, total, top, sample = (Variable(f".a{n}") for n in range(4))
    assert isinstance(query.pattern, a.Project) and isinstance(query.pattern.pattern, a.OrderBy)
    order = query.pattern.pattern
    assert order.keys == (a.OrderKey(Variable("n"), True), a.OrderKey(sample))
    outer = order.pattern
    assert isinstance(outer, a.Extend)
    assert outer.expression == e.Calculate(e.Arithmetic.DIVIDE, total, count)
    inner = outer.pattern
    assert isinstance(inner, a.Extend) and (inner.variable, inner.expression) == (Variable("n"), count)
    having = inner.pattern
    assert isinstance(having, a.Filter) and having.condition == e.Compare(e.Comparison.GT, top, ONE)
    group = having.pattern
    assert isinstance(group, a.Group)
    assert group.keys == (Variable("k"), Variable("p"), Variable(".k0"))
    assert group.aggregates == (
        (count, e.Aggregate(e.Aggregation.COUNT)),
        (total, e.Aggregate(e.Aggregation.SUM, Y)),
        (top, e.Aggregate(e.Aggregation.MAX, Y)),
        (sample, e.Aggregate(e.Aggregation.SAMPLE, Y)),
    )


def test_equal_aggregates_are_one() -> None:
    query = weir.parse("SELECT (COUNT(*) AS ?a) (COUNT(*) + 1 AS ?b) { ?x ?p ?y }")
    assert isinstance(query.pattern, a.Project)
    inner = query.pattern.pattern
    while isinstance(inner, a.Extend):
        inner = inner.pattern
    assert isinstance(inner, a.Group) and len(inner.aggregates) == 1


def test_modifiers_in_their_order() -> None:
    query = weir.parse("SELECT DISTINCT ?x { ?x ?p ?y } ORDER BY ?y LIMIT 5 OFFSET 2")
    assert query.pattern == a.Slice(
        a.Distinct(a.Project(a.OrderBy(bgp((X, Variable("p"), Y)), (a.OrderKey(Y),)), (X,))), 2, 5
    )


def test_trailing_values_are_joined_and_seen_by_star() -> None:
    query = weir.parse("SELECT * { ?x ?p 1 } VALUES ?y { 1 }")
    assert query.form == Select((X, Variable("p"), Y))


def test_forms() -> None:
    assert weir.parse("ASK {}").form == Ask()
    assert weir.parse("DESCRIBE <a> ?x <a> { ?x ?p ?y }").form == Describe((IRI("a"), X))
    assert weir.parse("DESCRIBE * { ?x ?p ?y }").form == Describe((X, Variable("p"), Y))
    assert weir.parse("DESCRIBE <a>").pattern == EMPTY
    short = weir.parse("PREFIX : <http://e/> CONSTRUCT WHERE { ?x :p [] }")
    assert short.form == Construct((a.TriplePattern(X, P, Variable(".t0")),))
    assert short.pattern == bgp((X, P, b(0)))


def test_dataset_clauses() -> None:
    query = weir.parse("SELECT * FROM <a> FROM NAMED <b> FROM <c> FROM <a> {}")
    assert (query.dataset.default, query.dataset.named) == (("a", "c"), ("b",))


def test_base_and_prefixes() -> None:
    query = weir.parse("BASE <http://b/d/> PREFIX p: <x#> SELECT * { <../a> p:q\\,r <> }")
    assert query.pattern == a.Project(
        bgp((IRI("http://b/a"), IRI("http://b/d/x#q,r"), IRI("http://b/d/"))), ()
    )


def test_a_stream_of_a_variable_binds_it() -> None:
    query = weir.parse("SELECT * { STREAM ?s [NOW] { ?x ?p ?y } }")
    assert query.form == Select((Variable("s"), X, Variable("p"), Y))
    assert query.streams == (Variable("s"),)


def test_streams_are_numbered_as_they_stand_in_the_text() -> None:
    query = weir.parse("SELECT * { FILTER EXISTS { STREAM <a> [NOW] {} } STREAM <b> [ALL] {} }")
    assert [(window.name, window.stream) for window in query.dataset.windows] == [(".1", "a"), (".2", "b")]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?x ?p ?y BIND (1 AS ?x) }",
        "SELECT (1 AS ?x) { ?x ?p ?y }",
        "SELECT (1 AS ?z) (2 AS ?z) { ?x ?p ?y }",
        "SELECT (COUNT(?x) AS ?x) { ?x ?p ?y }",
        "SELECT (?y AS ?z) (COUNT(*) AS ?n) { ?x ?p ?y }",
        "SELECT ?x { ?x ?p ?y } GROUP BY (1 AS ?y)",
        "SELECT * { ?x ?p ?y } ORDER BY COUNT(*)",
        "SELECT ?x { ?x ?p ?y } GROUP BY (COUNT(*) AS ?n)",
        "SELECT * { VALUES (?x ?x) { (1 2) } }",
        "SELECT * { VALUES (?x ?y) { (1) } }",
        "SELECT * { VALUES ?x { _:a } }",
        "CONSTRUCT { ?x <p>/<q> ?y } {}",
        "CONSTRUCT WHERE { ?x ?p ?y FILTER (1) }",
        "SELECT * { ?x ?p ?y } LIMIT 1 LIMIT 2",
        "SELECT * { ?x ?p ?y } LIMIT 99999999999999999999",
        "SELECT * { SELECT * {} ?x ?p ?y }",
        "ASK {} SELECT * {}",
    ],
)
def test_static_checks(text: str) -> None:
    with pytest.raises(weir.SyntaxError):
        weir.parse(text)


def test_visible_variables() -> None:
    pattern = where(
        "?x :p _:c OPTIONAL { ?y :p 1 } MINUS { ?m :p 1 } GRAPH ?g { ?h :p 1 } "
        "FILTER (?f > EXISTS { ?e :p 1 }) "
        "{ SELECT ?s { ?s :p ?hidden } } BIND (1 AS ?b) VALUES ?v { 1 } SERVICE ?r {}"
    )
    names = [variable.name for variable in visible(pattern) if not variable.internal]
    assert names == ["x", "y", "g", "h", "s", "b", "v", "r"]
    assert isinstance(pattern, a.Filter)
    assert list(mentioned(pattern.condition)) == [Variable("f")]


def test_the_timestamp_function_of_csparql() -> None:
    query = weir.parse(
        "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> SELECT ?x FROM STREAM <s> [RANGE 5s] "
        "{ ?x ?p ?y FILTER (f:timestamp(?x, ?p, ?y) > 1) }"
    )
    assert isinstance(query.pattern, a.Project) and isinstance(query.pattern.pattern, a.Filter)
    function = IRI("http://larkc.eu/csparql/sparql/jena/ext#timestamp")
    call = e.FunctionCall(function, (X, Variable("p"), Y))
    assert query.pattern.pattern.condition == e.Compare(e.Comparison.GT, call, ONE)


def test_a_byte_order_mark_is_no_part_of_a_query() -> None:
    assert weir.parse("\ufeffASK {}").form == Ask()


def test_comments_end_with_their_line() -> None:
    assert where('# { ?a :p\n ?x # <\r :p # "\n ?y') == XPY
