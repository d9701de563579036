"""The maintenance graph G^C = (Ω^SN, Ω^SR, E) of an evaluation (Planning Ahead, section 4, Figure 1).

Left are the mappings that join with the window (Ω^SN), right the units that a request refreshes (Ω^SR);
an edge is a view row that needs both. Only view rows compatible with the current window take part.
All is arrays: nodes are numbered, edges and window rows are columns of numbers.

In a call, left nodes are the distinct bindings of the join variables and right nodes are view keys: of the
one part, where each left node needs its own key; or of both, where a left node needs its link key and,
through the link's rows, any number of value keys that others may need too. A link not known yet, and a key
known to have no rows, take part as well: they may have some once asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weir.kernel.relations.keys import codes, combine
from weir.linked.service.estimates import evaluations_fresh
from weir.linked.service.local_view import NEVER, LocalView
from weir.linked.service.service_parts import ServiceParts
from weir.rdf.columns import Ids, Mask


@dataclass(frozen=True, slots=True)
class MaintenanceGraph:
    """``edge_left[e]``–``edge_right[e]`` are the edges; ``row_left[w]`` is the left node that window
    row w is compatible with, and ``row_life[w]`` its remaining life L.

    ``fresh_for`` is B of each right node if it were refreshed now, ``updated`` when it last was.
    An edge occurs once; a left node without edges needs nothing.
    """

    left: int
    right: int
    edge_left: Ids
    edge_right: Ids
    row_left: Ids
    row_life: Ids
    fresh_for: Ids
    updated: Ids

    def compatible(self) -> Ids:
        """c_i (formulas 4 and 9): the number of window rows compatible with each left node."""
        return np.bincount(self.row_left, minlength=self.left)

    def restrict(self, stale: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[MaintenanceGraph, Ids]:
        """The graph on the right nodes marked ``stale`` alone, and their numbers in this one."""
        kept = np.flatnonzero(stale)
        number = np.cumsum(stale) - 1
        edges = stale[self.edge_right]
        return (
            MaintenanceGraph(
                left=self.left,
                right=len(kept),
                edge_left=self.edge_left[edges],
                edge_right=number[self.edge_right[edges]],
                row_left=self.row_left,
                row_life=self.row_life,
                fresh_for=self.fresh_for[kept],
                updated=self.updated[kept],
            ),
            kept,
        )


@dataclass(frozen=True, slots=True)
class LeftNodes:
    """The distinct bindings of a window's rows: ``columns`` of ``length``, how many rows each stands for
    (``count``), and a ``name`` (hash) for each."""

    columns: Mapping[str, Ids]
    length: int
    count: Ids
    name: Ids

    @staticmethod
    def of(bindings: Mapping[str, Ids], length: int) -> LeftNodes:
        columns = list(bindings.values())
        number, first = codes(columns, length)
        count = np.bincount(number, minlength=len(first))
        distinct = {name: column[first] for name, column in bindings.items()}
        name = combine(list(distinct.values())) if columns else np.zeros(len(first), np.int64)
        return LeftNodes(distinct, len(first), count, name)


@dataclass(frozen=True, slots=True)
class NeededKeys:
    """Edges between left nodes and right nodes; right nodes ``[0, len(link))`` are link keys and the rest
    value keys, both by their numbers in the views. ``link_of`` is each left node's link key."""

    left: LeftNodes
    edge_left: Ids
    edge_right: Ids
    link: Ids
    value: Ids
    link_of: Ids

    @property
    def rights(self) -> int:
        return len(self.link) + len(self.value)


class CallViews:
    """The views of a call's parts; with two, which value key each row of the link needs is remembered."""

    def __init__(self, parts: ServiceParts, link: LocalView | None, value: LocalView) -> None:
        self.link = link if parts.link is not None else None
        self.value = value
        self._plain = self.link is not None and set(self.link.variables) <= {*self.link.key, *value.key}
        self._known: tuple[int, int] | None = None
        self._needs = np.empty(0, np.int64)

    def needs(self, rows: Ids, at: int) -> Ids:
        """The value keys that rows of the link (by place) need, as numbers; they count as used."""
        assert self.link is not None
        known = (self.link.edition, self.value.numbering)
        if self._known != known:
            keys = {name: self.link.column(name) for name in self.value.key}
            self._needs = self.value.number(keys, self.link.rows, at)
            self._known = known
        found: Ids = self._needs[rows]
        self.value.used[found] = at
        return found

    def needed(self, left: LeftNodes, at: int) -> NeededKeys:
        """The keys that ``left`` needs as the views stand; keys never needed before are added to them."""
        every = np.arange(left.length)
        if self.link is None:
            numbers, which = _distinct(self.value.number(left.columns, left.length, at))
            return NeededKeys(left, every, which, np.empty(0, np.int64), numbers, which)
        links, link_of = _distinct(self.link.number(left.columns, left.length, at))
        rows, lefts = self.link.places(links[link_of])
        values, which = _distinct(self.needs(rows, at))
        if not self._plain:
            pairs = np.unique(lefts * max(len(values), 1) + which)
            lefts, which = pairs // max(len(values), 1), pairs % max(len(values), 1)
        return NeededKeys(
            left=left,
            edge_left=np.concatenate((every, lefts)),
            edge_right=np.concatenate((link_of, len(links) + which)),
            link=links,
            value=values,
            link_of=link_of,
        )


@dataclass(frozen=True, slots=True)
class RightNodes:
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
        """The right nodes that were ever answered."""
        return self.fetched > NEVER


def right_nodes(found: NeededKeys, views: CallViews, at: int) -> RightNodes:
    """Look the right nodes up in the views."""
    sides = [] if views.link is None else [(views.link, found.link)]
    sides.append((views.value, found.value))
    times = [view.next_change(numbers, at) for view, numbers in sides]
    return RightNodes(
        fetched=np.concatenate([view.fetched[numbers] for view, numbers in sides]),
        expiry=np.concatenate([view.expiry[numbers] for view, numbers in sides]),
        change=np.concatenate([change for change, _ in times]),
        interval=np.concatenate([interval for _, interval in times]),
        waiting=np.concatenate([view.waiting[numbers] for view, numbers in sides]),
    )


def maintenance_graph(
    found: NeededKeys, right: RightNodes, rows: tuple[Ids, Ids], at: int, slide: int
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
    """The distinct numbers in order, and the place of each given one among them: a count, not a sort,
    for numbers of keys are dense."""
    seen = np.bincount(numbers) > 0
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[numbers]
