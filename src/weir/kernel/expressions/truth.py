"""Three-valued logic as small integers: false 0, error 1, true 2.

With this order SPARQL's tables for ``||`` and ``&&`` (section 17.2) are maximum and minimum, and negation
is ``2 − x``: an error survives exactly where the other side does not decide.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weir.kernel.expressions.terms import Terms
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.inline import TYPE_SHIFT, Inline, make

Truth: TypeAlias = NDArray[np.int8]

FALSE, ERROR, TRUE = np.int8(0), np.int8(1), np.int8(2)

FALSE_ID, TRUE_ID = (int(i) for i in make(Inline.BOOLEAN, np.array([0, 1])))
_IDS = np.array([FALSE_ID, 0, TRUE_ID], np.int64)

_PAYLOAD = (1 << TYPE_SHIFT) - 1
_SCALED = {Inline.DECIMAL: 4, Inline.DOUBLE: 4, Inline.FLOAT: 4, Inline.DOUBLE_E: 7}


def truth_of(mask: Mask) -> Truth:
    """True and false for a condition that cannot fail."""
    return mask.astype(np.int8) << 1


def ids_of(truth: Truth) -> Ids:
    """The ids of ``true`` and ``false``, 0 for an error."""
    return _IDS[truth]


def effective(ids: Ids, terms: Terms) -> Truth:
    """The effective boolean values of terms (17.2.2)."""
    high = (ids >> TYPE_SHIFT) & 31
    inline = ids < 0
    out = np.full(len(ids), ERROR)
    boolean = inline & (high == Inline.BOOLEAN)
    if boolean.all():
        return truth_of((ids & 1) != 0)
    out[boolean] = truth_of((ids[boolean] & 1) != 0)
    # A number is false where its digits are zero; none of the inline forms is NaN.
    for kind in range(Inline.INTEGER, Inline.FLOAT + 1):
        rows = np.flatnonzero(inline & (high == kind))
        if len(rows):
            digits = (ids[rows] & _PAYLOAD) >> _SCALED.get(Inline(kind), 0)
            out[rows] = truth_of(digits != 0)
    hashed = np.flatnonzero(ids > 0)
    if len(hashed):
        out[hashed] = [terms.effective(identifier) for identifier in ids[hashed].tolist()]
    return out
