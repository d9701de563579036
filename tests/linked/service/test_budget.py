"""Which right nodes a policy refreshes with what it is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from service_graphs import graph_of, ids
from weir.linked.service.budget import choose, definite_policy, horizon_of, rows_ahead
from weir.linked.service.config import Budget, PolicyName
from weir.linked.service.ledger import Allowance
from weir.linked.service.local_view import NEVER
from weir.linked.service.maintenance_graph import RightNodes


@pytest.mark.parametrize("policy", [name for name in PolicyName if name is not PolicyName.AUTO])
@pytest.mark.parametrize("aggregate", [False, True])
def test_what_was_never_fetched_comes_before_what_is_stale(policy: PolicyName, aggregate: bool) -> None:
    """Node 2 is worth least, but nothing is known of it."""
    graph = graph_of([(0, 0), (1, 1), (2, 2)], [(0, 3), (0, 3), (1, 3), (1, 3), (2, 3)], [3, 3, 3])
    none = np.zeros(3, np.int64)
    right = RightNodes(ids([0, 0, NEVER]), none, none + 8, none + 3, np.zeros(3, np.bool_), np.zeros(3))
    stale = np.ones(3, np.bool_)
    worth = np.array([9.0, 9.0, 1.0])
    options = (aggregate, 5, 1, 3, np.random.default_rng(1), worth)
    found = choose(policy, graph, stale, right, Allowance(2, 2), *options)
    assert found.tolist()[0] == 2 and len(found) == 2


def test_nothing_allowed_chooses_nothing() -> None:
    graph = graph_of([(0, 0)], [(0, 3)], [3])
    none = np.zeros(1, np.int64)
    right = RightNodes(none, none, none + 8, none + 3, np.zeros(1, np.bool_), np.zeros(1))
    options = (np.ones(1, np.bool_), right, Allowance(0, 9), False, 5, 1, 3, np.random.default_rng(1))
    assert choose(PolicyName.IBM, graph, *options).tolist() == []
    assert horizon_of(graph) == 3


def test_a_budget_that_cannot_move_has_no_fba() -> None:
    def definite(policy: PolicyName, budget: Budget) -> PolicyName:
        return definite_policy(policy, budget, learned=False)

    assert definite(PolicyName.AUTO, Budget(3)) is PolicyName.IBM
    assert definite(PolicyName.AUTO, Budget(None, 3)) is PolicyName.FBA
    assert definite(PolicyName.LRU, Budget(3)) is PolicyName.LRU


def test_where_intervals_are_learned_the_expected_rows_count() -> None:
    for budget in (Budget(3), Budget(None, 3)):
        assert definite_policy(PolicyName.AUTO, budget, learned=True) is PolicyName.EXPECTED
    assert definite_policy(PolicyName.IBM, Budget(3), learned=True) is PolicyName.IBM


def test_rows_ahead_are_those_that_last_and_those_to_come() -> None:
    """Left node 0 has rows with lives 1 and 3, left node 1 one with life 2; both need right node 1."""
    graph = graph_of([(0, 0), (0, 1), (1, 1)], [(0, 1), (0, 3), (1, 2)], [1, 1])
    found = rows_ahead(graph)
    assert found[0].tolist() == pytest.approx([2, 1 + 2 / 3, 1 + 4 / 3, 2])
    assert found[1].tolist() == pytest.approx([3, 3, 3, 3])
