"""Every function, operator and cast with hostile arguments.

Five ways give the same value or the same error: the scalar functions, the columnar ones, a query's text
in each of the two evaluators, and that text with the arguments written into it. Nothing but an
``ExpressionError`` leaves a function, and every term that one makes can be written as N-Triples and read
back.
"""

from __future__ import annotations

import inspect
import itertools
import random
import re
from collections.abc import Callable, Iterable
from functools import cache, partial

import numpy as np
import pyoxigraph
import pytest

from weir.kernel.contract import Background, Evaluator, GraphTable, Slab
from weir.kernel.expressions import compile
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import Context, ExpressionError, aggregate, value_or_none
from weir.kernel.functions.builtins import BUILTINS
from weir.kernel.functions.casts import CASTS
from weir.kernel.functions.operators import calculate, compare, ebv, negate, plus
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import ReferenceEvaluator
from weir.kernel.relations.relation import Relation
from weir.language import parse
from weir.language.algebra.expressions import (
    Aggregate,
    Aggregation,
    Arithmetic,
    Builtin,
    Comparison,
    Expression,
)
from weir.language.algebra.patterns import Extend, Project
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Variable, is_unicode

EVALUATORS: list[Callable[..., Evaluator]] = [ReferenceEvaluator, IntervalEvaluator]
HUGE = "9" * 400


def typed(datatype: str, *forms: str) -> list[Term]:
    return [Literal(form, XSD + datatype) for form in forms]


NUMBERS = [
    *typed("integer", "0", "-1", "3", HUGE, "-" + HUGE, "9" * 4_000, "9" * 4_001, "007", str(2**62), ""),
    *typed("decimal", "-0.0", "1.5", "-2.5", "0." + "0" * 3_998 + "1", HUGE + "." + HUGE, "1e3"),
    *typed(
        "double", "NaN", "INF", "-INF", "-0.0", "0.1", "1e400", "5e-324", "1.7976931348623157e308", "-0.5"
    ),
    *typed("float", "NaN", "-INF", "-0.0", "0.1", "3.4028235E38", "1e-46", "16777217"),
    *typed("byte", "-128", "128"),
    *typed("unsignedLong", str(2**64 - 1), "-1"),
]
TIMES = [
    *typed("dateTime", "0000-01-01T00:00:00Z", "-0001-12-31T24:00:00-14:00", "2024-02-29T23:59:59.999+14:00"),
    *typed("dateTime", "999999999999-12-31T23:59:59.999999999999999999Z", "999999999999-12-31T24:00:00"),
    *typed("dateTime", "99999999999999-01-01T00:00:00Z", "2023-02-29T00:00:00", "2024-01-01T00:00:00-00:00"),
    *typed("date", "-999999999999-01-01", "2024-12-31+13:59", "2024-12-31+15:00"),
    *typed("time", "24:00:00", "23:59:59.000000000000000001-00:01"),
    *typed("gYear", "0000Z", "-99999"),
    *typed("duration", f"-P{'9' * 18}Y{'9' * 18}DT{'9' * 18}.{'9' * 18}S", "P"),
    *typed("dayTimeDuration", f"P{'9' * 19}D", "-PT0S"),
]
TEXTS = [
    "",
    "aa",
    "é" * 5_000,
    "ﬃß\U0001f600",
    "a b",
    'http://e/<>"{}|^`\\',
    "\0\n\r\t\x7f\x85",
    "http://e/é",
]
TEXTS += ["en-GB", " 1 ", "\u00a01", "(a*)*b", "$1", "\\", "[ ", "is", "x{9999}{9999}", "%41", "*"]
OTHERS = [
    *map(Literal, TEXTS),
    Literal.tagged("", "en"),
    Literal.tagged("a", "de-AT"),
    *typed("boolean", "true", "0", "TRUE"),
    Literal("a", "http://e/unknown"),
    Literal("", "http://e/unknown"),
    IRI("http://e/é"),
    IRI(XSD + "integer"),
    BlankNode("b"),
]
POOL: list[Term] = [*NUMBERS, *TIMES, *OTHERS]
SURROGATES: list[Term] = [Literal("\ud800"), Literal.tagged("a\udfff", "en"), *typed("integer", "1\ud800")]


def _arities(function: Callable[..., Term]) -> list[int]:
    """How many arguments a built-in may have."""
    parameters = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return [1, 2]
    required = sum(each.default is each.empty for each in parameters)
    return list(range(required, len(parameters) + 1))


NAMES = ["?x", "?y", "?z", '"is"']
CALLS: dict[int, list[str]] = {1: ["!?x", "-?x", "+?x", *(f"<{each}>(?x)" for each in CASTS)], 2: [], 3: []}
CALLS[2] += [f"?x {operator.value} ?y" for operator in (*Comparison, *Arithmetic)]
CALLS[2] += ["?x && ?y", "?x || ?y", "?x IN (?y, 1)", "IF(?x, ?y, 1)", "COALESCE(?x + 1, ?y)"]
for builtin, made in BUILTINS.items():
    for arity in [1] if builtin is Builtin.IRI else _arities(made):
        CALLS[min(arity, 3)].append(f"{builtin.value}({', '.join(NAMES[:arity])})")

CHANCE = random.Random(7)
ROWS: dict[int, list[tuple[Term, ...]]] = {
    1: [(term,) for term in POOL],
    2: [
        *(pair for kind in (NUMBERS, TIMES, OTHERS) for pair in itertools.product(kind, kind)),
        *((CHANCE.choice(POOL), CHANCE.choice(POOL)) for _ in range(300)),
    ],
    3: [
        (CHANCE.choice(OTHERS), CHANCE.choice(kind), CHANCE.choice(kind))
        for kind in (NUMBERS, OTHERS, POOL)
        for _ in range(400)
    ],
}


def expression(text: str) -> Expression:
    pattern = parse(f"SELECT ({text} AS ?result) {{ }}", "sparql").pattern
    assert isinstance(pattern, Project) and isinstance(pattern.pattern, Extend)
    return pattern.pattern.bindings[-1][1]


@cache
def scalar_values(text: str, arity: int) -> list[Term | None]:
    call, context = expression(text), Context()
    return [value_or_none(call, dict(zip("xyz", row, strict=False)), context) for row in ROWS[arity]]


@cache
def columns(arity: int) -> tuple[Relation, Terms]:
    terms = Terms(Dictionary())
    ids = {
        name: terms.encode_all(column)
        for name, column in zip("xyz", zip(*ROWS[arity], strict=True), strict=False)
    }
    length = len(ROWS[arity])
    return Relation(ids, np.zeros(length, np.int64), np.ones(length, np.int64)), terms


def columnar_values(text: str, arity: int) -> list[Term | None]:
    relation, terms = columns(arity)
    ids = compile(expression(text), terms).ids(relation).tolist()
    return [terms.term(each) if each else None for each in ids]


def shown(values: Iterable[Term | None]) -> list[str]:
    return [str(value)[:200] for value in values]


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_columns_agree_with_scalars(arity: int) -> None:
    for text in CALLS[arity]:
        expected, found = scalar_values(text, arity), columnar_values(text, arity)
        wrong = [place for place, value in enumerate(expected) if found[place] != value]
        assert not wrong, (text, [shown((*ROWS[arity][p], expected[p], found[p])) for p in wrong[:3]])


def asked(make: Callable[..., Evaluator], arity: int, query: str) -> list[dict[str, Term | None]]:
    """The solutions of a query over a graph with a node for each row."""
    dictionary = Dictionary()
    triples = [
        (IRI(f"urn:row:{place}"), IRI(f"urn:{name}"), term)
        for place, row in enumerate(ROWS[arity])
        for name, term in zip("xyz", row, strict=False)
    ]
    table = GraphTable(*(dictionary.encode_terms(column) for column in zip(*triples, strict=True)))
    made = make(parse(query, "sparql"), Background(table), dictionary)
    found = made.advance(Slab({}, through=1_000_000, end=True)).columns
    columns = [[dictionary.decode(i) if i else None for i in column.tolist()] for column in found.values()]
    return [dict(zip(found, row, strict=True)) for row in zip(*columns, strict=True)]


def by_row(solutions: list[dict[str, Term | None]]) -> list[dict[str, Term | None]]:
    return sorted(solutions, key=lambda each: int(str(each["row"]).removeprefix("<urn:row:")[:-1]))


def query_values(make: Callable[..., Evaluator], arity: int) -> dict[str, list[Term | None]]:
    """Every call in one query."""
    body = " ".join(f"?row <urn:{name}> ?{name} ." for name in "xyz"[:arity])
    calls = " ".join(f"BIND({text} AS ?value{place})" for place, text in enumerate(CALLS[arity]))
    found = by_row(asked(make, arity, f"SELECT * {{ {body} {calls} }}"))
    assert len(found) == len(ROWS[arity])
    return {text: [row[f"value{place}"] for row in found] for place, text in enumerate(CALLS[arity])}


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_queries_agree_with_scalars(arity: int, evaluator: Callable[..., Evaluator]) -> None:
    for text, found in query_values(evaluator, arity).items():
        expected = scalar_values(text, arity)
        wrong = [place for place, value in enumerate(expected) if found[place] != value]
        assert not wrong, (text, [shown((*ROWS[arity][p], expected[p], found[p])) for p in wrong[:3]])


CONSTANTS = 40
"""Rows of each arity that are written into the text."""


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_constants_agree_with_scalars(arity: int, evaluator: Callable[..., Evaluator]) -> None:
    """What a planner may compute once is what is computed row by row."""
    written = [place for place, row in enumerate(ROWS[arity]) if not any(map(_is_unwritten, row))]
    chosen = random.Random(arity).sample(written, min(CONSTANTS, len(written)))
    calls = [(text, place) for text in CALLS[arity] for place in chosen]
    items = " ".join(
        f"({_filled(text, ROWS[arity][place])} AS ?value{number})"
        for number, (text, place) in enumerate(calls)
    )
    (found,) = asked(evaluator, 1, f"SELECT {items} {{ }}")
    for number, (text, place) in enumerate(calls):
        value, expected = found[f"value{number}"], scalar_values(text, arity)[place]
        assert value == expected, (text, shown((*ROWS[arity][place], expected, value)))


def _is_unwritten(term: Term) -> bool:
    """Whether a term is none that a text can hold, or one too long to be read again and again."""
    return isinstance(term, BlankNode) or len(str(term)) > 1_000


def _filled(text: str, row: tuple[Term, ...]) -> str:
    """The call with constants for its variables."""
    terms = dict(zip(("?x", "?y", "?z"), row, strict=False))
    return re.sub(r"\?[xyz]\b", lambda name: str(terms[name.group()]), text)


@pytest.mark.parametrize("function", list(Aggregation))
def test_aggregates_agree(function: Aggregation) -> None:
    query = f"SELECT ?row ({function.value}(?each) AS ?all) {{ ?row ?p ?each }} GROUP BY ?row"
    one, other = (by_row(asked(make, 2, query)) for make in EVALUATORS)
    assert one == other
    for (x, y), found in zip(ROWS[2], one, strict=True):
        try:
            expected = aggregate(Aggregate(function, Variable("each")), [x, y])
        except ExpressionError:
            expected = None
        assert found["all"] == expected, shown((x, y, found["all"], expected))


@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_orders_agree(order: str) -> None:
    query = f"SELECT ?x {{ ?row <urn:x> ?x }} ORDER BY {order}(?x) LIMIT %d"
    for limit in range(1, len(POOL), 7):
        one, other = (asked(make, 1, query % limit) for make in EVALUATORS)
        assert {row["x"] for row in one} == {row["x"] for row in other} and len(one) == limit


def test_blank_nodes_have_good_labels() -> None:
    query = "SELECT ?row (BNODE(?x) AS ?made) { ?row <urn:x> ?x }"
    one, other = (by_row(asked(make, 1, query)) for make in EVALUATORS)
    assert one == other
    assert_readable({row["made"] for row in one if row["made"]})


def test_every_term_that_is_made_reads_back() -> None:
    made = {term for arity in CALLS for text in CALLS[arity] for term in scalar_values(text, arity) if term}
    assert len(made) > 1_000
    assert_readable(made)


def assert_readable(terms: set[Term]) -> None:
    """Absolute ones as N-Triples; relative IRIs, which only Turtle has, with a base."""
    lines = [f"<urn:s> <urn:p> {term} .\n" for term in terms if not _is_relative(term)]
    read = list(pyoxigraph.parse("".join(lines).encode(), pyoxigraph.RdfFormat.N_TRIPLES))
    assert len(read) == len(lines)
    relative = [f"<urn:s> <urn:p> {term} .\n" for term in terms if _is_relative(term)]
    based = pyoxigraph.parse("".join(relative).encode(), pyoxigraph.RdfFormat.TURTLE, base_iri="http://e/")
    assert len(list(based)) == len(relative)


def _is_relative(term: Term) -> bool:
    return isinstance(term, IRI) and ":" not in term.value


def test_lone_surrogates_become_part_of_no_term() -> None:
    functions: list[tuple[Callable[..., object], int]] = [(cast, 1) for cast in CASTS.values()]
    functions += [(function, arity) for function in BUILTINS.values() for arity in _arities(function)]
    functions += [(negate, 1), (plus, 1), (ebv, 1)]
    operators = [(compare, each) for each in Comparison], [(calculate, each) for each in Arithmetic]
    functions += [(partial(function, each), 2) for group in operators for function, each in group]
    for function, arity in functions:
        for arguments in itertools.product([*SURROGATES, Literal("a")], repeat=arity):
            try:
                made = function(*arguments)
            except ExpressionError:
                continue
            assert is_unicode(str(made)), (function, arguments)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_construct_leaves_out_what_would_be_malformed(evaluator: Callable[..., Evaluator]) -> None:
    query = """CONSTRUCT { <urn:s> <urn:p> ?good, ?tag, ?iri, ?type } WHERE {
        BIND(STRLANG("x", "en-GB") AS ?good) BIND(STRLANG("x", "a b") AS ?tag)
        BIND(IRI("http://e/<a b>") AS ?iri) BIND(STRDT("x", "http://e/t") AS ?type) }"""
    dictionary = Dictionary()
    made = evaluator(parse(query, "sparql"), Background(), dictionary)
    found = made.advance(Slab({}, through=1_000_000, end=True))
    assert dictionary.texts(found.columns["object"]) == ['"x"@en-gb']
