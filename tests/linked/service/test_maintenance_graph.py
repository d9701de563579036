"""Which view keys a window needs: the nodes and edges of the maintenance graph."""

from __future__ import annotations

import numpy as np

from weir.kernel.contract import FOREVER
from weir.language.algebra.patterns import BGP
from weir.linked.service.local_view import LocalView
from weir.linked.service.maintenance_graph import (
    CallViews,
    LeftNodes,
    MaintenanceGraph,
    maintenance_graph,
    right_nodes,
)
from weir.linked.service.service_parts import ServicePart, ServiceParts
from weir.rdf.columns import Ids

SECOND = 1_000_000
PART = ServicePart(BGP(()), (), (), None)


def ids(*values: int) -> Ids:
    return np.array(values, np.int64)


def one_part() -> CallViews:
    return CallViews(ServiceParts(PART), None, LocalView(("x",), ("x", "n"), 3 * SECOND, SECOND))


def two_parts() -> CallViews:
    """The link from 1 to 10 and from 2 to 10 and 20; the value of 10 was fetched at second 5."""
    link = LocalView(("t",), ("t", "u"), FOREVER, SECOND)
    value = LocalView(("u",), ("u", "n"), 3 * SECOND, SECOND)
    link.store({"t": ids(1, 2)}, 2, {"t": ids(1, 2, 2), "u": ids(10, 10, 20)}, ids(0, 1, 1), SECOND)
    value.store({"u": ids(10)}, 1, {"u": ids(10), "n": ids(7)}, ids(0), 5 * SECOND)
    return CallViews(ServiceParts(PART, link=PART), link, value)


def test_left_nodes_are_distinct_bindings_with_their_number_of_rows() -> None:
    left = LeftNodes.of({"x": ids(5, 6, 5, 5)}, 4)
    assert dict(zip(left.columns["x"].tolist(), left.count.tolist(), strict=True)) == {5: 3, 6: 1}
    assert len(set(left.name.tolist())) == 2


def test_with_one_part_each_left_node_needs_its_own_key() -> None:
    found = one_part().needed(LeftNodes.of({"x": ids(5, 6, 5)}, 3), SECOND)
    assert (found.rights, len(found.link)) == (2, 0)
    assert found.edge_left.tolist() == [0, 1] and sorted(found.edge_right.tolist()) == [0, 1]


def test_with_two_parts_value_keys_are_shared() -> None:
    views = two_parts()
    found = views.needed(LeftNodes.of({"t": ids(1, 2)}, 2), 6 * SECOND)
    assert (len(found.link), len(found.value)) == (2, 2)
    edges = set(zip(found.edge_left.tolist(), found.edge_right.tolist(), strict=True))
    assert edges == {(0, 0), (1, 1), (0, 2), (1, 2), (1, 3)}


def test_right_nodes_know_what_is_fresh() -> None:
    views = two_parts()
    found = views.needed(LeftNodes.of({"t": ids(1, 2)}, 2), 6 * SECOND)
    right = right_nodes(found, views, 6 * SECOND)
    assert right.fresh(6 * SECOND).tolist() == [True, True, True, False]
    assert right.known().tolist() == [True, True, True, False]
    assert right.fresh(8 * SECOND).tolist() == [True, True, False, False]


def test_the_graph_counts_evaluations() -> None:
    views = two_parts()
    found = views.needed(LeftNodes.of({"t": ids(1, 2)}, 2), 6 * SECOND)
    right = right_nodes(found, views, 6 * SECOND)
    graph = maintenance_graph(found, right, (ids(0, 1, 1), ids(1, 2, 3)), 6 * SECOND, SECOND)
    assert (graph.left, graph.right) == (2, 4)
    assert graph.compatible().tolist() == [1, 2]
    assert graph.fresh_for[2:].tolist() == [2, 3]


def test_a_restricted_graph_has_the_stale_nodes_alone() -> None:
    graph = MaintenanceGraph(
        2, 3, ids(0, 0, 1), ids(0, 1, 2), ids(0, 1), ids(1, 1), ids(1, 2, 3), ids(0, 0, 0)
    )
    part, kept = graph.restrict(np.array([False, True, True]))
    assert kept.tolist() == [1, 2] and part.right == 2
    assert (part.edge_left.tolist(), part.edge_right.tolist()) == ([0, 1], [0, 1])
    assert part.fresh_for.tolist() == [2, 3]
