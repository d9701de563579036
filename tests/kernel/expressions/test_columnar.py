"""Operators with SPARQL's own rules for errors, node by node."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.expressions import columnar
from weir.kernel.expressions.columnar import Scalar, Solutions, column
from weir.kernel.expressions.term_cache import TermClass, Terms
from weir.kernel.expressions.vector import ERROR, FALSE, TRUE
from weir.kernel.functions import Context
from weir.kernel.functions.casts import CASTS
from weir.language.algebra.expressions import FunctionCall
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal, Term, Variable
from weir.rdf.xsd.values import boolean

DICTIONARY = Dictionary()
TERMS = Terms(DICTIONARY)
# Every pair of true, false and error (an IRI has no effective boolean value).
VALUES = [boolean(True), boolean(False), IRI("error")]
X, Y = column("x"), column("y")
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
    return node(SOLUTIONS).truth().tolist()


def test_an_error_survives_where_the_other_side_does_not_decide():
    assert truth(columnar.either((X, Y))) == [TRUE, TRUE, TRUE, TRUE, FALSE, ERROR, TRUE, ERROR, ERROR]
    assert truth(columnar.both((X, Y))) == [TRUE, FALSE, ERROR, FALSE, FALSE, FALSE, ERROR, FALSE, ERROR]
    assert truth(columnar.negation(X)) == [FALSE] * 3 + [TRUE] * 3 + [ERROR] * 3


def test_if_takes_a_branch_row_by_row():
    found = columnar.choice(X, column("z"), Y)(SOLUTIONS).ids()
    expected = [*SOLUTIONS.columns["z"][:3], *SOLUTIONS.columns["y"][3:6], 0, 0, 0]
    assert found.tolist() == [int(each) for each in expected]


def test_coalesce_takes_the_first_that_has_a_value():
    constant = DICTIONARY.encode(Literal("none"))
    found = columnar.coalesce((column("z"), columnar.constant(constant, TERMS)))(SOLUTIONS).ids()
    assert found.tolist() == [int(each) or constant for each in SOLUTIONS.columns["z"]]


def test_bound_and_what_is_no_column_is_unbound():
    assert truth(columnar.bound("z")) == [FALSE, TRUE, FALSE] * 3
    assert truth(columnar.bound("nowhere")) == [FALSE] * 9
    assert truth(column("nowhere")) == [ERROR] * 9


def test_same_term_and_classes_of_terms():
    assert truth(columnar.same_term(X, Y)) == [TRUE, FALSE, FALSE, FALSE, TRUE, FALSE, FALSE, FALSE, TRUE]
    assert truth(columnar.is_class(X, [TermClass.IRI])) == [FALSE] * 6 + [TRUE] * 3
    assert truth(columnar.is_numeric(column("z"))) == [ERROR, FALSE, ERROR] * 3


def test_a_branch_sees_only_its_rows():
    taken = SOLUTIONS.take(np.array([1, 4]))
    assert (taken.length, taken.columns["z"].tolist()) == (2, [int(SOLUTIONS.columns["z"][1])] * 2)


ARGUMENT = Variable("x")
COUNTED = IRI("urn:counted")


class Counted:
    """A function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, term: Term) -> Term:
        self.calls += 1
        return Literal(f"{term}!")


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """A function that expressions know as ``COUNTED``."""
    counted = Counted()
    monkeypatch.setitem(CASTS, COUNTED.value, counted)
    return counted


def scalar(dictionary: Dictionary) -> Scalar:
    return Scalar(FunctionCall(COUNTED, (ARGUMENT,)), ["x"], Terms(dictionary), Context(), strict=True)


@pytest.mark.parametrize("rows", [3, 300])
def test_a_function_is_called_once_for_each_distinct_argument(rows, function):
    dictionary = Dictionary()
    call = scalar(dictionary)
    column = np.resize(dictionary.encode_terms([Literal("a"), Literal("b"), None]), rows)
    found = call([column], rows)
    again = call([column], rows)
    assert function.calls == 2
    assert found.tolist() == again.tolist()
    assert [dictionary.decode(each).lexical for each in found[:2].tolist()] == ['"a"!', '"b"!']
    assert found[2] == 0


def test_what_is_remembered_is_bounded(monkeypatch, function):
    monkeypatch.setattr(columnar, "_REMEMBERED", 4)
    dictionary = Dictionary()
    call = scalar(dictionary)
    for number in range(20):
        call([dictionary.encode_terms([Literal(str(number))])], 1)
    assert len(call._known) <= 4
