"""Operators with SPARQL's own rules for errors, node by node."""

from __future__ import annotations

import numpy as np

from weir.kernel.expressions import columnar
from weir.kernel.expressions.columnar import Column, Constant, Solutions
from weir.kernel.expressions.term_cache import TermClass, Terms
from weir.kernel.expressions.vector import ERROR, FALSE, TRUE
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal
from weir.rdf.xsd.values import boolean

DICTIONARY = Dictionary()
TERMS = Terms(DICTIONARY)
# Every pair of true, false and error (an IRI has no effective boolean value).
VALUES = [boolean(True), boolean(False), IRI("error")]
X, Y = Column("x"), Column("y")
SOLUTIONS = Solutions(
    {
        "x": DICTIONARY.encode_terms([left for left in VALUES for _ in VALUES]),
        "y": DICTIONARY.encode_terms([right for _ in VALUES for right in VALUES]),
        "z": DICTIONARY.encode_terms([None, Literal("z"), None] * 3),
    },
    9,
    TERMS,
)


def truth(node: columnar.Node) -> list[int]:
    return node.evaluate(SOLUTIONS).truth().tolist()


def test_an_error_survives_where_the_other_side_does_not_decide():
    assert truth(columnar.Or((X, Y))) == [TRUE, TRUE, TRUE, TRUE, FALSE, ERROR, TRUE, ERROR, ERROR]
    assert truth(columnar.And((X, Y))) == [TRUE, FALSE, ERROR, FALSE, FALSE, FALSE, ERROR, FALSE, ERROR]
    assert truth(columnar.Not(X)) == [FALSE] * 3 + [TRUE] * 3 + [ERROR] * 3


def test_if_takes_a_branch_row_by_row():
    found = columnar.If(X, Column("z"), Y).evaluate(SOLUTIONS).ids()
    expected = [*SOLUTIONS.columns["z"][:3], *SOLUTIONS.columns["y"][3:6], 0, 0, 0]
    assert found.tolist() == [int(each) for each in expected]


def test_coalesce_takes_the_first_that_has_a_value():
    constant = DICTIONARY.encode(Literal("none"))
    found = columnar.Coalesce((Column("z"), Constant.of(constant, TERMS))).evaluate(SOLUTIONS).ids()
    assert found.tolist() == [int(each) or constant for each in SOLUTIONS.columns["z"]]


def test_bound_and_what_is_no_column_is_unbound():
    assert truth(columnar.Bound("z")) == [FALSE, TRUE, FALSE] * 3
    assert truth(columnar.Bound("nowhere")) == [FALSE] * 9
    assert truth(Column("nowhere")) == [ERROR] * 9


def test_same_term_and_classes_of_terms():
    assert truth(columnar.SameTerm(X, Y)) == [TRUE, FALSE, FALSE, FALSE, TRUE, FALSE, FALSE, FALSE, TRUE]
    assert truth(columnar.IsClass(X, frozenset({TermClass.IRI}))) == [FALSE] * 6 + [TRUE] * 3
    assert truth(columnar.IsNumeric(Column("z"))) == [ERROR, FALSE, ERROR] * 3


def test_a_branch_sees_only_its_rows():
    taken = SOLUTIONS.take(np.array([1, 4]))
    assert (taken.length, taken.columns["z"].tolist()) == (2, [int(SOLUTIONS.columns["z"][1])] * 2)
