"""``=``, ``<`` and their kin on columns (section 17.3): inline numbers, booleans and times by arithmetic.

Equal ids are equal terms, and equal by value unless they are NaN. What is left after the fast ways (strings
by order, literals of other types) is UNDONE and goes the scalar way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.kernel.expressions.numeric import DECIMAL, Numbers, aligned, numbers_of, promoted
from weir.kernel.expressions.term_cache import EXOTIC, NOT_A_NUMBER, TermClass, Terms
from weir.kernel.expressions.vector import ERROR, FALSE, TRUE, Truth, Vector, truth_of
from weir.kernel.functions.operators import COMPARE
from weir.language.algebra.expressions import Comparison
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.inline import TIME_SHAPES, TYPE_SHIFT, Inline, payloads

UNDONE = np.int8(3)

_UNEQUAL = {Comparison.EQ: FALSE, Comparison.NE: TRUE}

_HASHED, _NUMBER, _BOOLEAN, _MOMENT, _DATE = range(5)
_FAMILY = np.full(32, _MOMENT, np.int8)
_FAMILY[0] = _HASHED
_FAMILY[Inline.INTEGER : Inline.FLOAT + 1] = _NUMBER
_FAMILY[Inline.BOOLEAN] = _BOOLEAN
_FAMILY[Inline.DATE] = _DATE

_MICROSECONDS = {kind: 10 ** (6 - digits) for kind, digits, _ in TIME_SHAPES.values()}
_ZONES = 14 * 3_600_000_000


def compare_numbers(operator: Comparison, left: Numbers, right: Numbers) -> Truth:
    """Numbers after promotion; UNDONE where a side is no number, exotic, or 64 bits do not do."""
    kind = np.maximum(left.kind, right.kind)
    compare = COMPARE[operator]
    undone = (kind == EXOTIC) | (left.kind == NOT_A_NUMBER) | (right.kind == NOT_A_NUMBER)
    exact = kind <= DECIMAL
    if exact.all():
        out, too_large = _compare_exact(compare, left, right)
        return np.where(undone | too_large, UNDONE, out)
    a, b, fits = promoted(left, right, kind)
    with np.errstate(invalid="ignore"):
        out = truth_of(compare(a, b))
    undone = undone | ~fits
    if exact.any():
        other, too_large = _compare_exact(compare, left, right)
        out = np.where(exact, other, out)
        undone = np.where(exact, too_large | (kind == EXOTIC), undone)
        undone = undone | (left.kind == NOT_A_NUMBER) | (right.kind == NOT_A_NUMBER)
    return np.where(undone, UNDONE, out)


def _compare_exact(compare: Callable[[Any, Any], Any], left: Numbers, right: Numbers) -> tuple[Truth, Mask]:
    a, b, _, too_large = aligned(left, right)
    return truth_of(compare(a, b)), too_large


def compare(operator: Comparison, left: Vector, right: Vector, terms: Terms) -> Truth:
    """Values of any kind; UNDONE where the scalar way is needed."""
    if left.is_numeric or right.is_numeric:
        return np.broadcast_to(compare_numbers(operator, left.numbers(), right.numbers()), left.length)
    one, two = left.short_ids(), right.short_ids()
    family = _family(one)
    if family and family == _family(two):
        if family == _NUMBER:
            truth = compare_numbers(operator, left.numbers(), right.numbers())
        else:
            truth = _of_family(family, operator, one, two)
        return np.broadcast_to(truth, left.length)
    if operator in _UNEQUAL and (_differs(one, terms) or _differs(two, terms)):
        truth = truth_of(COMPARE[operator](one, two))
        return np.broadcast_to(np.where((one == 0) | (two == 0), ERROR, truth), left.length)
    return _compare_mixed(operator, left.ids(), right.ids(), terms)


def _differs(ids: Ids, terms: Terms) -> bool:
    """Whether there is one term for all rows, and it is unequal to every other term."""
    return len(ids) == 1 and bool(ids[0] > 0) and bool(_DIFFERENT[terms.classify(int(ids[0]))])


def _family(ids: Ids) -> int:
    """The family that all ids belong to, if it is one of inline ids."""
    if not len(ids) or ids[0] >= 0:
        return _HASHED
    high = ids >> TYPE_SHIFT
    if len(ids) > 1 and not (high == high[0]).all():
        families = _FAMILY[np.where(ids < 0, high & 31, 0)]
        return int(families[0]) if (families == families[0]).all() else _HASHED
    return int(_FAMILY[high[0] & 31])


def _compare_mixed(operator: Comparison, left: Ids, right: Ids, terms: Terms) -> Truth:
    one = _FAMILY[np.where(left < 0, (left >> TYPE_SHIFT) & 31, 0)]
    two = _FAMILY[np.where(right < 0, (right >> TYPE_SHIFT) & 31, 0)]
    if not one.any() and not two.any():
        return _hashed(operator, left, right, terms)
    out = np.full(len(left), UNDONE)
    for family in range(_NUMBER, _DATE + 1):
        both = np.flatnonzero((one == family) & (two == family))
        if not len(both):
            continue
        a, b = left[both], right[both]
        if family == _NUMBER:
            out[both] = compare_numbers(operator, numbers_of(a, terms), numbers_of(b, terms))
        else:
            out[both] = _of_family(family, operator, a, b)
    # Inline literals of two families have values in different spaces.
    apart = (one != two) & (one != _HASHED) & (two != _HASHED)
    out[apart] = _UNEQUAL.get(operator, ERROR)
    hashed = np.flatnonzero((one == _HASHED) | (two == _HASHED))
    if len(hashed):
        out[hashed] = _hashed(operator, left[hashed], right[hashed], terms)
    return out


def _of_family(family: int, operator: Comparison, left: Ids, right: Ids) -> Truth:
    if family == _BOOLEAN:
        return truth_of(COMPARE[operator](left & 1, right & 1))
    if family == _DATE:
        return truth_of(COMPARE[operator](payloads(left), payloads(right)))
    return _moments(operator, left, right)


def _moments(operator: Comparison, left: Ids, right: Ids) -> Truth:
    (a, a_zoned), (b, b_zoned) = _instants(left), _instants(right)
    out = truth_of(COMPARE[operator](a, b))
    mixed = a_zoned != b_zoned
    if mixed.any():
        # With one zone missing the answer must hold for every zone from -14:00 to +14:00.
        out[mixed & (np.abs(a - b) <= _ZONES)] = ERROR
    return out


def _instants(ids: Ids) -> tuple[Ids, Mask]:
    """Microseconds since 1970, a missing zone counting as UTC, and whether there is a zone."""
    inline = (ids >> TYPE_SHIFT) & 31
    payload = payloads(ids)
    if (inline == inline[0]).all():
        return _instants_of(Inline(int(inline[0])), payload)
    out = np.zeros(len(ids), np.int64)
    zoned = np.zeros(len(ids), np.bool_)
    for kind in np.unique(inline).tolist():
        rows = inline == kind
        out[rows], zoned[rows] = _instants_of(Inline(kind), payload[rows])
    return out, zoned


def _instants_of(kind: Inline, payload: Ids) -> tuple[Ids, Mask]:
    unit = _MICROSECONDS[kind]
    if kind in (Inline.DATETIME_OFFSET_S, Inline.DATETIME_OFFSET_MS):
        offset = (payload & 2047) - 1024
        return (payload >> 11) * unit - offset * 60_000_000, np.ones(1, np.bool_)
    local = kind in (Inline.DATETIME_LOCAL_S, Inline.DATETIME_LOCAL_MS)
    return payload * unit, np.full(1, not local)


def _hashed(operator: Comparison, left: Ids, right: Ids, terms: Terms) -> Truth:
    """Rows with a hashed or unbound id on some side: equality of IRIs, blank nodes and strings."""
    out = np.where((left == 0) | (right == 0), ERROR, UNDONE)
    if operator not in _UNEQUAL:
        return out
    unequal = _UNEQUAL[operator]
    same = left == right
    one = classes_of(left, terms)
    # The same term is equal to itself, but for NaN, also within a triple term; two terms are unequal as soon
    # as one is no literal or has a language tag, or if both are strings.
    open_ = out == UNDONE
    out[open_ & same & (one != TermClass.NUMBER) & (one != TermClass.TRIPLE)] = (
        FALSE if unequal == TRUE else TRUE
    )
    out[open_ & ~same & _DIFFERENT[one]] = unequal
    rest = np.flatnonzero((out == UNDONE) & ~same)
    if len(rest):
        two = classes_of(right[rest], terms)
        plain = _DIFFERENT[two] | ((one[rest] == TermClass.STRING) & (two == TermClass.STRING))
        out[rest[plain]] = unequal
    return out


_DIFFERENT = np.isin(
    np.arange(len(TermClass)), [int(c) for c in (TermClass.IRI, TermClass.BLANK, TermClass.TAGGED)]
)


def classes_of(ids: Ids, terms: Terms) -> NDArray[np.int8]:
    """The class of each term; inline ids but numbers and booleans are OTHER."""
    out = _INLINE_CLASS[np.where(ids < 0, (ids >> TYPE_SHIFT) & 31, 0)]
    hashed = np.flatnonzero(ids > 0)
    if len(hashed):
        distinct, where = np.unique(ids[hashed], return_inverse=True)
        out[hashed] = np.array([terms.classify(each) for each in distinct.tolist()], np.int8)[where]
    return out


_INLINE_CLASS = np.full(32, TermClass.OTHER, np.int8)
_INLINE_CLASS[0] = TermClass.UNBOUND
_INLINE_CLASS[Inline.INTEGER : Inline.FLOAT + 1] = TermClass.NUMBER
_INLINE_CLASS[Inline.BOOLEAN] = TermClass.BOOLEAN
