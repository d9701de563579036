"""Random maintenance graphs for the tests of refresh policies, and their seeds' sources of chance."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from weir.linked.service.maintenance_graph import MaintenanceGraph
from weir.rdf.columns import Ids

EXAMPLES = max(1, int(150 * float(os.environ.get("WEIR_EXAMPLES", "1"))))
bounded = settings(max_examples=EXAMPLES, deadline=None)
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def ids(values: Sequence[int]) -> Ids:
    return np.array(values, np.int64)


def graph_of(
    edges: Sequence[tuple[int, int]],
    rows: Sequence[tuple[int, int]],
    fresh_for: Sequence[int],
    updated: Sequence[int] | None = None,
    left: int | None = None,
) -> MaintenanceGraph:
    """``edges`` are (left, right), ``rows`` (left, life); ``fresh_for`` has a value per right node."""
    lefts = [e[0] for e in edges] + [r[0] for r in rows]
    return MaintenanceGraph(
        left=max(lefts, default=-1) + 1 if left is None else left,
        right=len(fresh_for),
        edge_left=ids([e[0] for e in edges]),
        edge_right=ids([e[1] for e in edges]),
        row_left=ids([r[0] for r in rows]),
        row_life=ids([r[1] for r in rows]),
        fresh_for=ids(fresh_for),
        updated=ids([0] * len(fresh_for) if updated is None else updated),
    )


@st.composite
def graphs(draw: st.DrawFn, left: int = 6, right: int = 7, rows: int = 12, life: int = 5) -> MaintenanceGraph:
    """Every left node is compatible with a window row, every right node has an edge: a G^C."""
    lefts = draw(st.integers(1, left))
    rights = draw(st.integers(1, right))
    edges = draw(st.sets(st.tuples(st.integers(0, lefts - 1), st.integers(0, rights - 1))))
    edges |= {(draw(st.integers(0, lefts - 1)), r) for r in set(range(rights)) - {e[1] for e in edges}}
    lives = st.integers(1, life)
    window = [(n, draw(lives)) for n in range(lefts)]
    window += draw(st.lists(st.tuples(st.integers(0, lefts - 1), lives), max_size=rows))
    fresh_for = draw(st.lists(st.integers(1, 6), min_size=rights, max_size=rights))
    updated = draw(st.lists(st.integers(0, 4), min_size=rights, max_size=rights))
    return graph_of(sorted(edges), window, fresh_for, updated, lefts)


def edge_list(graph: MaintenanceGraph) -> list[tuple[int, int]]:
    return list(zip(graph.edge_left.tolist(), graph.edge_right.tolist(), strict=True))


def row_list(graph: MaintenanceGraph) -> list[tuple[int, int]]:
    return list(zip(graph.row_left.tolist(), graph.row_life.tolist(), strict=True))
