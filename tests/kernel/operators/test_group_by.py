"""GROUP BY and every aggregate against the scalar set functions at each index."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, Bag, check_each_index, intervals, relation_of, relations, thorough
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import ExpressionError, aggregate
from weir.kernel.operators.group_by import Measure, group
from weir.kernel.relations.relation import Relation
from weir.language.algebra.expressions import Aggregate, Aggregation
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term

DICTIONARY = Dictionary()


TERMS = Terms(DICTIONARY)


def typed(datatype: str, *forms: str) -> list[Term]:
    return [Literal(form, XSD + datatype) for form in forms]


INTEGERS = [*typed("integer", "1", "01", "-7", "40"), *typed("int", "3"), *typed("byte", "3")]


DECIMALS = [*INTEGERS, *typed("decimal", "1.5", "0.25", "2.0", "-3.75", "100"), *typed("decimal", "0.1")]


LARGE = [
    *DECIMALS,
    *typed("integer", str(2**53 + 1), str(2**60), "-" + "9" * 30),
    *typed("decimal", "1." + "3" * 30, "1" * 17 + ".5"),
]


REALS = [
    *typed("double", "0.1", "1.0E0", "2.5E-3", "1.0E20", "-1.0E20", "1.7E308", "0.30000000000000004", "-0.0"),
    *typed("float", "0.1", "3.5", "1.0E30"),
]


SPECIAL = [*typed("double", "INF", "-INF", "NaN"), *typed("float", "INF")]


OTHERS = [
    IRI("http://a"),
    BlankNode("b"),
    Literal("x"),
    Literal.tagged("x", "en"),
    *typed("boolean", "true"),
    *typed("dateTime", "2020-01-01T00:00:00Z"),
    *typed("integer", "one"),
]


POOLS = [
    INTEGERS,
    DECIMALS,
    LARGE,
    DECIMALS + REALS,
    LARGE + REALS + SPECIAL,
    LARGE + REALS + SPECIAL + OTHERS,
]


@st.composite
def measured(draw: st.DrawFn) -> Relation:
    """Columns k (a key) and v (an operand) out of one pool of terms, sometimes in error."""
    pool = [DICTIONARY.encode(term) for term in draw(st.sampled_from(POOLS))]
    if draw(st.booleans()):
        pool.append(0)
    row = st.tuples(st.integers(0, 2), st.sampled_from(pool), intervals())
    rows = [((key, value), *span) for key, value, span in draw(st.lists(row, max_size=8))]
    return relation_of(("k", "v"), rows, ("k", "v"))


SPECS = st.builds(
    Aggregate, st.sampled_from(list(Aggregation)), distinct=st.booleans(), separator=st.just("; ")
)


def slow_group(bag: Bag, keys: tuple[str, ...], spec: Aggregate, star: bool) -> Bag:
    groups: dict[tuple[int, ...], list[dict[str, int]]] = defaultdict(list)
    if not keys:
        groups[()] = []
    for solution in bag.elements():
        row = dict(solution)
        groups[tuple(row.get(key, 0) for key in keys)].append(row)
    out: Bag = Counter()
    for values, rows in groups.items():
        if star:
            operands: list[Term | None] = [Literal(repr(sorted(row.items()))) for row in rows]
        else:
            operands = [TERMS.term(row["v"]) if row.get("v") else None for row in rows]
        try:
            result = DICTIONARY.encode(aggregate(spec, operands))
        except ExpressionError:
            result = 0
        pairs = (*zip(keys, values, strict=True), ("n", result))
        out[frozenset((name, value) for name, value in pairs if value)] += 1
    return out


@thorough
@given(measured(), st.sampled_from([(), ("k",)]), SPECS)
def test_aggregates(relation: Relation, keys: tuple[str, ...], spec: Aggregate) -> None:
    result = group(relation, keys, [Measure("n", spec, "v")], INDICES, TERMS)
    check_each_index(result, [relation], lambda bag: slow_group(bag, keys, spec, False))


@pytest.mark.parametrize("function", list(Aggregation))
@pytest.mark.parametrize("pool", range(len(POOLS)))
def test_each_aggregate_over_each_pool(function: Aggregation, pool: int) -> None:
    random = np.random.default_rng(pool)
    ids = [DICTIONARY.encode(term) for term in POOLS[pool]]
    start = random.integers(0, 30, 120)
    relation = Relation(
        {"k": random.integers(1, 4, 120), "v": random.choice(ids, 120)},
        start,
        start + random.integers(1, 9, 120),
    )
    spec = Aggregate(function, separator=",")
    result = group(relation, ("k",), [Measure("n", spec, "v")], 40, TERMS)
    check_each_index(result, [relation], lambda bag: slow_group(bag, ("k",), spec, False), 40)


@thorough
@given(relations(("k", "v", "w")), st.booleans(), st.sampled_from([(), ("k",), ("k", "v"), ("z",)]))
def test_count_star(relation: Relation, distinct: bool, keys: tuple[str, ...]) -> None:
    spec = Aggregate(Aggregation.COUNT, distinct=distinct)
    result = group(relation, keys, [Measure("n", spec)], INDICES, TERMS)
    check_each_index(result, [relation], lambda bag: slow_group(bag, keys, spec, True))


def test_internal_columns_do_not_make_solutions_distinct() -> None:
    relation = relation_of(("x", ".row"), [((1, 1), 0, 2), ((1, 2), 0, 2)])
    spec = Aggregate(Aggregation.COUNT, distinct=True)
    result = group(relation, (), [Measure("n", spec)], 2, TERMS)
    assert DICTIONARY.decode(int(result.columns["n"][0])) == Literal("1", XSD + "integer")


def test_equal_neighbours_are_one_row() -> None:
    relation = relation_of(("k",), [((1,), 0, 2), ((1,), 2, 5)])
    result = group(relation, ("k",), [Measure("n", Aggregate(Aggregation.COUNT))], 5, TERMS)
    assert (result.start.tolist(), result.end.tolist()) == ([0], [5])
