"""All conjunctive queries of one window as a tree of steps: queries share every prefix they have in common.

A node is a sequence of steps, its last one a (machine, links) pair; queries with the same steps end at the
same node. Where many consumers ask the same with other constants, the nodes of one *template* differ in
their machines alone: the tree is the table of constants of all templates at once, and one pass down the
tree evaluates them together. ``Layout`` is the tree as arrays, which ``resolve`` descends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.kernel.matching.join_order import PLACES, link
from weir.kernel.matching.pair_table import PairTable
from weir.rdf.columns import Ids

ROOT = -1

WIDE = 8
"""From this many children of one node that are looked up alike, they are found by value, not one by one."""


class Layout(NamedTuple):
    """Nodes are numbered; children of a node, roots and probes of a machine are runs of one array.

    By node: its ``links``, how many queries end there, and how it is reached: by looking up its ``probe``
    with the values of the places that it is linked to. ``from_step`` and ``from_place`` have a row per
    place of the new triple, −1 where the place is not looked up. ``rest`` are links still to check then:
    a hash of several values may deceive, and a pattern may use a variable twice. A probe is a machine and
    the set of places (as bits) whose values make the key.

    Children of a node that are looked up alike stand together, by machine. Where there are ``WIDE`` or
    more, ``wide_end`` at the first of them is where they end (0 elsewhere) and ``wide_probe`` the probe
    that holds the matches of *all* machines by those places.
    """

    links: Ids
    ends: Ids
    probe: Ids
    from_step: NDArray[np.int64]
    from_place: NDArray[np.int64]
    rest: Ids
    children: Ids
    child_offsets: Ids
    child_machine: Ids
    wide_end: Ids
    wide_probe: Ids
    roots: Ids
    root_offsets: Ids
    probes: Ids
    probe_offsets: Ids
    probe_places: Ids
    wide_probes: Ids
    wide_offsets: Ids


def lay_out(live: Ids, bound: int, parent: Ids, machine: Ids, links: Ids, depth: Ids, ends: Ids) -> Layout:
    """The arrays of a tree: ``live`` are its nodes, all below ``bound``; the rest is by node."""
    every_links, every_ends = links[:bound].copy(), ends[:bound].copy()
    parent, machine, links, depth = parent[live], machine[live], links[live], depth[live]
    from_step = np.full((PLACES, bound), -1, np.int64)
    from_place = np.zeros((PLACES, bound), np.int64)
    places, own = np.zeros(len(live), np.int64), np.zeros(len(live), np.bool_)
    for place in range(PLACES):
        step, origin = link(links, place)
        known = (step >= 0) & (step < depth)
        own |= step == depth
        from_step[place, live[known]] = step[known]
        from_place[place, live[known]] = origin[known]
        places |= np.where(known, 1 << place, 0)
    several = (places & (places - 1)) != 0

    inner = np.flatnonzero(parent != ROOT)
    codes, probes = np.unique(machine[inner] * 8 + places[inner], return_inverse=True)
    machines = int(machine.max(initial=-1)) + 1
    by_machine, probe_offsets = runs(np.arange(len(codes)), codes >> 3, machines)

    order = inner[np.lexsort((machine[inner], links[inner], parent[inner]))]
    wide_end, wide_probe = _wide(parent[order], links[order], places[order], len(codes))
    covered = _covered(wide_end)
    pairs = np.unique(machine[order][covered] * 8 + places[order][covered])
    wide_probes, wide_offsets = runs(len(codes) + (pairs & 7), pairs >> 3, machines)
    outer = np.flatnonzero(parent == ROOT)
    roots, root_offsets = runs(live[outer], machine[outer], machines)
    return Layout(
        links=every_links,
        ends=every_ends,
        probe=_spread(live[inner], probes, bound),
        from_step=from_step,
        from_place=from_place,
        rest=_spread(live, np.where(own | several, links, 0), bound),
        children=live[order],
        child_offsets=offsets_of(parent[order], bound),
        child_machine=machine[order],
        wide_end=wide_end,
        wide_probe=wide_probe,
        roots=roots,
        root_offsets=root_offsets,
        probes=by_machine,
        probe_offsets=probe_offsets,
        probe_places=np.concatenate([codes & 7, np.arange(8)]),
        wide_probes=wide_probes,
        wide_offsets=wide_offsets,
    )


def _wide(parent: Ids, links: Ids, places: Ids, probes: int) -> tuple[Ids, Ids]:
    """Where runs of children with equal parent and links begin that are wide: their end and probe."""
    count = len(parent)
    end, probe = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if count:
        head = np.ones(count, np.bool_)
        head[1:] = (parent[1:] != parent[:-1]) | (links[1:] != links[:-1])
        first = np.flatnonzero(head)
        after = np.append(first[1:], count)
        many = (after - first >= WIDE) & (places[first] != 0)
        end[first[many]] = after[many]
        probe[first[many]] = probes + places[first[many]]
    return end, probe


def _covered(wide_end: Ids) -> NDArray[np.bool_]:
    """Which children stand in a wide run."""
    change = np.zeros(len(wide_end) + 1, np.int64)
    first = np.flatnonzero(wide_end)
    change[first] += 1
    np.subtract.at(change, wide_end[first], 1)
    return np.cumsum(change)[:-1] > 0


def runs(items: Ids, owners: Ids, bound: int) -> tuple[Ids, Ids]:
    """The items of each owner, as runs of one array, and where the runs begin."""
    order = np.argsort(owners, kind="stable")
    return items[order], offsets_of(owners, bound)


def offsets_of(owners: Ids, bound: int) -> Ids:
    offsets = np.zeros(bound + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=bound), out=offsets[1:])
    return offsets


def _spread(nodes: Ids, values: Ids, bound: int) -> Ids:
    out = np.zeros(bound, np.int64)
    out[nodes] = values
    return out


_PARENT, _MACHINE, _LINKS, _DEPTH, _USES, _ENDS, _TEMPLATE, _KIND, _WIDTH = range(9)


class Trie:
    """Counts references: a node lives while a query ends there or below it."""

    def __init__(self) -> None:
        self._kinds = PairTable()  # (machine, links)
        self._nodes = PairTable()  # (parent, kind)
        self._templates = PairTable()  # (template of the parent, links and shape of the pattern)
        self._columns = np.zeros((9, 16), np.int64)
        self._origins = np.full((16, 4), -1, np.int8)
        self._layout: Layout | None = None

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def bound(self) -> int:
        """Every node's number is below this."""
        return self._nodes.bound

    def add(self, machines: NDArray[np.int64], links: NDArray[np.int64], shapes: NDArray[np.int64]) -> Ids:
        """The end node of each query: rows of machines by step (−1 where a query has fewer), their
        links, and the shapes of the patterns (which places are constant, as bits)."""
        parents = np.full(len(machines), ROOT, np.int64)
        for step in range(machines.shape[1]):
            live = np.flatnonzero(machines[:, step] >= 0)
            if not len(live):
                break
            parents[live] = self._descend(
                parents[live], machines[live, step], links[live, step], shapes[live, step], step
            )
        np.add.at(self._columns[_ENDS], parents, 1)
        np.add.at(self._columns[_USES], parents, 1)
        self._layout = None
        return parents

    def drop(self, ends: Ids) -> None:
        """Give back one reference per end node, as ``add`` gave them."""
        columns = self._columns
        np.subtract.at(columns[_ENDS], ends, 1)
        np.subtract.at(columns[_USES], ends, 1)
        nodes = np.unique(ends)
        while len(nodes):
            nodes = nodes[columns[_USES, nodes] == 0]
            parents = columns[_PARENT, nodes]
            self._nodes.remove(parents, columns[_KIND, nodes])
            parents = parents[parents != ROOT]
            np.subtract.at(columns[_USES], parents, 1)
            nodes = np.unique(parents)
        self._layout = None

    def path(self, end: int) -> tuple[Ids, Ids]:
        """The machines and links from the first step to a node."""
        found = []
        while end != ROOT:
            found.append(end)
            end = int(self._columns[_PARENT, end])
        nodes = np.array(found[::-1], np.int64)
        return self._columns[_MACHINE, nodes], self._columns[_LINKS, nodes]

    def template(self, ends: Ids) -> Ids:
        """The template of each node: equal numbers for nodes that differ in constants only."""
        found: Ids = self._columns[_TEMPLATE, ends]
        return found

    @property
    def origins(self) -> NDArray[np.int8]:
        """By node and column of its solutions: 4·step + place where that variable first occurs, or −1."""
        return self._origins[: self.bound]

    def width(self, ends: Ids) -> Ids:
        """The number of variables at each node."""
        found: Ids = self._columns[_WIDTH, ends]
        return found

    def steps(self, ends: Ids) -> Ids:
        """The number of patterns at each node."""
        found: Ids = self._columns[_DEPTH, ends] + 1
        return found

    @property
    def layout(self) -> Layout:
        """The tree as it stands; laid out again after a change, a few sorts over its nodes."""
        if self._layout is None:
            self._layout = lay_out(
                np.sort(self._nodes.items()[2]),
                self.bound,
                *(self._columns[row] for row in (_PARENT, _MACHINE, _LINKS, _DEPTH, _ENDS)),
            )
        return self._layout

    def _descend(self, parents: Ids, machines: Ids, links: Ids, shapes: Ids, step: int) -> Ids:
        kinds, _ = self._kinds.intern(machines, links)
        nodes, makers = self._nodes.intern(parents, kinds)
        self._reserve(self._nodes.bound)
        columns, made, above = self._columns, nodes[makers], parents[makers]
        before = np.where(above == ROOT, ROOT, columns[_TEMPLATE, np.maximum(above, 0)])
        columns[_PARENT, made] = above
        columns[_MACHINE, made] = machines[makers]
        columns[_LINKS, made] = links[makers]
        columns[_DEPTH, made] = step
        columns[_USES, made] = 0
        columns[_ENDS, made] = 0
        columns[_KIND, made] = kinds[makers]
        columns[_TEMPLATE, made], _ = self._templates.intern(before, links[makers] * 8 + shapes[makers])
        np.add.at(columns[_USES], above[above != ROOT], 1)
        self._name_columns(made, above, links[makers], shapes[makers], step)
        return nodes

    def _name_columns(self, made: Ids, above: Ids, links: Ids, shapes: Ids, step: int) -> None:
        """The columns of new nodes: those of the node above, then the variables that are new."""
        inner = above != ROOT
        width = np.where(inner, self._columns[_WIDTH, np.maximum(above, 0)], 0)
        if len(width) and int(width.max()) + PLACES > self._origins.shape[1]:
            wider = np.full((len(self._origins), 2 * self._origins.shape[1]), -1, np.int8)
            wider[:, : self._origins.shape[1]] = self._origins
            self._origins = wider
        self._origins[made] = np.where(inner[:, None], self._origins[np.maximum(above, 0)], -1)
        for place in range(PLACES):
            new = ((shapes >> place) & 1 == 0) & ((links >> (8 * place)) & 0xFF == 0)
            self._origins[made[new], width[new]] = 4 * step + place
            width = width + new
        self._columns[_WIDTH, made] = width

    def _reserve(self, bound: int) -> None:
        if bound > self._columns.shape[1]:
            larger = np.zeros((len(self._columns), max(bound, 2 * self._columns.shape[1])), np.int64)
            larger[:, : self._columns.shape[1]] = self._columns
            self._columns = larger
            origins = np.full((larger.shape[1], self._origins.shape[1]), -1, np.int8)
            origins[: len(self._origins)] = self._origins
            self._origins = origins
