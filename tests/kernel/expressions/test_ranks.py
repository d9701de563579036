"""Ranks against the keys of the two orders."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.kernel.expressions.ranks import canonical_ranks, extreme_order, order_ranks, sample_order
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions.operators import canonical_key, extreme, order_key
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term

DICTIONARY = Dictionary()
TERMS = Terms(DICTIONARY)


def typed(datatype: str, *forms: str) -> list[Term]:
    return [Literal(form, XSD + datatype) for form in forms]


INTEGERS = typed("integer", "1", "2", "10", "-3", "0")
EXACT = [*INTEGERS, *typed("int", "1"), *typed("decimal", "1.0", "1.00", "0.5", "-3.1", "99999999999999.9")]
DOUBLES = typed("double", "1", "1.5", "1.0E0", "-2.5E-3")
TIMES = typed("dateTime", "2020-01-01T00:00:00Z", "2019-01-01T00:00:00Z", "2020-06-01T10:00:00Z")
MIXED = [
    *EXACT,
    *DOUBLES,
    *TIMES,
    *typed("double", "NaN", "INF"),
    *typed("integer", "01", "1" * 30, "x"),
    *typed("boolean", "true", "false"),
    *typed("dateTime", "2020-01-01T01:00:00+01:00", "2020-01-01T00:00:00"),
    IRI("a"),
    IRI("b"),
    BlankNode("a"),
    BlankNode("b"),
    Literal("a"),
    Literal.tagged("a", "en"),
]
POOLS = [INTEGERS, EXACT, DOUBLES, TIMES, MIXED]
COLUMNS = st.sampled_from(POOLS).flatmap(
    lambda pool: st.lists(
        st.one_of(st.sampled_from(pool), st.none()) if pool is MIXED else st.sampled_from(pool)
    )
)


@thorough
@given(COLUMNS)
def test_order_ranks(terms: list[Term | None]) -> None:
    ranks = order_ranks(DICTIONARY.encode_terms(terms), TERMS).tolist()
    for one, rank in zip(terms, ranks, strict=True):
        for two, other in zip(terms, ranks, strict=True):
            assert (rank < other) == (order_key(one) < order_key(two))


@thorough
@given(COLUMNS)
def test_canonical_ranks(terms: list[Term | None]) -> None:
    ranks = canonical_ranks(DICTIONARY.encode_terms(terms), TERMS).tolist()
    for one, rank in zip(terms, ranks, strict=True):
        for two, other in zip(terms, ranks, strict=True):
            assert (rank < other) == (canonical_key(one) < canonical_key(two))


@thorough
@given(COLUMNS, st.booleans())
def test_extremes(terms: list[Term | None], greatest: bool) -> None:
    bound = [term for term in terms if term is not None]
    if not bound:
        return
    ranks, by_rank = extreme_order(DICTIONARY.encode_terms(bound), TERMS, greatest=greatest)
    assert TERMS.term(int(by_rank[ranks.min()])) == extreme(bound, greatest=greatest)
    ranks, by_rank = sample_order(DICTIONARY.encode_terms(bound), TERMS)
    assert TERMS.term(int(by_rank[ranks.min()])) == min(bound, key=canonical_key)


def test_nothing_to_rank() -> None:
    none = np.empty(0, np.int64)
    assert len(order_ranks(none, TERMS)) == len(canonical_ranks(none, TERMS)) == 0
