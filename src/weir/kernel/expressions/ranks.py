"""The two orders of terms (decision semantics-values, 1 to 5) as columns of ranks.

Terms are ranked once per distinct id; ids of one inline type by arithmetic on their bits, all others by
the keys of ``kernel.functions``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weir.kernel.expressions.numeric import DECIMAL, DOUBLE, INTEGER, POWERS, Numbers, numbers_of
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions.operators import canonical_key, order_key
from weir.rdf.columns import Ids
from weir.rdf.ids.inline import TIME_SHAPES, TYPE_SHIFT, Inline, payloads
from weir.rdf.terms import Term

_BY_PAYLOAD = frozenset(kind for kind, _, zone in TIME_SHAPES.values() if zone in ("", "Z"))
"""Types whose value bits are in the order of ORDER BY."""


def order_ranks(ids: Ids, terms: Terms) -> Ids:
    """Ranks in the order of ORDER BY ASC; values that tie there have equal ranks."""
    distinct, where = np.unique(ids, return_inverse=True)
    return _order_ranks(distinct, terms)[where]


def canonical_ranks(ids: Ids, terms: Terms) -> Ids:
    """Ranks in the canonical order of terms, unbound first; equal ids only have equal ranks."""
    distinct, where = np.unique(ids, return_inverse=True)
    return _ranks_by(distinct, canonical_key, terms)[where]


def extreme_order(ids: Ids, terms: Terms, *, greatest: bool) -> tuple[Ids, Ids]:
    """Ranks whose least is MIN or MAX, ties resolved canonically, and the id of each rank."""
    distinct, where = np.unique(ids, return_inverse=True)
    ranks = _order_ranks(distinct, terms)
    if greatest:
        ranks = -ranks
    if len(np.unique(ranks)) < len(ranks):
        order = np.lexsort((_ranks_by(distinct, canonical_key, terms), ranks))
    else:
        order = np.argsort(ranks)
    return np.argsort(order)[where], distinct[order]


def sample_order(ids: Ids, terms: Terms) -> tuple[Ids, Ids]:
    """Ranks in the canonical order, and the id of each rank."""
    distinct, where = np.unique(ids, return_inverse=True)
    ranks = _ranks_by(distinct, canonical_key, terms)
    return ranks[where], distinct[np.argsort(ranks)]


def _order_ranks(distinct: Ids, terms: Terms) -> Ids:
    if len(distinct) <= 1:
        return np.zeros(len(distinct), np.int64)
    values = _comparable(distinct, terms)
    if values is not None:
        return np.unique(values, return_inverse=True)[1]
    return _ranks_by(distinct, order_key, terms)


def _comparable(distinct: Ids, terms: Terms) -> Any:
    """Machine numbers in the order of the terms, where there are such."""
    if distinct[-1] >= 0:
        return None
    inline = (distinct >> TYPE_SHIFT) & 31
    if inline[0] == inline[-1] and int(inline[0]) in _BY_PAYLOAD:
        return payloads(distinct)
    if not ((inline >= Inline.INTEGER) & (inline <= Inline.FLOAT)).all():
        return None
    numbers = numbers_of(distinct, terms)
    least, most = int(numbers.kind.min()), int(numbers.kind.max())
    if least == most == INTEGER:
        return numbers.digits
    if most <= DECIMAL:
        return _aligned(numbers)
    return numbers.real if least == most == DOUBLE else None


def _aligned(numbers: Numbers) -> Ids | None:
    """Digits at a common scale, if they fit."""
    scale = int(numbers.scale.max())
    factor = POWERS[scale - numbers.scale]
    if (np.abs(numbers.digits) * factor.astype(np.float64)).max() >= 2.0**62:
        return None
    return numbers.digits * factor


def _ranks_by(distinct: Ids, key: Callable[[Term | None], Any], terms: Terms) -> Ids:
    """Dense ranks of distinct ids by the key of their terms; equal keys have equal ranks."""
    keys = [key(terms.term(identifier) if identifier else None) for identifier in distinct.tolist()]
    ranks = {each: rank for rank, each in enumerate(sorted(set(keys)))}
    return np.array([ranks[each] for each in keys], np.int64)
