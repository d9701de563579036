"""The maintenance graph of a call: which view keys the rows of the present window need.

Left nodes are the distinct bindings of the join variables. Right nodes are view keys, the unit of a
refresh: of the one part, where each left node needs its own key; or of both, where a left node needs
its link key and, through the link's rows, any number of value keys that others may need too. A link not
known yet, and a key known to have no rows, take part as well: they may have some once asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weir.background.service.graph import MaintenanceGraph
from weir.background.service.parts import Parts
from weir.background.service.scores import evaluations_fresh
from weir.background.service.view import NEVER, LocalView
from weir.kernel.interval.keys import codes, combine
from weir.rdf.columns import Ids, Mask


@dataclass(frozen=True, slots=True)
class Left:
    """The distinct bindings of a window's rows: ``columns`` of ``length``, how many rows each stands for
    (``count``), and a ``name`` (hash) for each."""

    columns: Mapping[str, Ids]
    length: int
    count: Ids
    name: Ids

    @staticmethod
    def of(bindings: Mapping[str, Ids], length: int) -> Left:
        columns = list(bindings.values())
        number, first = codes(columns, length)
        count = np.bincount(number, minlength=len(first))
        distinct = {name: column[first] for name, column in bindings.items()}
        name = combine(list(distinct.values())) if columns else np.zeros(len(first), np.int64)
        return Left(distinct, len(first), count, name)


@dataclass(frozen=True, slots=True)
class Outline:
    """Edges between left nodes and right nodes; right nodes ``[0, len(link))`` are link keys and the rest
    value keys, both by their numbers in the views. ``link_of`` is each left node's link key."""

    left: Left
    edge_left: Ids
    edge_right: Ids
    link: Ids
    value: Ids
    link_of: Ids

    @property
    def rights(self) -> int:
        return len(self.link) + len(self.value)


def outline(left: Left, parts: Parts, link: LocalView | None, value: LocalView, at: int) -> Outline:
    """The keys that ``left`` needs as the views stand; keys never needed before are added to them."""
    every = np.arange(left.length)
    none = np.empty(0, np.int64)
    if parts.link is None or link is None:
        numbers, which = _distinct(value.number(left.columns, left.length, at))
        return Outline(left, every, which, none, numbers, which)
    links, link_of = _distinct(link.number(left.columns, left.length, at))
    rows, place = link.relation(links)
    keys = {name: rows.columns[name] for name in value.key}
    values, which = _distinct(value.number(keys, len(place), at))
    order = np.argsort(link_of, kind="stable")
    first = np.searchsorted(link_of[order], place)
    count = np.searchsorted(link_of[order], place, side="right") - first
    row = np.repeat(np.arange(len(place)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    lefts = order[np.repeat(first, count) + within]
    pairs = np.unique(lefts * max(len(values), 1) + which[row])
    return Outline(
        left=left,
        edge_left=np.concatenate((every, pairs // max(len(values), 1))),
        edge_right=np.concatenate((link_of, len(links) + pairs % max(len(values), 1))),
        link=links,
        value=values,
        link_of=link_of,
    )


@dataclass(frozen=True, slots=True)
class RightSide:
    """What is known of the right nodes at an evaluation time, by number of the right node."""

    fetched: Ids
    expiry: Ids
    change: Ids
    interval: Ids
    waiting: Mask

    def fresh(self, at: int) -> Mask:
        """Believed to hold at ``at``; what was fetched at ``at`` itself does, whatever it says of later."""
        return (self.expiry > at) | (self.fetched >= at)

    def known(self) -> Mask:
        """Ever answered."""
        return self.fetched > NEVER


def right_side(found: Outline, link: LocalView | None, value: LocalView, at: int) -> RightSide:
    """Look the right nodes up in the views."""
    sides = [] if link is None else [(link, found.link)]
    sides.append((value, found.value))

    def both(name: str) -> Ids:
        return np.concatenate([getattr(view, name)[numbers] for view, numbers in sides])

    return RightSide(
        fetched=both("fetched"),
        expiry=both("expiry"),
        change=np.concatenate([view.next_change(numbers, at) for view, numbers in sides]),
        interval=np.concatenate([view.intervals(numbers) for view, numbers in sides]),
        waiting=both("waiting").astype(np.bool_),
    )


def maintenance_graph(
    found: Outline, right: RightSide, rows: tuple[Ids, Ids], at: int, slide: int
) -> MaintenanceGraph:
    """G^C over all right nodes, fresh ones too; ``rows`` are window rows as (left node, life)."""
    return MaintenanceGraph(
        left=found.left.length,
        right=found.rights,
        edge_left=found.edge_left,
        edge_right=found.edge_right,
        row_left=rows[0],
        row_life=rows[1],
        fresh_for=evaluations_fresh(right.change, at, slide),
        updated=right.fetched,
    )


def _distinct(numbers: Ids) -> tuple[Ids, Ids]:
    distinct, which = np.unique(numbers, return_inverse=True)
    return distinct, which
