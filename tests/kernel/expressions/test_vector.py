"""A column of values in three forms: ids, numbers, truth."""

from __future__ import annotations

import numpy as np

from weir.kernel.expressions.numeric import numbers_of
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.expressions.vector import ERROR, FALSE, TRUE, Vector, effective, truth_of
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD, Literal
from weir.rdf.xsd.values import boolean

DICTIONARY = Dictionary()
TERMS = Terms(DICTIONARY)
COLUMN = DICTIONARY.encode_terms(
    [
        boolean(True),
        boolean(False),
        Literal("0", XSD + "integer"),
        Literal("1.5", XSD + "decimal"),
        Literal(""),
    ]
)


def test_effective_boolean_values():
    assert effective(COLUMN, TERMS).tolist() == [TRUE, FALSE, FALSE, TRUE, FALSE]
    assert effective(DICTIONARY.encode_terms([IRI("a"), None]), TERMS).tolist() == [ERROR, ERROR]


def test_truth_becomes_the_ids_of_booleans():
    truth = truth_of(np.array([True, False]))
    assert Vector(2, TERMS, truth=truth).ids().tolist() == COLUMN[:2].tolist()


def test_numbers_become_ids_and_truth_only_when_asked():
    numbers = numbers_of(COLUMN[2:4], TERMS)
    vector = Vector(2, TERMS, numbers=numbers)
    assert vector.is_numeric
    assert vector.truth().tolist() == [FALSE, TRUE]
    assert vector.ids_at(np.array([1])).tolist() == COLUMN[3:4].tolist()
    assert vector.ids().tolist() == COLUMN[2:4].tolist()


def test_a_constant_is_kept_once_and_given_at_full_length():
    vector = Vector(3, TERMS, ids=COLUMN[:1])
    assert len(vector.short_ids()) == 1
    assert vector.ids().tolist() == COLUMN[:1].tolist() * 3
    assert vector.truth().tolist() == [TRUE] * 3
