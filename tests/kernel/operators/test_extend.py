"""Extend binds what is unbound, and refuses what is bound."""

from __future__ import annotations

import numpy as np
import pytest

from bags import relation_of
from weir.errors import EvaluationError
from weir.kernel.expressions import compile
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.operators.context import Surroundings
from weir.kernel.operators.extend import extend, extend_by
from weir.kernel.operators.inputs.input import Present
from weir.kernel.windows.instants import Instants
from weir.language.algebra.expressions import Builtin, Call
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Literal, Variable

ROWS = relation_of(("x",), [((1,), 0, 4), ((2,), 2, 3)])


def test_an_extended_row_keeps_its_interval() -> None:
    extended = extend(ROWS, "z", np.array([7, 0]))
    assert (extended.columns["z"].tolist(), extended.optional) == ([7, 0], {"z"})
    assert (extended.start.tolist(), extended.end.tolist()) == ([0, 2], [4, 3])


def test_a_bound_variable_is_not_bound_again() -> None:
    with pytest.raises(EvaluationError, match="already bound"):
        extend(ROWS, "x", np.array([1, 1]))


def test_what_depends_on_the_time_cuts_a_row_at_every_index() -> None:
    dictionary = Dictionary()
    terms = Terms(dictionary)
    rows = relation_of(("x",), [((dictionary.encode(Literal("a")),), 0, 3)])
    now = compile(Call(Builtin.NOW), terms, place="now")
    kept = compile(Variable("x"), terms, place="y")
    around = Surroundings(Present(Instants(np.array([10, 20, 30]), np.ones(3, np.bool_))))
    bound = extend_by(rows, [("now", now), ("y", kept)], around)
    assert (bound.start.tolist(), bound.end.tolist()) == ([0, 1, 2], [1, 2, 3])
    assert len(set(bound.columns["now"].tolist())) == 3 and len(set(bound.columns["y"].tolist())) == 1
