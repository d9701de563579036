"""What expressions know of single terms: class, value and order of an id, looked up once and remembered.

Inline ids are understood by arithmetic on their bits elsewhere; this is the way for hashed ids, whose
text the dictionary has, and for results, whose text it gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from weir.errors import EvaluationError
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, BlankNode, Literal, Term, TripleTerm, parse_term
from weir.rdf.xsd.numbers import Number, NumericKind, literal_of
from weir.rdf.xsd.values import Boolean, TaggedText, Text, effective_boolean, value_of

NOT_A_NUMBER = -1
EXOTIC = 4
_DIGITS = 1 << 62
_PLACES = 18
_REMEMBERED = 1 << 18


class TermClass(IntEnum):
    """What kind of thing a term is, as far as comparisons care."""

    UNBOUND = 0
    IRI = 1
    BLANK = 2
    STRING = 3
    TAGGED = 4
    NUMBER = 5
    BOOLEAN = 6
    OTHER = 7
    TRIPLE = 8


NumberEntry = tuple[int, int, int, float]
"""Kind, digits, scale and real, as in ``Numbers``."""

_NO_NUMBER: NumberEntry = (NOT_A_NUMBER, 0, 0, 0.0)
_EXOTIC: NumberEntry = (EXOTIC, 0, 0, 0.0)


class Terms:
    """A dictionary with memory: bounded, and never wrong, since an id's meaning does not change."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        remembered = lru_cache(_REMEMBERED)
        self.term = remembered(self._term)
        """The term of an id other than 0."""
        self.classify = remembered(self._classify)
        """The class of one id."""
        self.number = remembered(self._number)
        """The numeric value of one id, if it has one."""
        self.effective = remembered(self._truth)
        """The effective boolean value of one id: 0 false, 1 an error, 2 true."""
        self._constants: set[Term] = set()
        self._generation = dictionary.generation

    def _term(self, identifier: int) -> Term:
        try:
            return parse_term(self.dictionary.text(identifier))
        except KeyError:
            raise EvaluationError(
                "an expression needs the text of a term that did not come with the data",
                detail=f"id {identifier:#x}",
            ) from None

    def _classify(self, identifier: int) -> TermClass:
        return _class_of(self.term(identifier)) if identifier else TermClass.UNBOUND

    def _number(self, identifier: int) -> NumberEntry:
        return _number_of(self.term(identifier)) if identifier else _NO_NUMBER

    def _truth(self, identifier: int) -> int:
        term = self.term(identifier)
        value = effective_boolean(term) if isinstance(term, Literal) else None
        return 1 if value is None else 2 * value

    def refresh(self) -> int:
        """A number that changes whenever the dictionary has forgotten texts: remembered ids may have none
        then. The query's constants get theirs back."""
        if self._generation != self.dictionary.generation:
            self._generation = self.dictionary.generation
            for term in self._constants:
                self.dictionary.encode(term)
        return self._generation

    def encode_constant(self, term: Term) -> int:
        """The id of a term of the query, whose text is never forgotten."""
        self._constants.add(term)
        return self.dictionary.encode(term)

    def encode(self, term: Term | None) -> int:
        """The id of a computed term; 0 for none."""
        return self.dictionary.encode(term) if term is not None else 0

    def encode_exact(self, kind: int, digits: int, scale: int) -> int:
        """The id of the canonical literal of ``digits / 10^scale``."""
        value = digits if kind == NumericKind.INTEGER else Decimal(digits).scaleb(-scale)
        return self.dictionary.encode(literal_of(Number(NumericKind(kind), value)))

    def encode_reals(self, kind: int, values: NDArray[np.float64]) -> Ids:
        """The ids of the canonical literals of floats or doubles."""
        distinct: dict[str, int] = {}
        places: list[int] = []
        for value in values.tolist():
            text = str(literal_of(Number(NumericKind(kind), value)))
            places.append(distinct.setdefault(text, len(distinct)))
        return self.dictionary.encode_texts(list(distinct))[places]

    def encode_all(self, terms: Sequence[Term | None]) -> Ids:
        """The ids of computed terms; 0 for None."""
        return self.dictionary.encode_terms(terms)


def _class_of(term: Term) -> TermClass:
    if isinstance(term, IRI):
        return TermClass.IRI
    if isinstance(term, BlankNode):
        return TermClass.BLANK
    if isinstance(term, TripleTerm):
        return TermClass.TRIPLE
    value = value_of(term)
    if isinstance(value, Text):
        return TermClass.STRING
    if isinstance(value, TaggedText):
        return TermClass.TAGGED
    if isinstance(value, Number):
        return TermClass.NUMBER
    return TermClass.BOOLEAN if isinstance(value, Boolean) else TermClass.OTHER


def _number_of(term: Term) -> NumberEntry:
    number = value_of(term) if isinstance(term, Literal) else None
    if not isinstance(number, Number):
        return _NO_NUMBER
    value = number.value
    if isinstance(value, float):
        return int(number.kind), 0, 0, value
    if isinstance(value, int):
        return (int(number.kind), value, 0, 0.0) if abs(value) < _DIGITS else _EXOTIC
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent < -_PLACES or len(digits) + max(exponent, 0) > _PLACES:
        return _EXOTIC
    scaled = int("".join(map(str, digits))) * 10 ** max(exponent, 0)
    return int(number.kind), -scaled if sign else scaled, max(-exponent, 0), 0.0
