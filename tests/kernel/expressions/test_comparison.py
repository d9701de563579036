"""Comparisons on columns: decided by ids and values, or left for the scalar way."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.expressions.comparison import UNDONE, classes_of, compare
from weir.kernel.expressions.term_cache import TermClass, Terms
from weir.kernel.expressions.vector import ERROR, FALSE, TRUE, Vector
from weir.language.algebra.expressions import Comparison
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from weir.rdf.xsd.values import boolean

DICTIONARY = Dictionary()
TERMS = Terms(DICTIONARY)


def typed(lexical: str, kind: str) -> Literal:
    return Literal(lexical, XSD + kind)


def column(*terms: Term | None) -> Vector:
    return Vector(len(terms), TERMS, ids=DICTIONARY.encode_terms(terms))


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        (Comparison.EQ, typed("2", "integer"), typed("2.0", "decimal"), TRUE),
        (Comparison.LT, typed("1.5E0", "double"), typed("2", "integer"), TRUE),
        (Comparison.GE, boolean(False), boolean(True), FALSE),
        (Comparison.LT, typed("2024-01-01", "date"), typed("2024-01-02", "date"), TRUE),
        (
            Comparison.EQ,
            typed("2024-01-01T00:00:00Z", "dateTime"),
            typed("2024-01-01T01:00:00+01:00", "dateTime"),
            TRUE,
        ),
        (
            Comparison.LT,
            typed("2024-01-01T00:00:00Z", "dateTime"),
            typed("2024-01-01T01:00:00", "dateTime"),
            ERROR,
        ),
        (Comparison.EQ, IRI("a"), IRI("b"), FALSE),
        (Comparison.NE, IRI("a"), Literal("a"), TRUE),
        (Comparison.EQ, Literal("a"), Literal("a"), TRUE),
        (Comparison.EQ, typed("1", "integer"), boolean(True), FALSE),
        (Comparison.LT, typed("1", "integer"), boolean(True), ERROR),
        (Comparison.LT, Literal("a"), Literal("b"), UNDONE),
        (Comparison.EQ, None, IRI("a"), ERROR),
    ],
)
def test_pairs_of_terms(operator, left, right, expected):
    assert compare(operator, column(left), column(right), TERMS).tolist() == [expected]


def test_families_may_be_mixed_in_a_column():
    left = column(typed("1", "integer"), boolean(True), IRI("a"), None)
    right = column(typed("2", "integer"), boolean(True), IRI("a"), IRI("a"))
    assert compare(Comparison.EQ, left, right, TERMS).tolist() == [FALSE, TRUE, TRUE, ERROR]


def test_the_class_of_each_term():
    ids = column(None, IRI("a"), BlankNode("b"), Literal("s"), typed("1", "integer"), boolean(True)).ids()
    expected = [TermClass.UNBOUND, TermClass.IRI, TermClass.BLANK, TermClass.STRING, TermClass.NUMBER]
    assert classes_of(np.asarray(ids), TERMS).tolist() == [*expected, TermClass.BOOLEAN]
