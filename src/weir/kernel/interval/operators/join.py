"""Join: the union of two compatible solutions is visible while both are, ``[max start, min end)``.

Solutions are compatible where every shared variable is equal or unbound on one side (18.3). Shared
columns without 0 are matched by key; where a shared column holds 0, both sides fall into groups by
*which* of those columns are bound, and each pair of groups is matched on what is bound in both.

A join that would make more rows than ``limit`` is refused: matches are produced in chunks, empty
intersections dropped at once, so memory follows the result and not the fan-out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.interval.keys import combine
from weir.kernel.interval.operators.index import Index
from weir.kernel.interval.relation import Relation
from weir.rdf.columns import Ids

LIMIT = 1 << 25
"""The most rows one operator may make in one slab."""

CHUNK = 1 << 20
"""The most candidate matches held at a time."""

_FEW = 4


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
        return _matches_on(left, right, shared, limit, operator)
    strict = [name for name in shared if name not in loose]
    parts: list[Matches] = []
    for left_rows, left_bound in _by_bound(one, loose):
        for right_rows, right_bound in _by_bound(two, loose):
            on = strict + [name for name in loose if name in left_bound and name in right_bound]
            if sharing and not on:
                continue
            part = _matches_on(one.take(left_rows), two.take(right_rows), on, limit, operator)
            parts.append(Matches(left_rows[part.left], right_rows[part.right], part.start, part.end))
            limit -= len(part)
    return _concatenate(parts)


def _by_bound(relation: Relation, names: Sequence[str]) -> Iterator[tuple[Ids, set[str]]]:
    """The rows of each set of bound columns that occurs."""
    pattern = np.zeros(len(relation), np.int64)
    for bit, name in enumerate(names):
        pattern |= (relation.columns[name] != 0).astype(np.int64) << bit
    for value in np.unique(pattern).tolist():
        bound = {name for bit, name in enumerate(names) if value >> bit & 1}
        yield np.flatnonzero(pattern == value), bound


def _matches_on(
    left: Relation | Index, right: Relation | Index, on: Sequence[str], limit: int, operator: str
) -> Matches:
    """Pairs equal on the columns ``on``, none of which holds 0; every pair where there are none."""
    one, two = _relation(left), _relation(right)
    if not on:
        return _cross(one, two, limit, operator)
    if isinstance(right, Index) and set(right.on) <= set(on):
        return _probe(one, right, on, limit, operator)
    if isinstance(left, Index) and set(left.on) <= set(on):
        return _swap(_probe(two, left, on, limit, operator))
    if len(one) <= _FEW and len(one) * len(two) < CHUNK:
        return _few(one, two, on)
    if len(two) <= _FEW and len(one) * len(two) < CHUNK:
        return _swap(_few(two, one, on))
    if len(two) <= len(one):
        return _probe(one, Index(two, on), on, limit, operator)
    return _swap(_probe(two, Index(one, on), on, limit, operator))


def _few(few: Relation, many: Relation, on: Sequence[str]) -> Matches:
    """For a handful of rows, comparing them with every other row is cheaper than sorting."""
    lefts: list[Ids] = []
    rights: list[Ids] = []
    for row in range(len(few)):
        hits = np.flatnonzero(many.columns[on[0]] == few.columns[on[0]][row])
        for name in on[1:]:
            hits = hits[many.columns[name][hits] == few.columns[name][row]]
        lefts.append(np.full(len(hits), row))
        rights.append(hits)
    left = lefts[0] if len(lefts) == 1 else np.concatenate(lefts)
    right = rights[0] if len(rights) == 1 else np.concatenate(rights)
    return _meeting(few, many, left, right)


def _probe(probing: Relation, index: Index, on: Sequence[str], limit: int, operator: str) -> Matches:
    target = index.relation
    first, counts = index.ranges(combine([probing.columns[name] for name in index.on]))
    # A single-column key is exact; a combined one, and columns beyond the key, are compared here.
    check = [name for name in on if len(index.on) > 1 or name not in index.on]
    total = int(counts.sum())
    if total <= CHUNK:
        left = np.repeat(np.arange(len(probing)), counts)
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        right = index.order[np.repeat(first, counts) + within]
        left, right = _verified(probing, target, left, right, check)
        return _bounded(_meeting(probing, target, left, right), limit, operator)
    ends = np.cumsum(counts)
    parts: list[Matches] = []
    for begin in range(0, total, CHUNK):
        flat = np.arange(begin, min(begin + CHUNK, total))
        left = np.searchsorted(ends, flat, side="right")
        right = index.order[first[left] + flat - (ends - counts)[left]]
        left, right = _verified(probing, target, left, right, check)
        part = _bounded(_meeting(probing, target, left, right), limit, operator)
        limit -= len(part)
        parts.append(part)
    return _concatenate(parts)


def _cross(left: Relation, right: Relation, limit: int, operator: str) -> Matches:
    width = len(right)
    total = len(left) * width
    parts: list[Matches] = []
    for begin in range(0, total, CHUNK):
        flat = np.arange(begin, min(begin + CHUNK, total))
        part = _bounded(_meeting(left, right, flat // width, flat % width), limit, operator)
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
    return Matches(left[meet], right[meet], start[meet], end[meet])


def _bounded(found: Matches, limit: int, operator: str) -> Matches:
    if len(found) > limit:
        raise EvaluationError(
            f"{operator}: more than {LIMIT} rows in one slab",
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
