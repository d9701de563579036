"""From views to solutions: the rows that a call returns, and the account of how fresh they are.

A row of one part is as old as its key. A row of two parts is as old as the older of its keys, but for a
link that never changes. An aggregate is as old as the oldest key it is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.kernel.contract import FOREVER
from weir.linked.service.exchange import Rows, owners
from weir.linked.service.outline import Outline, RightSide, Views
from weir.rdf.columns import Ids, Mask


@dataclass(frozen=True, slots=True)
class Gathered:
    """Solutions with their times, and how many join rows they make: all, fresh and missing ones."""

    rows: Rows
    fetched: Ids
    expiry: Ids
    total: int
    fresh: int
    missing: int


def gather(found: Outline, right: RightSide, views: Views, at: int, *, optional: bool) -> Gathered:
    """The rows of the parts, joined where there are two."""
    fresh, known = right.fresh(at), right.known()
    weight = np.bincount(found.link_of, weights=found.left.count).astype(np.int64)
    link, value = views.link, views.value
    if link is None:
        relation, place = value.relation(found.value)
        rows = Rows(dict(relation.columns), len(place))
        fetched, expiry, lasts = relation.start, relation.end, fresh[place]
        missing = int(weight[~known].sum())
        heads = known
    else:
        links = len(found.link)
        first, owner = link.relation(found.link)
        numbers = views.needs(link.places(found.link)[0], at)
        second, place = value.relation(numbers)
        node = links + np.searchsorted(found.value, numbers)
        columns = {name: column[place] for name, column in first.columns.items()}
        rows = Rows({**columns, **second.columns}, len(place))
        old = np.where(first.end == FOREVER, FOREVER, first.start)[place]
        fetched = np.minimum(second.start, old)
        expiry = np.minimum(second.end, first.end[place])
        lasts = (fresh[owner] & fresh[node])[place]
        missing = int(weight[~known[:links]].sum()) + int(weight[owner[~known[node]]].sum())
        place, heads = owner[place], known[:links]
    per_head = np.bincount(place, minlength=len(heads))
    fresh_per_head = np.bincount(place[lasts], minlength=len(heads))
    if optional:
        alone = heads & (per_head == 0)
        per_head = np.where(alone, 1, per_head)
        fresh_per_head = np.where(alone & fresh[: len(heads)], 1, fresh_per_head)
    total, good = int((weight * per_head).sum()), int((weight * fresh_per_head).sum())
    return Gathered(rows, fetched, expiry, total, good, missing)


def grouped(found: Outline, right: RightSide, at: int, answer: Rows, key: Sequence[str]) -> Gathered:
    """The times of an aggregate's solutions, by the left node each belongs to."""
    lefts = found.left.length
    fresh, known, oldest, expiry = _whole(found, right, at)
    count = found.left.count
    owner, mine = owners(answer, key, found.left.columns, lefts)
    kept = answer.take(mine)
    owner = owner[mine]
    if not key and lefts:
        fetched = np.full(kept.length, oldest.min())
        until = np.full(kept.length, expiry.min())
    else:
        fetched, until = oldest[owner], expiry[owner]
    return Gathered(
        kept, fetched, until, int(count[known].sum()), int(count[fresh].sum()), int(count[~known].sum())
    )


def _whole(found: Outline, right: RightSide, at: int) -> tuple[Mask, Mask, Ids, Ids]:
    """For each left node: whether all it needs is fresh, whether its first key is known, its oldest fetch
    and its earliest expiry."""
    lefts = found.left.length
    stale = np.bincount(found.edge_left[~right.fresh(at)[found.edge_right]], minlength=lefts)
    known = right.known()[found.link_of]
    oldest, expiry = np.full(lefts, at), np.full(lefts, FOREVER)
    settled = right.expiry == FOREVER
    fetched = np.where(settled, at, right.fetched)
    np.minimum.at(oldest, found.edge_left, fetched[found.edge_right])
    np.minimum.at(expiry, found.edge_left, right.expiry[found.edge_right])
    return stale == 0, known, oldest, expiry
