"""All conjunctive queries of one window as a tree of steps: queries share every prefix they have in common.

A node is a sequence of steps, its last one a (machine, links) pair; queries with the same steps end at the
same node. Where many consumers ask the same with other constants, the nodes of one *template* differ in
their machines alone: the tree is the table of constants of all templates at once, and one pass down the
tree evaluates them together. ``layout`` is the tree as arrays, for ``resolve``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir.kernel.matching.layout import ROOT, Layout, lay_out
from weir.kernel.matching.steps import PLACES
from weir.kernel.matching.table import PairTable
from weir.rdf.columns import Ids

_PARENT, _MACHINE, _LINKS, _DEPTH, _USES, _ENDS, _TEMPLATE, _KIND, _WIDTH = range(9)


class Trie:
    """Counts references: a node lives while a query ends there or below it."""

    def __init__(self) -> None:
        self._kinds = PairTable()  # (machine, links)
        self._nodes = PairTable()  # (parent, kind)
        self._templates = PairTable()  # (template of the parent, links and shape of the pattern)
        self._columns = np.zeros((9, 16), np.int64)
        self._slots = np.full((16, 4), -1, np.int8)
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
    def slots(self) -> NDArray[np.int8]:
        """By node and column of its solutions: 4·step + place where that variable first occurs, or −1."""
        return self._slots[: self.bound]

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
        if len(width) and int(width.max()) + PLACES > self._slots.shape[1]:
            wider = np.full((len(self._slots), 2 * self._slots.shape[1]), -1, np.int8)
            wider[:, : self._slots.shape[1]] = self._slots
            self._slots = wider
        self._slots[made] = np.where(inner[:, None], self._slots[np.maximum(above, 0)], -1)
        for place in range(PLACES):
            new = ((shapes >> place) & 1 == 0) & ((links >> (8 * place)) & 0xFF == 0)
            self._slots[made[new], width[new]] = 4 * step + place
            width = width + new
        self._columns[_WIDTH, made] = width

    def _reserve(self, bound: int) -> None:
        if bound > self._columns.shape[1]:
            larger = np.zeros((len(self._columns), max(bound, 2 * self._columns.shape[1])), np.int64)
            larger[:, : self._columns.shape[1]] = self._columns
            self._columns = larger
            slots = np.full((larger.shape[1], self._slots.shape[1]), -1, np.int8)
            slots[: len(self._slots)] = self._slots
            self._slots = slots
