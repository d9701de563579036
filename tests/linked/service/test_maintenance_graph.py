"""The maintenance graph: which view keys a window needs, and how long its rows and their copies last."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded, ids
from weir.kernel.contract import FOREVER
from weir.language.algebra.patterns import BGP
from weir.linked.service.local_view import LocalView
from weir.linked.service.maintenance_graph import (
    LONG,
    CallViews,
    LeftNodes,
    Lifetimes,
    MaintenanceGraph,
    evaluations_fresh,
    maintenance_graph,
    remaining_life,
    right_nodes,
)
from weir.linked.service.service_parts import ServicePart, ServiceParts

SECOND = 1_000_000
PART = ServicePart(BGP(()), (), (), None)


def one_part() -> CallViews:
    return CallViews(ServiceParts(PART), None, LocalView(("x",), ("x", "n"), 3 * SECOND, SECOND))


def two_parts() -> CallViews:
    """The link from 1 to 10 and from 2 to 10 and 20; the value of 10 was fetched at second 5."""
    link = LocalView(("t",), ("t", "u"), FOREVER, SECOND)
    value = LocalView(("u",), ("u", "n"), 3 * SECOND, SECOND)
    link.store({"t": ids([1, 2])}, 2, {"t": ids([1, 2, 2]), "u": ids([10, 10, 20])}, ids([0, 1, 1]), SECOND)
    value.store({"u": ids([10])}, 1, {"u": ids([10]), "n": ids([7])}, ids([0]), 5 * SECOND)
    return CallViews(ServiceParts(PART, link=PART), link, value)


def test_left_nodes_are_distinct_bindings_with_their_number_of_rows() -> None:
    left = LeftNodes.of({"x": ids([5, 6, 5, 5])}, 4)
    assert dict(zip(left.columns["x"].tolist(), left.count.tolist(), strict=True)) == {5: 3, 6: 1}
    assert len(set(left.name.tolist())) == 2


def test_with_one_part_each_left_node_needs_its_own_key() -> None:
    found = one_part().needed(LeftNodes.of({"x": ids([5, 6, 5])}, 3), SECOND)
    assert (found.rights, len(found.link)) == (2, 0)
    assert found.edge_left.tolist() == [0, 1] and sorted(found.edge_right.tolist()) == [0, 1]


def test_with_two_parts_value_keys_are_shared() -> None:
    views = two_parts()
    found = views.needed(LeftNodes.of({"t": ids([1, 2])}, 2), 6 * SECOND)
    assert (len(found.link), len(found.value)) == (2, 2)
    edges = set(zip(found.edge_left.tolist(), found.edge_right.tolist(), strict=True))
    assert edges == {(0, 0), (1, 1), (0, 2), (1, 2), (1, 3)}


def test_right_nodes_know_what_is_fresh() -> None:
    views = two_parts()
    found = views.needed(LeftNodes.of({"t": ids([1, 2])}, 2), 6 * SECOND)
    right = right_nodes(found, views, 6 * SECOND)
    assert right.fresh(6 * SECOND).tolist() == [True, True, True, False]
    assert right.known().tolist() == [True, True, True, False]
    assert right.fresh(8 * SECOND).tolist() == [True, True, False, False]


def test_the_graph_counts_evaluations() -> None:
    views = two_parts()
    found = views.needed(LeftNodes.of({"t": ids([1, 2])}, 2), 6 * SECOND)
    right = right_nodes(found, views, 6 * SECOND)
    graph = maintenance_graph(found, right, (ids([0, 1, 1]), ids([1, 2, 3])), 6 * SECOND, SECOND)
    assert (graph.left, graph.right) == (2, 4)
    assert graph.compatible().tolist() == [1, 2]
    assert graph.fresh_for[2:].tolist() == [2, 3]


def test_a_restricted_graph_has_the_stale_nodes_alone() -> None:
    graph = MaintenanceGraph(
        2, 3, ids([0, 0, 1]), ids([0, 1, 2]), ids([0, 1]), ids([1, 1]), ids([1, 2, 3]), ids([0, 0, 0])
    )
    part, kept = graph.restrict(np.array([False, True, True]))
    assert kept.tolist() == [1, 2] and part.right == 2
    assert (part.edge_left.tolist(), part.edge_right.tolist()) == ([0, 1], [0, 1])
    assert part.fresh_for.tolist() == [2, 3]


def lives(tracker: Lifetimes, present: Counter[int], at: int, slide: int) -> list[tuple[int, int]]:
    bindings = sorted(present, reverse=True)
    place, life = tracker.update(ids(bindings), ids([present[b] for b in bindings]), at, slide)
    return sorted((bindings[p], n) for p, n in zip(place.tolist(), life.tolist(), strict=True))


@bounded
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(10, 12)), max_size=25),
    st.integers(1, 5),
    st.integers(1, 10),
)
def test_lives_are_exact_where_the_slide_divides_the_width(
    arrivals: list[tuple[int, int]], steps: int, slide: int
) -> None:
    """Windows (τ − ω, τ] with ω = steps · slide, evaluated every slide."""
    width = steps * slide
    tracker = Lifetimes(width)
    for at in range(slide, 80, slide):
        inside = [(t, b) for t, b in arrivals if at - width < t <= at]
        expected = sorted((b, sum(at + k * slide < t + width for k in range(99))) for t, b in inside)
        assert lives(tracker, Counter(b for _, b in inside), at, slide) == expected


def test_rows_that_go_early_are_the_oldest() -> None:
    """
    1 row at 10, 2 more at 20, one missing at 25: the one of 10 has gone.
    """
    tracker = Lifetimes(40)
    assert lives(tracker, Counter({7: 1}), 10, 10) == [(7, 4)]
    assert lives(tracker, Counter({7: 3}), 20, 10) == [(7, 3), (7, 4), (7, 4)]
    assert lives(tracker, Counter({7: 2}), 25, 10) == [(7, 4), (7, 4)]


def test_without_a_width_rows_live_long() -> None:
    assert lives(Lifetimes(None), Counter({3: 2}), 5, 1) == [(3, LONG), (3, LONG)]


def test_nothing_in_the_window() -> None:
    tracker = Lifetimes(10)
    assert lives(tracker, Counter(), 5, 1) == []
    assert lives(tracker, Counter({1: 1}), 6, 1) == [(1, 10)]
    assert lives(tracker, Counter(), 7, 1) == []
    assert lives(tracker, Counter({1: 1}), 8, 1) == [(1, 10)]


def test_life_of_section_5_2() -> None:
    """ω = 150, β = 30, a row that arrived at 100: seen at 100, 130, 160, 190, 220."""
    assert remaining_life(ids([100]), 150, 100, 30).tolist() == [5]
    assert remaining_life(ids([100]), 150, 160, 30).tolist() == [3]


def test_fresh_evaluations_of_section_5_2() -> None:
    """A copy that is fresh at 100, 130 and 160 and stale at 190 expires in (160, 190]."""
    assert evaluations_fresh(ids([160, 161, 190, 191]), 100, 30).tolist() == [2, 3, 3, 4]
    assert evaluations_fresh(ids([100, 40]), 100, 30).tolist() == [0, 0]


@bounded
@given(st.integers(0, 50), st.integers(1, 40), st.integers(1, 10), st.integers(0, 60))
def test_life_counts_the_evaluations_that_see_a_row(t: int, width: int, slide: int, wait: int) -> None:
    now = t + wait
    seen = sum(now + k * slide < t + width for k in range(100))
    assert remaining_life(ids([t]), width, now, slide).tolist() == [seen]
