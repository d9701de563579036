"""Each case 1 policy against a plain statement of its formula, and against the exact optimum."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded, edge_list, graph_of, graphs, row_list, seeds
from weir.linked.service.graph import MaintenanceGraph
from weir.linked.service.policies import best, ibm_bgp, ibm_scores, lru, rand, sbm_bgp, sbm_scores
from weir_bench.freshness.optimum import fresh_now, optimum_bgp

budgets = st.integers(0, 9)

FIGURE_1 = [(0, 0), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)]


def test_figure_1() -> None:
    """μ1SR is an edge of all three left nodes, so one refresh of it makes three mappings fresh."""
    graph = graph_of(FIGURE_1, [(0, 1), (1, 1), (2, 1)], [1, 1, 1])
    assert sbm_scores(graph).tolist() == [3, 1, 2]
    assert sbm_bgp(graph, 1, np.random.default_rng(0)).tolist() == [0]
    assert fresh_now(graph, sbm_bgp(graph, 1, np.random.default_rng(0)), aggregate=False) == 3
    assert sbm_bgp(graph, 2, np.random.default_rng(0)).tolist() == [0, 2]


def test_figure_1_weighs_window_rows() -> None:
    """Formula 4: five window rows at μ3SN lift μ2SR, which has no other edge, above one edge elsewhere."""
    graph = graph_of(FIGURE_1, [(0, 1), (1, 1)] + [(2, 1)] * 5, [1, 1, 1])
    assert sbm_scores(graph).tolist() == [7, 5, 6]


def test_impact_prefers_what_lasts() -> None:
    """Equal selectivity, but the second right node stays fresh for three evaluations of a long-lived row."""
    graph = graph_of([(0, 0), (0, 1)], [(0, 4)], [1, 3])
    assert sbm_scores(graph).tolist() == [1, 1]
    assert ibm_scores(graph).tolist() == [1, 3]


@bounded
@given(graphs())
def test_formula_11(graph: MaintenanceGraph) -> None:
    rows = row_list(graph)
    expected = [
        sum(sum(r[0] == left for r in rows) for left, right in edge_list(graph) if right == j)
        for j in range(graph.right)
    ]
    assert sbm_scores(graph).tolist() == expected


@bounded
@given(graphs())
def test_formulas_12_to_15(graph: MaintenanceGraph) -> None:
    b = graph.fresh_for.tolist()
    expected = [
        sum(
            min(life, b[j])
            for i, right in edge_list(graph)
            if right == j
            for n, life in row_list(graph)
            if n == i
        )
        for j in range(graph.right)
    ]
    assert ibm_scores(graph).tolist() == expected


@bounded
@given(graphs(), budgets, seeds)
def test_sbm_and_ibm_are_the_optimum(
    graph: MaintenanceGraph, budget: int, chance: np.random.Generator
) -> None:
    """Against every choice of right nodes, and against the integer programme."""
    for policy, scores in ((sbm_bgp, sbm_scores(graph)), (ibm_bgp, ibm_scores(graph))):
        chosen = policy(graph, budget, chance)
        assert len(set(chosen.tolist())) == len(chosen) <= budget
        size = min(budget, graph.right)
        most = max(sum(scores[list(some)].tolist()) for some in combinations(range(graph.right), size))
        assert scores[chosen].sum() == most
        assert abs(optimum_bgp(scores, budget)[0] - most) < 1e-6


@bounded
@given(graphs(), budgets, seeds)
def test_formula_5_is_the_sum_of_formula_11(
    graph: MaintenanceGraph, budget: int, chance: np.random.Generator
) -> None:
    chosen = rand(graph, budget, chance)
    assert fresh_now(graph, chosen, aggregate=False) == sbm_scores(graph)[chosen].sum()


@bounded
@given(graphs(), budgets, seeds)
def test_lru_takes_the_longest_untouched(
    graph: MaintenanceGraph, budget: int, chance: np.random.Generator
) -> None:
    chosen = lru(graph, budget, chance)
    assert len(set(chosen.tolist())) == len(chosen) == min(budget, graph.right)
    assert graph.updated[chosen].tolist() == sorted(graph.updated.tolist())[:budget]


@bounded
@given(graphs(), budgets, seeds)
def test_rand_takes_candidates(graph: MaintenanceGraph, budget: int, chance: np.random.Generator) -> None:
    chosen = rand(graph, budget, chance)
    assert len(set(chosen.tolist())) == len(chosen) == min(budget, graph.right)


def test_ties_are_drawn_at_random() -> None:
    chance = np.random.default_rng(5)
    drawn = [int(best(np.array([1, 1, 1, 0]), 1, chance)[0]) for _ in range(600)]
    counts = np.bincount(drawn, minlength=4)
    assert counts[3] == 0 and counts[:3].min() > 130


def test_a_worthless_refresh_is_not_asked_for() -> None:
    assert best(np.array([0, 2, 0]), 3, np.random.default_rng(0)).tolist() == [1]


@bounded
@given(graphs(), st.data())
def test_restriction_keeps_the_stale_part(graph: MaintenanceGraph, data: st.DataObject) -> None:
    stale = np.array(data.draw(st.lists(st.booleans(), min_size=graph.right, max_size=graph.right)), bool)
    part, kept = graph.restrict(stale)
    assert kept.tolist() == [j for j in range(graph.right) if stale[j]]
    expected = {(i, j) for i, j in edge_list(graph) if stale[j]}
    assert {(i, int(kept[j])) for i, j in edge_list(part)} == expected
    assert part.fresh_for.tolist() == graph.fresh_for[kept].tolist()
