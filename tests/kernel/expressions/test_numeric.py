"""Columns of numbers: ids to numbers and back, and arithmetic that is exact or says that it is not."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.expressions import numeric
from weir.kernel.expressions.numeric import calculate, encode_numbers, numbers_of
from weir.kernel.expressions.term_cache import NOT_A_NUMBER, Terms
from weir.language.algebra.expressions import Arithmetic
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD, Literal

DICTIONARY = Dictionary()
TERMS = Terms(DICTIONARY)


def ids(*numbers: str) -> np.ndarray:
    """``2``, ``2.0``, ``2e0`` and ``2f`` are an integer, a decimal, a double and a float."""
    kinds = {"f": "float", "e": "double", ".": "decimal"}
    found = []
    for text in numbers:
        kind = next((kinds[sign] for sign in kinds if sign in text), "integer")
        found.append(Literal(text.rstrip("f"), XSD + kind))
    return DICTIONARY.encode_terms(found)


def texts(encoded: np.ndarray) -> list[str]:
    return [DICTIONARY.decode(each).lexical if each else "error" for each in encoded.tolist()]


@pytest.mark.parametrize("form", ["7", "-2.5", "100.0", "1.5E0", "2.5E-3", "9" * 17, "0.1", "1.0E300"])
def test_a_canonical_number_comes_back_as_it_was(form):
    column = ids(form.replace("E", "e"), "1")[:1]
    (found,) = texts(encode_numbers(numbers_of(column, TERMS), 1, TERMS))
    assert found == form


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        (Arithmetic.ADD, "0.1", "0.2", "0.3"),
        (Arithmetic.SUBTRACT, "1", "0.25", "0.75"),
        (Arithmetic.MULTIPLY, "1.5", "2", "3.0"),
        (Arithmetic.DIVIDE, "1", "4", "0.25"),
        (Arithmetic.DIVIDE, "1", "0", "error"),
        (Arithmetic.ADD, "1", "1e0", "2.0E0"),
    ],
)
def test_the_outcome_has_the_type_that_sparql_gives_it(operator, left, right, expected):
    numbers, pending = calculate(operator, numbers_of(ids(left), TERMS), numbers_of(ids(right), TERMS))
    assert not pending.any()
    assert texts(encode_numbers(numbers, 1, TERMS)) == [expected]


@pytest.mark.parametrize(
    ("operator", "left", "right"),
    [
        (Arithmetic.DIVIDE, "1", "3"),
        (Arithmetic.ADD, str(2**61), str(2**61)),
        (Arithmetic.MULTIPLY, str(2**40), str(2**40)),
        (Arithmetic.ADD, "9" * 30, "1"),
    ],
)
def test_what_64_bits_cannot_do_is_left_for_the_scalar_way(operator, left, right):
    _, pending = calculate(operator, numbers_of(ids(left), TERMS), numbers_of(ids(right), TERMS))
    assert pending.all()


def test_a_term_that_is_no_number_is_an_error():
    column = DICTIONARY.encode_terms([IRI("a"), None, Literal("1")])
    assert numbers_of(column, TERMS).kind.tolist() == [NOT_A_NUMBER] * 3


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (numeric.negate, "2.5 -2.5"),
        (numeric.absolute, "2.5 2.5"),
        (numeric.floor, "-3.0 2.0"),
        (numeric.ceiling, "-2.0 3.0"),
        (numeric.round_half_up, "-2.0 3.0"),
    ],
)
def test_functions_of_one_number(function, expected):
    found = function(numbers_of(ids("-2.5", "2.5"), TERMS))
    assert texts(encode_numbers(found, 2, TERMS)) == expected.split()
