"""A column of values in the form it came in, turned into other forms when somebody asks.

``?a + ?b > 3`` reads ids as numbers, adds numbers and compares numbers; no id is made in between. Rows
in error are 0 as ids, ``ERROR`` as truth, ``NOT_A_NUMBER`` as numbers.

Truth is three-valued logic as small integers: false 0, error 1, true 2. With this order SPARQL's tables for
``||`` and ``&&`` (section 17.2) are maximum and minimum, and negation is ``2 − x``: an error survives
exactly where the other side does not decide.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weir.kernel.expressions.numeric import DECIMAL, Numbers, encode_numbers, numbers_of
from weir.kernel.expressions.term_cache import EXOTIC, NOT_A_NUMBER, Terms
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.inline import TYPE_SHIFT, Inline, make

Truth: TypeAlias = NDArray[np.int8]

FALSE, ERROR, TRUE = np.int8(0), np.int8(1), np.int8(2)

FALSE_ID, TRUE_ID = (int(i) for i in make(Inline.BOOLEAN, np.array([0, 1])))
_IDS = np.array([FALSE_ID, 0, TRUE_ID], np.int64)
"""By truth the ids of ``true`` and ``false``, 0 for an error."""


def truth_of(mask: Mask) -> Truth:
    """True and false for a condition that cannot fail."""
    return mask.astype(np.int8) << 1


def effective(ids: Ids, terms: Terms) -> Truth:
    """The effective boolean values of terms (17.2.2)."""
    high = (ids >> TYPE_SHIFT) & 31
    inline = ids < 0
    out = np.full(len(ids), ERROR)
    boolean = inline & (high == Inline.BOOLEAN)
    if boolean.all():
        return truth_of((ids & 1) != 0)
    out[boolean] = truth_of((ids[boolean] & 1) != 0)
    rows = np.flatnonzero(inline & (high >= Inline.INTEGER) & (high <= Inline.FLOAT))
    if len(rows):
        out[rows] = _effective_numbers(numbers_of(ids[rows], terms))
    hashed = np.flatnonzero(ids > 0)
    if len(hashed):
        out[hashed] = [terms.effective(identifier) for identifier in ids[hashed].tolist()]
    return out


_NO_NUMBER = np.full(1, NOT_A_NUMBER, np.int8)


class Vector:
    """``length`` values; at least one of the forms is given. Given arrays may have length 1."""

    __slots__ = ("_ids", "_numbers", "_terms", "_truth", "length")

    def __init__(
        self,
        length: int,
        terms: Terms,
        *,
        ids: Ids | None = None,
        numbers: Numbers | None = None,
        truth: Truth | None = None,
    ) -> None:
        self.length = length
        self._terms = terms
        self._ids = ids
        self._numbers = numbers
        self._truth = truth

    @property
    def is_numeric(self) -> bool:
        """Whether the values were computed as numbers, so that anything else is an error."""
        return self._numbers is not None and self._ids is None

    def ids(self) -> Ids:
        """Term ids at full length."""
        if self._ids is None:
            if self._numbers is not None:
                self._ids = encode_numbers(self._numbers, self.length, self._terms)
            else:
                self._ids = _IDS[self.truth()]
        if len(self._ids) != self.length:
            return np.broadcast_to(self._ids, self.length)
        return self._ids

    def short_ids(self) -> Ids:
        """Term ids, at length 1 where all are the same constant."""
        return self.ids() if self._ids is None else self._ids

    def numbers(self) -> Numbers:
        """The numbers among the values; arrays may have length 1."""
        if self._numbers is None:
            if self._ids is None:
                return Numbers(_NO_NUMBER)
            self._numbers = numbers_of(self._ids, self._terms)
        return self._numbers

    def truth(self) -> Truth:
        """Effective boolean values at full length."""
        if self._truth is None:
            if self._ids is None and self._numbers is not None and not (self._numbers.kind == EXOTIC).any():
                self._truth = _effective_numbers(self._numbers)
            else:
                self._truth = effective(self.ids(), self._terms)
        if len(self._truth) != self.length:
            return np.broadcast_to(self._truth, self.length)
        return self._truth

    def ids_at(self, rows: Ids) -> Ids:
        """The ids of some rows, without making the others."""
        if self._ids is None and self._numbers is not None:
            return encode_numbers(self._numbers.spread(self.length).take(rows), len(rows), self._terms)
        return self.ids()[rows]


def _effective_numbers(numbers: Numbers) -> Truth:
    """Zero and NaN are false."""
    exact: Mask = numbers.kind <= DECIMAL
    nonzero = np.where(exact, numbers.digits != 0, (numbers.real != 0) & ~np.isnan(numbers.real))
    return np.where(numbers.kind == NOT_A_NUMBER, ERROR, truth_of(nonzero))
