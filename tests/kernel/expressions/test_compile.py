"""Columnar expressions against the scalar evaluator, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.errors import EvaluationError
from weir.kernel.expressions import compile
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import Context, holds, value_or_none
from weir.kernel.relations.relation import Relation
from weir.language.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Builtin,
    Calculate,
    Call,
    Coalesce,
    Compare,
    Comparison,
    Exists,
    Expression,
    FunctionCall,
    If,
    In,
    Negate,
    Not,
    Or,
    Plus,
)
from weir.language.algebra.patterns import BGP
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Variable

DICTIONARY = Dictionary()
TERMS = Terms(DICTIONARY)


def typed(datatype: str, *forms: str) -> list[Term]:
    return [Literal(form, XSD + datatype) for form in forms]


INTEGERS = typed("integer", "0", "1", "2", "3", "-7", "10", "01", str(2**57), str(-(2**57)), "9" * 30)
INTEGERS += [*typed("int", "2"), *typed("byte", "-128"), *typed("unsignedLong", str(2**64 - 1))]
DECIMALS = typed(
    "decimal", "0.0", "1.5", "0.25", "2.0", "2.50", "-3.75", "100", "0.1", "123456789012.345", "1." + "3" * 30
)
DOUBLES = typed(
    "double",
    "0",
    "0.1",
    "1.5",
    "2",
    "1.0E0",
    "2.5E-3",
    "-1.0E20",
    "1.7E308",
    "INF",
    "-INF",
    "NaN",
    "-0.0",
    "1e3",
)
FLOATS = typed("float", "0.1", "1.5", "16777217", "3.4028235E38", "NaN", "INF")
TIMES = [
    *typed("dateTime", "2020-01-01T00:00:00Z", "2020-01-01T02:00:00+02:00", "2020-01-01T00:00:00"),
    *typed("dateTime", "2020-01-01T00:00:00.000Z", "2020-01-01T13:59:59.999", "2020-01-02T00:00:00.000001Z"),
    *typed("dateTime", "2020-01-01T00:00:00.5Z", "2021-06-01T00:00:00.250-05:30", "2020-01-03T00:00:00"),
    *typed("date", "2020-01-01", "2020-01-02", "2020-01-01Z"),
    *typed("time", "12:00:00"),
]
STRINGS = [Literal(""), Literal("a"), Literal("b"), Literal.tagged("a", "en"), Literal.tagged("a", "de")]
OTHERS = [
    *typed("boolean", "true", "false", "1", "0", "yes"),
    *typed("integer", "one"),
    *typed("duration", "P1D", "PT24H"),
    Literal("x", "http://unknown"),
    Literal("y", "http://unknown"),
    IRI("http://a"),
    IRI("http://b"),
    BlankNode("a"),
]
NUMBERS = INTEGERS + DECIMALS + DOUBLES + FLOATS
EVERYTHING = NUMBERS + TIMES + STRINGS + OTHERS
POOLS = [INTEGERS, DECIMALS, DOUBLES, FLOATS, NUMBERS, TIMES, STRINGS, EVERYTHING]

VARIABLES = [Variable(name) for name in "xyz"]
LEAVES = st.one_of(
    st.sampled_from(VARIABLES), st.sampled_from([t for t in EVERYTHING if not isinstance(t, BlankNode)])
)
UNARY = [
    Builtin.ABS,
    Builtin.CEIL,
    Builtin.FLOOR,
    Builtin.ROUND,
    Builtin.STR,
    Builtin.DATATYPE,
    Builtin.STRLEN,
]
UNARY += [Builtin.ISIRI, Builtin.ISBLANK, Builtin.ISLITERAL, Builtin.ISNUMERIC, Builtin.YEAR, Builtin.LANG]


def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(Compare, st.sampled_from(list(Comparison)), inner, inner),
        st.builds(Calculate, st.sampled_from(list(Arithmetic)), inner, inner),
        st.builds(Or, inner, inner),
        st.builds(And, inner, inner),
        inner.map(Not),
        inner.map(Negate),
        inner.map(Plus),
        st.builds(In, inner, st.lists(inner, max_size=3).map(tuple), st.booleans()),
        st.sampled_from(VARIABLES).map(Bound),
        st.builds(If, inner, inner, inner),
        st.lists(inner, max_size=3).map(lambda choices: Coalesce(tuple(choices))),
        st.builds(lambda f, x: Call(f, (x,)), st.sampled_from(UNARY), inner),
        st.builds(lambda x, y: Call(Builtin.SAMETERM, (x, y)), inner, inner),
        st.builds(lambda x: FunctionCall(IRI(XSD + "decimal"), (x,)), inner),
    )


EXPRESSIONS = st.recursive(LEAVES, grow, max_leaves=6)


@st.composite
def tables(draw: st.DrawFn) -> Relation:
    """Columns x, y and z out of a pool each, 0 now and then."""
    rows = draw(st.sampled_from([0, 1, 5, 40]))
    columns = {}
    for name in "xyz":
        ids = [DICTIONARY.encode(term) for term in draw(st.sampled_from(POOLS))]
        if draw(st.booleans()):
            ids = ids[: draw(st.integers(1, 3))]
        if draw(st.booleans()):
            ids.append(0)
        columns[name] = np.array(draw(st.lists(st.sampled_from(ids), min_size=rows, max_size=rows)), np.int64)
    if draw(st.booleans()):
        del columns["z"]
    return Relation(columns, np.zeros(rows, np.int64), np.ones(rows, np.int64), frozenset(columns))


def check(expression: Expression, relation: Relation) -> None:
    compiled = compile(expression, TERMS)
    ids, mask = compiled.ids(relation), compiled.mask(relation)
    context = Context()
    for row in range(len(relation)):
        solution = {name: TERMS.term(int(ids[row])) for name, ids in relation.columns.items() if ids[row]}
        expected = value_or_none(expression, solution, context)
        found = TERMS.term(int(ids[row])) if ids[row] else None
        assert found == expected, solution
        assert bool(mask[row]) == holds(expression, solution, context), solution


@thorough
@given(EXPRESSIONS, tables())
def test_columns_and_scalars_agree(expression: Expression, relation: Relation) -> None:
    check(expression, relation)


def every_pair() -> Relation:
    ids = np.array([0, *(DICTIONARY.encode(term) for term in EVERYTHING)])
    left, right = np.repeat(ids, len(ids)), np.tile(ids, len(ids))
    return Relation({"x": left, "y": right}, left * 0, left * 0 + 1, frozenset("xy"))


@pytest.mark.parametrize("operator", list(Comparison))
def test_every_comparison_of_every_pair(operator: Comparison) -> None:
    check(Compare(operator, Variable("x"), Variable("y")), every_pair())


@pytest.mark.parametrize("operator", list(Arithmetic))
def test_every_operation_on_every_pair(operator: Arithmetic) -> None:
    check(Calculate(operator, Variable("x"), Variable("y")), every_pair())


@pytest.mark.parametrize("function", UNARY)
def test_every_function_of_every_term(function: Builtin) -> None:
    check(Call(function, (Variable("x"),)), every_pair())


@pytest.mark.parametrize("pool", range(len(POOLS)))
@pytest.mark.parametrize("operator", list(Comparison))
def test_comparisons_within_a_pool(operator: Comparison, pool: int) -> None:
    """Columns of one inline type take other ways than mixed ones."""
    for term in POOLS[pool]:
        if isinstance(term, BlankNode):
            continue
        ids = np.array([DICTIONARY.encode(other) for other in POOLS[pool]])
        relation = Relation({"x": ids}, ids * 0, ids * 0 + 1)
        check(Compare(operator, Variable("x"), term), relation)


def test_computed_numbers_are_encoded_as_the_dictionary_does() -> None:
    """Chains of operations make ids only at the end; they are those of the canonical literals."""
    ids = np.array([DICTIONARY.encode(term) for term in NUMBERS])
    relation = Relation({"x": ids}, ids * 0, ids * 0 + 1)
    half = Literal("0.5", XSD + "decimal")
    check(
        Calculate(Arithmetic.MULTIPLY, Calculate(Arithmetic.ADD, Variable("x"), Variable("x")), half),
        relation,
    )


def test_exists_must_have_become_a_column() -> None:
    with pytest.raises(EvaluationError, match="EXISTS"):
        compile(Exists(BGP(())), TERMS)


def test_a_missing_text_is_an_error_with_its_reason() -> None:
    relation = Relation({"x": np.array([12345, 12346])}, np.zeros(2, np.int64), np.ones(2, np.int64))
    with pytest.raises(EvaluationError, match="did not come with the data"):
        compile(Call(Builtin.STR, (Variable("x"),)), TERMS).ids(relation)
