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
from weir.kernel.matching.prefix_tree import ROOT, PrefixTree, enlarged
from weir.rdf.columns import Ids

_LINK_BITS = 24
_LINKS = (1 << _LINK_BITS) - 1
"""A node's symbol is its machine and, in the last bits, its links."""

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


def lay_out(live: Ids, tree: PrefixTree, ends: Ids) -> Layout:
    """The arrays of a tree: ``live`` are its nodes, ``ends`` how many queries end at each."""
    bound = tree.bound
    parent, symbol, depth = tree.parent[live], tree.symbol[live], tree.depth[live]
    machine, links = symbol >> _LINK_BITS, symbol & _LINKS
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
    order = inner[np.lexsort((machine[inner], links[inner], parent[inner]))]
    wide_end, wide_probe = _wide(parent[order], links[order], places[order], len(codes))
    covered = _covered(wide_end)
    pairs = np.unique(machine[order][covered] * 8 + places[order][covered])
    every = np.concatenate([np.arange(len(codes)), len(codes) + (pairs & 7)])
    by_machine, probe_offsets = runs(every, np.concatenate([codes, pairs]) >> 3, machines)
    outer = np.flatnonzero(parent == ROOT)
    roots, root_offsets = runs(live[outer], machine[outer], machines)
    return Layout(
        links=tree.symbol[:bound] & _LINKS,
        ends=ends,
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


class Trie:
    """A query's path has a machine and its links at each step; what else a node has is kept beside it."""

    def __init__(self) -> None:
        self._tree = PrefixTree()
        self._ends: Ids = np.zeros(0, np.int64)
        self._width: Ids = np.zeros(0, np.int64)
        self._origins = np.zeros((0, 4), np.int8)
        self._layout: Layout | None = None

    def __len__(self) -> int:
        return len(self._tree)

    @property
    def bound(self) -> int:
        """Every node's number is below this."""
        return self._tree.bound

    def add(self, machines: NDArray[np.int64], links: NDArray[np.int64], shapes: NDArray[np.int64]) -> Ids:
        """The end node of each query: rows of machines by step (−1 where a query has fewer), their
        links, and the shapes of the patterns (which places are constant, as bits)."""
        ends = np.full(len(machines), ROOT, np.int64)
        for step in range(machines.shape[1]):
            live = np.flatnonzero(machines[:, step] >= 0)
            if not len(live):
                break
            ends[live] = self._descend(
                ends[live], machines[live, step], links[live, step], shapes[live, step], step
            )
        np.add.at(self._ends, ends, 1)
        self._tree.hold(ends)
        self._layout = None
        return ends

    def drop(self, ends: Ids) -> None:
        """Give back one reference per end node, as ``add`` gave them."""
        np.subtract.at(self._ends, ends, 1)
        self._tree.drop(ends)
        self._layout = None

    def path(self, end: int) -> tuple[Ids, Ids]:
        """The machines and links from the first step to a node."""
        symbols = self._tree.symbol[self._tree.path(end)]
        return symbols >> _LINK_BITS, symbols & _LINKS

    @property
    def origins(self) -> NDArray[np.int8]:
        """By node and column of its solutions: 4·step + place where that variable first occurs, or −1."""
        return self._origins[: self.bound]

    def width(self, ends: Ids) -> Ids:
        """The number of variables at each node."""
        return self._width[ends]

    def steps(self, ends: Ids) -> Ids:
        """The number of patterns at each node."""
        return self._tree.depth[ends] + 1

    @property
    def layout(self) -> Layout:
        """The tree as it stands; laid out again after a change, a few sorts over its nodes."""
        if self._layout is None:
            tree = self._tree
            self._layout = lay_out(tree.table.values(), tree, self._ends[: self.bound].copy())
        return self._layout

    def _descend(self, parents: Ids, machines: Ids, links: Ids, shapes: Ids, step: int) -> Ids:
        nodes, makers = self._tree.descend(parents, machines << _LINK_BITS | links, step)
        self._ends, self._width = enlarged(self._ends, self.bound), enlarged(self._width, self.bound)
        self._origins = enlarged(self._origins, self.bound)
        made, above, links, shapes = nodes[makers], parents[makers], links[makers], shapes[makers]
        self._ends[made] = 0
        self._name_columns(made, above, links, shapes, step)
        return nodes

    def _name_columns(self, made: Ids, above: Ids, links: Ids, shapes: Ids, step: int) -> None:
        """The columns of new nodes: those of the node above, then the variables that are new."""
        inner = above != ROOT
        width = np.where(inner, self._width[above], 0)
        if int(width.max(initial=0)) + PLACES > self._origins.shape[1]:
            wider = np.full_like(self._origins, -1)
            self._origins = np.concatenate([self._origins, wider], axis=1)
        self._origins[made] = np.where(inner[:, None], self._origins[above], -1)
        for place in range(PLACES):
            new = ((shapes >> place) & 1 == 0) & ((links >> (8 * place)) & 0xFF == 0)
            self._origins[made[new], width[new]] = 4 * step + place
            width = width + new
        self._width[made] = width
