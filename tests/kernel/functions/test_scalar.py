"""Expressions over solutions: errors that survive, lazy branches, seeded draws, τ as NOW."""

from __future__ import annotations

import pytest

from weir.kernel.functions import Context, ExpressionError, evaluate, holds, value_or_none
from weir.kernel.functions.scalar import Draws
from weir.language import parse
from weir.language.algebra.expressions import Builtin, Call, Expression
from weir.language.algebra.patterns import Extend, Project
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from weir.rdf.xsd.values import FALSE, TRUE

F = "http://larkc.eu/csparql/sparql/jena/ext#"


def expression(text: str) -> Expression:
    query = parse(
        f"PREFIX xsd: <{XSD}> PREFIX f: <{F}> SELECT ({text} AS ?result) WHERE {{ BIND(1 AS ?bound) }}",
        "sparql",
    )
    assert isinstance(query.pattern, Project)
    assert isinstance(query.pattern.pattern, Extend)
    return query.pattern.pattern.bindings[-1][1]


def value(text: str, context: Context | None = None, **solution: Term) -> Term | None:
    return value_or_none(expression(text), solution, context or Context())


ONE = Literal("1", XSD + "integer")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?unbound || true", TRUE),
        ("true || ?unbound", TRUE),
        ("?unbound || false", None),
        ("?unbound && false", FALSE),
        ("false && ?unbound", FALSE),
        ("?unbound && true", None),
        ("!?unbound", None),
        ("!(1 = 2)", TRUE),
        ("IF(true, 1, ?unbound)", ONE),
        ("IF(false, ?unbound, 1)", ONE),
        ("IF(?unbound, 1, 1)", None),
        ("COALESCE(?unbound, 1/0, 1)", ONE),
        ("COALESCE(?unbound)", None),
        ("COALESCE()", None),
        ("BOUND(?unbound)", FALSE),
        ("1 IN (2, 1.0)", TRUE),
        ("1 IN (1/0, 1)", TRUE),
        ("1 IN (1/0, 2)", None),
        ("1 IN ()", FALSE),
        ("1 NOT IN ()", TRUE),
        ("1 NOT IN (1/0, 1)", FALSE),
        ("1 NOT IN (1/0, 2)", None),
        ("1 + 2 * 3 - 4 / 2", Literal("5.0", XSD + "decimal")),
        ("-(1)", Literal("-1", XSD + "integer")),
        ("+'1'", None),
        ("xsd:integer('7')", Literal("7", XSD + "integer")),
        ("<urn:no-such-function>(1)", None),
        ("STRLEN(CONCAT('a', ?unbound))", None),
        ("f:timestamp(<urn:s>, <urn:p>, <urn:o>)", None),
    ],
)
def test_expressions(text: str, expected: Term | None) -> None:
    assert value(text) == expected


def test_bound_variables() -> None:
    assert value("?x + 1", x=ONE) == Literal("2", XSD + "integer")
    assert value("BOUND(?x)", x=ONE) == TRUE
    assert value("ISBLANK(?x)", x=BlankNode("b")) == TRUE


def test_now_is_the_evaluation_time() -> None:
    context = Context(now=1_500_000)
    assert value("NOW()", context) == Literal("1970-01-01T00:00:01.500Z", XSD + "dateTime")


def test_timestamps_are_milliseconds() -> None:
    times = {IRI("urn:a"): 2_000, IRI("urn:b"): 2_500}
    context = Context(timestamp=lambda s, p, o: times.get(s))  # type: ignore[call-overload]
    assert value("f:timestamp(<urn:a>, <urn:p>, 1)", context) == Literal("2", XSD + "integer")
    assert value("f:timestamp(<urn:b>, <urn:p>, 1)", context) == Literal("2.5", XSD + "decimal")


def test_filters_take_errors_for_false() -> None:
    assert not holds(expression("?unbound = 1"), {}, Context())
    assert holds(expression("'text'"), {}, Context())
    assert not holds(expression("<urn:iri>"), {}, Context())
    with pytest.raises(ExpressionError):
        evaluate(expression("?unbound = 1"), {}, Context())


def drawn(text: str, identity: str = "q t s", place: str = "p") -> Term | None:
    return value(text, Context(draws=Draws(identity, place)))


def test_draws_are_repeatable() -> None:
    for text in ("RAND()", "UUID()", "STRUUID()", "BNODE()", "BNODE('a')"):
        assert drawn(text) == drawn(text)
        assert drawn(text) != drawn(text, identity="q t other")
    assert drawn("RAND()") != drawn("RAND()", place="elsewhere")
    assert drawn("BNODE('a')") == drawn("BNODE('a')", place="elsewhere")
    assert drawn("BNODE()") != drawn("BNODE()", place="elsewhere")


def test_each_call_is_another_draw() -> None:
    assert drawn("RAND() = RAND()") == FALSE
    assert drawn("sameTerm(BNODE(), BNODE())") == FALSE
    assert drawn("sameTerm(BNODE('a'), BNODE('a'))") == TRUE
    assert drawn("sameTerm(BNODE('a'), BNODE('b'))") == FALSE


def test_forms_of_draws() -> None:
    assert drawn("RAND() >= 0 && RAND() < 1") == TRUE
    assert drawn("REGEX(STR(UUID()), '^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]')") == TRUE
    assert drawn("STRLEN(STRUUID())") == Literal("36", XSD + "integer")


def test_every_builtin_is_there() -> None:
    for builtin in Builtin:
        for arity in range(5):
            arguments = tuple([Literal("1")] * arity)
            try:
                evaluate(Call(builtin, arguments), {}, Context())
                break
            except (ExpressionError, TypeError):
                continue
        else:
            assert builtin in {
                Builtin.ABS,
                Builtin.CEIL,
                Builtin.FLOOR,
                Builtin.ROUND,
                Builtin.STRDT,
                Builtin.STRLANG,
                Builtin.STRLANGDIR,
                Builtin.TRIPLE,
                Builtin.SUBJECT,
                Builtin.PREDICATE,
                Builtin.OBJECT,
                Builtin.SUBSTR,
                Builtin.YEAR,
                Builtin.MONTH,
                Builtin.DAY,
                Builtin.HOURS,
                Builtin.MINUTES,
                Builtin.SECONDS,
                Builtin.TIMEZONE,
                Builtin.TZ,
            }
