"""Pairs of compatible solutions that are visible together: what Join, LeftJoin, Minus and EXISTS start from.

Two rows are visible together in ``[max start, min end)``; pairs for which that is empty do not count.
Solutions are compatible where every shared variable is equal or unbound on one side (SPARQL 18.3). Shared
columns without 0 are matched by key; where a shared column holds 0, both sides fall into groups by
*which* of those columns are bound, and each pair of groups is matched on what is bound in both.

More matches than ``limit`` are refused: they are produced in chunks, empty intersections dropped at once,
so memory follows the result and not the fan-out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.relations.keys import codes, combine
from weir.kernel.relations.relation import Relation
from weir.kernel.relations.sorted_keys import LIMIT, Index
from weir.rdf.columns import Ids

CHUNK = 1 << 20
"""The most candidate matches held at a time."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Pairs of rows by position, and the interval in which both are visible."""

    left: Ids
    right: Ids
    start: Ids
    end: Ids

    def __len__(self) -> int:
        return len(self.left)


def join(left: Relation | Index, right: Relation | Index, *, limit: int = LIMIT) -> Relation:
    """All unions of compatible solutions; an ``Index`` is probed where its columns are shared ones."""
    found = matches(left, right, limit=limit, operator="join")
    return merge(_relation(left), _relation(right), found)


def merge(left: Relation, right: Relation, found: Matches) -> Relation:
    """The joined rows of matches: shared columns from whichever side binds them."""
    columns: dict[str, Ids] = {}
    for name, column in left.columns.items():
        values = column[found.left]
        if name in left.optional and name in right.columns:
            values = np.where(values == 0, right.columns[name][found.right], values)
        columns[name] = values
    for name, column in right.columns.items():
        if name not in columns:
            columns[name] = column[found.right]
    return Relation(columns, found.start, found.end, _optional(left, right))


def _optional(left: Relation, right: Relation) -> frozenset[str]:
    if not left.optional and not right.optional:
        return left.optional
    only_left = {name for name in left.optional if name not in right.columns or name in right.optional}
    return frozenset(only_left | {name for name in right.optional if name not in left.columns})


def matches(
    left: Relation | Index,
    right: Relation | Index,
    *,
    sharing: bool = False,
    limit: int = LIMIT,
    operator: str = "join",
) -> Matches:
    """Pairs of compatible rows whose intervals meet.

    ``sharing`` asks for at least one variable bound on both sides, as MINUS does (8.3.1).
    """
    refusal = f"{operator}: more than {limit:,} rows in one slab"
    one, two = _relation(left), _relation(right)
    if not len(one) or not len(two):
        return _NO_MATCHES
    shared = [name for name in one.columns if name in two.columns]
    if not one.optional and not two.optional:
        loose: list[str] = []
    else:
        loose = [name for name in shared if one.may_lack(name) or two.may_lack(name)]
    if not loose:
        if not shared and sharing:
            return _NO_MATCHES
        return _matches_on(left, right, shared, limit, refusal)
    strict = [name for name in shared if name not in loose]
    parts: list[Matches] = []
    for left_rows, left_bound in _by_bound(one, loose):
        for right_rows, right_bound in _by_bound(two, loose):
            on = strict + [name for name in loose if name in left_bound and name in right_bound]
            if sharing and not on:
                continue
            part = _matches_on(one.take(left_rows), two.take(right_rows), on, limit, refusal)
            parts.append(Matches(left_rows[part.left], right_rows[part.right], part.start, part.end))
            limit -= len(part)
    return _concatenate(parts)


def _by_bound(relation: Relation, names: Sequence[str]) -> Iterator[tuple[Ids, set[str]]]:
    """The rows of each set of bound columns that occurs."""
    numbers, firsts = codes([(relation.columns[name] != 0).astype(np.int64) for name in names], len(relation))
    for number, example in enumerate(firsts.tolist()):
        bound = {name for name in names if relation.columns[name][example]}
        yield np.flatnonzero(numbers == number), bound


def _matches_on(
    left: Relation | Index, right: Relation | Index, on: Sequence[str], limit: int, refusal: str
) -> Matches:
    """Pairs equal on the columns ``on``, none of which holds 0; every pair where there are none."""
    one, two = _relation(left), _relation(right)
    if not on:
        return _cross(one, two, limit, refusal)
    if isinstance(right, Index) and set(right.on) <= set(on):
        return _probe(one, right, on, limit, refusal)
    if isinstance(left, Index) and set(left.on) <= set(on):
        return _swap(_probe(two, left, on, limit, refusal))
    if len(two) <= len(one):
        return _probe(one, Index(two, on), on, limit, refusal)
    return _swap(_probe(two, Index(one, on), on, limit, refusal))


def _probe(probing: Relation, index: Index, on: Sequence[str], limit: int, refusal: str) -> Matches:
    target = index.relation
    keys = combine([probing.columns[name] for name in index.on])
    # A single-column key is exact; a combined one, and columns beyond the key, are compared here.
    check = [name for name in on if len(index.on) > 1 or name not in index.on]
    first, counts = index.keys.ranges(keys)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    if total <= CHUNK:
        left = np.repeat(np.arange(len(probing)), counts)
        right = index.keys.order[np.arange(total) + np.repeat(first - ends + counts, counts)]
        left, right = _verified(probing, target, left, right, check)
        return _bounded(_meeting(probing, target, left, right), limit, refusal)
    parts: list[Matches] = []
    for begin in range(0, total, CHUNK):
        flat = np.arange(begin, min(begin + CHUNK, total))
        left = np.searchsorted(ends, flat, side="right")
        right = index.keys.order[first[left] + flat - (ends - counts)[left]]
        left, right = _verified(probing, target, left, right, check)
        part = _bounded(_meeting(probing, target, left, right), limit, refusal)
        limit -= len(part)
        parts.append(part)
    return _concatenate(parts)


def _cross(left: Relation, right: Relation, limit: int, refusal: str) -> Matches:
    width = len(right)
    total = len(left) * width
    parts: list[Matches] = []
    for begin in range(0, total, CHUNK):
        flat = np.arange(begin, min(begin + CHUNK, total))
        part = _bounded(_meeting(left, right, flat // width, flat % width), limit, refusal)
        limit -= len(part)
        parts.append(part)
    return _concatenate(parts)


def _verified(one: Relation, two: Relation, left: Ids, right: Ids, on: Sequence[str]) -> tuple[Ids, Ids]:
    for name in on:
        equal = one.columns[name][left] == two.columns[name][right]
        if not equal.all():
            left, right = left[equal], right[equal]
    return left, right


def _meeting(one: Relation, two: Relation, left: Ids, right: Ids) -> Matches:
    start = np.maximum(one.start[left], two.start[right])
    end = np.minimum(one.end[left], two.end[right])
    meet = start < end
    if meet.all():
        return Matches(left, right, start, end)
    kept = meet.nonzero()[0]
    return Matches(left[kept], right[kept], start[kept], end[kept])


def _bounded(found: Matches, limit: int, refusal: str) -> Matches:
    if len(found) > limit:
        raise EvaluationError(
            refusal,
            hint="a join without shared variables, or on one that hardly differs, multiplies its inputs",
        )
    return found


def _swap(found: Matches) -> Matches:
    return Matches(found.right, found.left, found.start, found.end)


def _concatenate(parts: Sequence[Matches]) -> Matches:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return _NO_MATCHES
    return Matches(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.end for part in parts]),
    )


def _relation(side: Relation | Index) -> Relation:
    return side.relation if isinstance(side, Index) else side


_NONE = np.empty(0, np.int64)


_NO_MATCHES = Matches(_NONE, _NONE, _NONE, _NONE)
