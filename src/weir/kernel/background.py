"""The static side of a query as encoded columns: RSP-QL's time-varying graphs.

A triple is valid in ``[start, end)`` microseconds; a graph that never changes has no such columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from weir.rdf.columns import Ids


@dataclass(frozen=True, slots=True)
class GraphTable:
    """A graph as columns of term ids; equal triples have disjoint validity (it is a set)."""

    subject: Ids
    predicate: Ids
    object: Ids
    start: Ids | None = None
    end: Ids | None = None

    @staticmethod
    def empty() -> GraphTable:
        none = np.empty(0, np.int64)
        return GraphTable(none, none, none)


@dataclass(frozen=True, slots=True)
class Background:
    """The default graph given at registration and the named graphs, by IRI.

    A graph in ``made`` was not there from the beginning: it exists from the earliest of these times on, also
    when its last triple has gone.
    """

    default: GraphTable = field(default_factory=GraphTable.empty)
    named: Mapping[str, GraphTable] = field(default_factory=dict)
    made: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
