"""The scalar way: once per distinct combination of ids, outcomes remembered."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.expressions import fallback
from weir.kernel.expressions.fallback import RowByRow, Scalar
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import Context
from weir.kernel.relations.relation import Relation
from weir.language.algebra.expressions import Builtin, Call, Compare, Comparison, Expression, FunctionCall
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal, Term, Variable

X = Variable("x")
COUNTED = IRI("urn:counted")


class Counted:
    """A function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, term: Term) -> Term:
        self.calls += 1
        return Literal(f"{term}!")


def scalar(expression: Expression, function: Counted, dictionary: Dictionary) -> Scalar:
    context = Context(functions={COUNTED.value: function})
    return Scalar(expression, ["x"], Terms(dictionary), context, strict=True)


@pytest.mark.parametrize("rows", [3, 300])
def test_a_function_is_called_once_for_each_distinct_argument(rows):
    function, dictionary = Counted(), Dictionary()
    call = scalar(FunctionCall(COUNTED, (X,)), function, dictionary)
    column = np.resize(dictionary.encode_terms([Literal("a"), Literal("b"), None]), rows)
    found = call([column], rows)
    again = call([column], rows)
    assert function.calls == 2
    assert found.tolist() == again.tolist()
    assert [dictionary.decode(each).lexical for each in found[:2].tolist()] == ['"a"!', '"b"!']
    assert found[2] == 0


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(fallback, "_REMEMBERED", 4)
    function, dictionary = Counted(), Dictionary()
    call = scalar(FunctionCall(COUNTED, (X,)), function, dictionary)
    for number in range(20):
        call([dictionary.encode_terms([Literal(str(number))])], 1)
    assert len(call._known) <= 4


def test_row_by_row_gives_ids_and_what_a_filter_keeps():
    dictionary = Dictionary()
    terms = Terms(dictionary)
    ids = dictionary.encode_terms([Literal("a"), Literal("b"), None])
    relation = Relation({"x": ids}, ids * 0, ids * 0 + 1)
    length = RowByRow(Call(Builtin.UCASE, (X,)), terms, Context())
    assert [dictionary.decode(each).lexical for each in length.ids(relation)[:2].tolist()] == ["A", "B"]
    test = RowByRow(Compare(Comparison.GT, X, Literal("a")), terms, Context())
    assert test.mask(relation).tolist() == [False, True, False]
