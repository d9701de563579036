"""FBA: versions against a walk over change times, its choice against every way to spend the budget."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded, edge_list, graph_of, graphs, ids, row_list, seeds
from weir.linked.service.flexible import Versions, fba, fba_scores, steady_arrivals, versions
from weir.linked.service.graph import MaintenanceGraph
from weir.linked.service.policies import ibm_scores


def test_a_budget_is_saved_for_a_better_version() -> None:
    """One request for two slides: the right node that changes at every evaluation is worth one row now;
    the other, fresh now, gets a new version at the next slide that lasts for three evaluations.

        slide      0    1    2    3
        node 0     a    b    c    d
        node 1     A    B    B    B
    """
    graph = graph_of([(0, 0), (0, 1)], [(0, 4)], [1, 1])
    offered = versions(np.array([True, False]), ids([5, 5]), ids([10, 30]), now=0, slide=10, horizon=4)
    assert fba(graph, offered, 1, 4, np.random.default_rng(0)).tolist() == []
    assert fba(graph, offered, 4, 4, np.random.default_rng(0)).tolist() == [0]


@st.composite
def clocks(draw: st.DrawFn, rights: int) -> tuple[np.ndarray, list[int], list[int]]:
    stale = np.array(draw(st.lists(st.booleans(), min_size=rights, max_size=rights)), bool)
    interval = draw(st.lists(st.integers(1, 40), min_size=rights, max_size=rights))
    change = [draw(st.integers(1, every)) for every in interval]
    return stale, change, interval


def walked(
    stale: np.ndarray, change: list[int], interval: list[int], horizon: int
) -> set[tuple[int, int, int]]:
    """The versions by looking at every evaluation (now = 0, slide = 10): at which is the value new?"""
    found = set()
    for j, (first, every) in enumerate(zip(change, interval, strict=True)):

        def version(time: int, first: int = first, every: int = every) -> int:
            return 0 if time < first else (time - first) // every + 1

        for k in range(horizon):
            fresh = (k == 0 and bool(stale[j])) or (k > 0 and version(10 * k) != version(10 * (k - 1)))
            if fresh:
                lasts = next(n for n in range(1, 99) if version(10 * (k + n)) != version(10 * k))
                found.add((j, k, lasts))
    return found


@bounded
@given(st.data(), st.integers(1, 5), st.integers(1, 5))
def test_versions_are_those_a_walk_finds(data: st.DataObject, rights: int, horizon: int) -> None:
    stale, change, interval = data.draw(clocks(rights))
    got = versions(stale, ids(change), ids(interval), 0, 10, horizon)
    listed = list(zip(got.right.tolist(), got.slide.tolist(), got.fresh_for.tolist(), strict=True))
    assert len(set(listed)) == len(listed)
    assert set(listed) == walked(stale, change, interval, horizon)


def score(graph: MaintenanceGraph, offered: Versions, v: int) -> int:
    """The rows of the present window that version v keeps fresh, evaluation by evaluation."""
    first, lasts = int(offered.slide[v]), int(offered.fresh_for[v])
    mine = [i for i, j in edge_list(graph) if j == offered.right[v]]
    return sum(
        sum(life > k for n, life in row_list(graph) if n == i)
        for i in mine
        for k in range(first, first + lasts)
    )


@bounded
@given(graphs(), st.data())
def test_scores_as_stated(graph: MaintenanceGraph, data: st.DataObject) -> None:
    stale, change, interval = data.draw(clocks(graph.right))
    horizon = int(graph.row_life.max())
    offered = versions(stale, ids(change), ids(interval), 0, 10, horizon)
    got = fba_scores(graph, offered, horizon)
    assert got.tolist() == [score(graph, offered, v) for v in range(len(offered.right))]


@bounded
@given(graphs(left=2, right=2, rows=3, life=3), st.data(), st.integers(0, 4), seeds)
def test_fba_is_the_optimum_over_the_present_window(
    graph: MaintenanceGraph, data: st.DataObject, budget: int, chance: np.random.Generator
) -> None:
    """Against every set of at most ``budget`` requests (right node, slide), played evaluation by evaluation:
    no plan keeps more rows fresh than the best versions do, and FBA's requests of now belong to them."""
    stale, change, interval = data.draw(clocks(graph.right))
    horizon = int(graph.row_life.max())
    offered = versions(stale, ids(change), ids(interval), 0, 10, horizon)

    def version(j: int, k: int) -> int:
        return 0 if 10 * k < change[j] else (10 * k - change[j]) // interval[j] + 1

    def played(plan: tuple[tuple[int, int], ...]) -> int:
        copy = [-1 if stale[j] else 0 for j in range(graph.right)]
        rows = 0
        for k in range(horizon):
            for j, _ in [p for p in plan if p[1] == k]:
                copy[j] = version(j, k)
            fresh = {j for j in range(graph.right) if copy[j] == version(j, k)}
            rows += sum(
                life > k for i, j in edge_list(graph) if j in fresh for n, life in row_list(graph) if n == i
            )
        return rows

    requests = [(j, k) for j in range(graph.right) for k in range(horizon)]
    plans = chain.from_iterable(combinations(requests, n) for n in range(budget + 1))
    most = max(played(plan) for plan in plans)
    scores = fba_scores(graph, offered, horizon)
    assert most - played(()) == sum(sorted(scores.tolist(), reverse=True)[:budget])

    now = fba(graph, offered, budget, horizon, chance).tolist()
    worth = [scores[v] for v in range(len(scores)) if offered.slide[v] == 0 and offered.right[v] in now]
    others = sorted(
        (s for v, s in enumerate(scores) if not (offered.slide[v] == 0 and offered.right[v] in now))
    )
    assert len(now) <= budget
    assert sum(worth) + sum(others[::-1][: budget - len(now)]) == most - played(())


@bounded
@given(graphs())
def test_the_present_slide_scores_as_ibm(graph: MaintenanceGraph) -> None:
    """With a horizon as long as the window, the score of a present version is formula 15."""
    horizon = int(graph.row_life.max())
    offered = Versions(np.arange(graph.right), np.zeros(graph.right, np.int64), graph.fresh_for)
    assert fba_scores(graph, offered, horizon).tolist() == ibm_scores(graph).tolist()


def test_steady_arrivals_keep_the_window_full() -> None:
    """Four rows of lives 1 to 4 and one arrival a slide: every later slide sees four rows again."""
    graph = graph_of([(0, 0)], [(0, 1), (0, 2), (0, 3), (0, 4)], [1])
    assert steady_arrivals(graph).tolist() == [1.0]
    offered = Versions(ids([0] * 4), ids([0, 1, 2, 3]), ids([1] * 4))
    assert fba_scores(graph, offered, 4).tolist() == [4, 3, 2, 1]
    assert fba_scores(graph, offered, 4, steady_arrivals(graph)).tolist() == [4, 4, 4, 4]
