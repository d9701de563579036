"""The maintenance graph G^C = (Ω^SN, Ω^SR, E) of an evaluation (Planning Ahead, section 4, Figure 1).

Left are the mappings that join with the window (Ω^SN), right the units that a request refreshes (Ω^SR);
an edge is a view row that needs both. Only view rows compatible with the current window take part.
All is arrays: nodes are numbered, edges and window rows are columns of numbers.

In a call, left nodes are the distinct bindings of the join variables and right nodes are view keys: of the
one part, where each left node needs its own key; or of both, where a left node needs its link key and,
through the link's rows, any number of value keys that others may need too. A link not known yet, and a key
known to have no rows, take part as well: they may have some once asked for.

How long things last are the scores L and B (section 5.2). Times are in any one unit (Weir: microseconds);
scores count evaluations, the present one included. A copy that expires at t is fresh at every evaluation
before t, and stale at t itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weir.kernel.relations.keys import codes, combine
from weir.linked.service.estimate import Floats
from weir.linked.service.local_view import NEVER, LocalView
from weir.linked.service.service_parts import ServiceParts
from weir.rdf.columns import Ids, Mask


def remaining_life(arrival: Ids, width: int, now: int, slide: int) -> Ids:
    """L (formula 12): at how many evaluations from now on a window row takes part; never negative.

    Law: a row that arrived at t is seen at ``now``, ``now + slide``, … as long as that is < t + width.
    """
    return np.maximum(-((now - width - arrival) // slide), 0)


def evaluations_fresh(expiry: Ids, now: int, slide: int) -> Ids:
    """B: for how many evaluations a copy fetched now stays fresh; never negative."""
    return np.maximum(-((now - expiry) // slide), 0)


LONG = 64
"""The life of a row in a window without a known width: longer than anybody plans."""


class Lifetimes:
    """How long window rows will still be seen, inferred from how many there are at each evaluation.

    An evaluator hands over the rows of the present window, not when each arrived. But rows of a time window
    leave in the order in which they came, a width later: so a binding that is there more often than was
    expected has arrived since, and one that is there less often has lost its oldest. Law: where the width
    is a multiple of the slide, the lives so found are L of formula 12, exactly.

    Kept are the arrivals of each binding that are still in the window, as runs of equal arrival time.
    Bindings are named by a hash of their ids: a collision would mislead a score, never a result.
    """

    def __init__(self, width: int | None) -> None:
        self._width = width
        none = np.empty(0, np.int64)
        self._binding, self._arrival, self._count = none, none, none

    def state(self) -> Mapping[str, Ids]:
        """What is known, for ``restore``."""
        return {"binding": self._binding, "arrival": self._arrival, "count": self._count}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Replace what is known."""
        self._binding, self._arrival, self._count = (
            np.array(state[name]) for name in ("binding", "arrival", "count")
        )

    def update(self, binding: Ids, count: Ids, at: int, slide: int) -> tuple[Ids, Ids]:
        """The lives of the rows at ``at``: for each row the place of its binding, and its L.

        ``binding`` are the distinct bindings of the window and ``count`` how many rows have each.
        """
        order = np.argsort(binding)
        named = binding[order]
        if not len(named):
            self._binding, self._arrival, self._count = named, named, named
            return named, named
        if self._width is not None:
            self._advance(named, count[order], at)
            place = np.searchsorted(named, self._binding)
            life = np.maximum(remaining_life(self._arrival, self._width, at, slide), 1)
            return np.repeat(order[place], self._count), np.repeat(life, self._count)
        rows = np.repeat(np.arange(len(binding)), count)
        return rows, np.full(len(rows), LONG, np.int64)

    def _advance(self, named: Ids, count: Ids, at: int) -> None:
        assert self._width is not None
        place = np.minimum(np.searchsorted(named, self._binding), len(named) - 1)
        stay = (self._arrival + self._width > at) & (named[place] == self._binding)
        place, arrival, runs = place[stay], self._arrival[stay], self._count[stay]
        held = np.bincount(place, weights=runs, minlength=len(named)).astype(np.int64)
        runs = self._less_the_oldest(place, runs, np.maximum(held - count, 0))
        new = np.flatnonzero(count > held)
        place = np.concatenate((place, new))
        arrival = np.concatenate((arrival, np.full(len(new), at)))
        runs = np.concatenate((runs, (count - held)[new]))
        order = np.lexsort((arrival, place))
        order = order[runs[order] > 0]
        self._binding, self._arrival, self._count = named[place[order]], arrival[order], runs[order]

    @staticmethod
    def _less_the_oldest(place: Ids, runs: Ids, excess: Ids) -> Ids:
        """Runs (by place, oldest first) shortened from the front by each place's ``excess``."""
        if not excess.any():
            return runs
        ends = np.cumsum(runs)
        first = np.searchsorted(place, place)
        gone = ends - (ends[first] - runs[first])
        left: Ids = np.clip(gone - excess[place], 0, runs)
        return left


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

    def restrict(self, stale: Mask) -> tuple[MaintenanceGraph, Ids]:
        """The graph on the right nodes marked ``stale`` alone, and their numbers in this one."""
        kept = np.flatnonzero(stale)
        number = np.cumsum(stale) - 1
        edges = stale[self.edge_right]
        part = replace(
            self,
            right=len(kept),
            edge_left=self.edge_left[edges],
            edge_right=number[self.edge_right[edges]],
            fresh_for=self.fresh_for[kept],
            updated=self.updated[kept],
        )
        return part, kept


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

    def worth(self, found: NeededKeys, at: int, slide: int, alive: Floats) -> Floats:
        """What a refresh of each right node is worth (``LocalView.worth``)."""
        links = len(found.link)
        values = self.value.worth(found.value, at, slide, alive[links:])
        if self.link is None:
            return values
        return np.concatenate((self.link.worth(found.link, at, slide, alive[:links]), values))


@dataclass(frozen=True, slots=True)
class RightNodes:
    """What is known of the right nodes at an evaluation time, by number of the right node."""

    fetched: Ids
    expiry: Ids
    change: Ids
    interval: Ids
    waiting: Mask
    chance: Floats
    """How likely each is still true."""

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
        chance=np.concatenate([view.chance(numbers, at) for view, numbers in sides]),
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
