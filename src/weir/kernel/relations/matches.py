"""Pairs of compatible solutions that are visible together: what Join, LeftJoin, Minus and EXISTS start from.

Two rows are visible together in ``[max start, min end)``; pairs for which that is empty do not count.
Solutions are compatible where every shared variable is equal or unbound on one side (SPARQL 18.3). Shared
columns without 0 are matched by key; where a shared column holds 0, both sides fall into groups by
*which* of those columns are bound, and each pair of groups is matched on what is bound in both.

More matches than ``limit`` are refused: they are produced in chunks, empty intersections dropped at once,
so memory follows the result and not the fan-out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.relations.coverage import CHUNK
from weir.kernel.relations.keys import LIMIT, SortedKeys, codes, combine, spread
from weir.kernel.relations.relation import Relation
from weir.rdf.columns import Ids


@dataclass(frozen=True, slots=True)
class Matches:
    """Pairs of rows by position, and the interval in which both are visible."""

    left: Ids
    right: Ids
    start: Ids
    end: Ids

    def __len__(self) -> int:
        return len(self.left)


class Index:
    """``relation`` by the columns ``on`` (at least one), none of which may hold 0 in any row; built once and
    probed many times."""

    __slots__ = ("keys", "on", "relation")

    def __init__(self, relation: Relation, on: Sequence[str]) -> None:
        self.relation = relation
        self.on = tuple(on)
        self.keys = SortedKeys(combine([relation.columns[name] for name in self.on]))

    def __len__(self) -> int:
        return len(self.relation)


def join(left: Relation, right: Relation | Index, *, limit: int = LIMIT) -> Relation:
    """All unions of compatible solutions; an ``Index`` is probed where its columns are shared ones."""
    return merge(left, _relation(right), matches(left, right, limit=limit))


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
    left: Relation,
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
    two = _relation(right)
    if not len(left) or not len(two):
        return _NO_MATCHES
    shared = [name for name in left.columns if name in two.columns]
    loose: list[str] = []
    if left.optional or two.optional:
        loose = [name for name in shared if left.may_lack(name) or two.may_lack(name)]
    if not loose:
        if not shared and sharing:
            return _NO_MATCHES
        return _matches_on(left, right, shared, limit, refusal)
    strict = [name for name in shared if name not in loose]
    parts: list[Matches] = []
    for left_rows, left_bound in _by_bound(left, loose):
        for right_rows, right_bound in _by_bound(two, loose):
            on = strict + [name for name in loose if name in left_bound and name in right_bound]
            if sharing and not on:
                continue
            part = _matches_on(left.take(left_rows), two.take(right_rows), on, limit, refusal)
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
    left: Relation, right: Relation | Index, on: Sequence[str], limit: int, refusal: str
) -> Matches:
    """Pairs equal on the columns ``on``, none of which holds 0; every pair where there are none."""
    two = _relation(right)
    parts: list[Matches] = []
    for left_rows, right_rows in _candidates(left, right, on):
        part = _meeting(left, two, left_rows, right_rows)
        limit -= len(part)
        if limit < 0:
            raise EvaluationError(
                refusal,
                hint="a join without shared variables, or on one that hardly differs, multiplies its inputs",
            )
        parts.append(part)
    return _concatenate(parts)


def _candidates(left: Relation, right: Relation | Index, on: Sequence[str]) -> Iterator[tuple[Ids, Ids]]:
    """The pairs equal on ``on``, in chunks."""
    if isinstance(right, Index) and on and set(right.on) <= set(on):
        yield from _probe(left, right, on)
        return
    two = _relation(right)
    if not on:
        for begin in range(0, len(left) * len(two), CHUNK):
            flat = np.arange(begin, min(begin + CHUNK, len(left) * len(two)))
            yield flat // len(two), flat % len(two)
    elif len(two) <= len(left):
        yield from _probe(left, Index(two, on), on)
    else:
        for right_rows, left_rows in _probe(two, Index(left, on), on):
            yield left_rows, right_rows


def _probe(probing: Relation, index: Index, on: Sequence[str]) -> Iterator[tuple[Ids, Ids]]:
    keys = combine([probing.columns[name] for name in index.on])
    # A single-column key is exact; a combined one, and columns beyond the key, are compared here.
    check = [name for name in on if len(index.on) > 1 or name not in index.on]
    first, counts = index.keys.ranges(keys)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    for begin in range(0, total, CHUNK):
        if total <= CHUNK:
            left, place = spread(first, counts)
        else:
            flat = np.arange(begin, min(begin + CHUNK, total))
            left = np.searchsorted(ends, flat, side="right")
            place = first[left] + flat - (ends - counts)[left]
        yield verified(probing.columns, index.relation.columns, left, index.keys.order[place], check)


def verified(
    one: Mapping[str, Ids], two: Mapping[str, Ids], left: Ids, right: Ids, on: Sequence[str]
) -> tuple[Ids, Ids]:
    """The pairs of rows that are equal on these columns."""
    for name in on:
        equal = one[name][left] == two[name][right]
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


def _concatenate(parts: Sequence[Matches]) -> Matches:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return _NO_MATCHES
    columns = ([part.left, part.right, part.start, part.end] for part in parts)
    return Matches(*(np.concatenate(each) for each in zip(*columns, strict=True)))


def _relation(side: Relation | Index) -> Relation:
    return side.relation if isinstance(side, Index) else side


_NONE = np.empty(0, np.int64)


_NO_MATCHES = Matches(_NONE, _NONE, _NONE, _NONE)
