"""Static graphs as tables and views: rows valid for ever, or for a while."""

from __future__ import annotations

import numpy as np

from bags import relation_of
from weir.kernel.contract import GraphTable
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.inputs.static_views import StaticInput, merged
from weir.kernel.windows.instants import HIGHEST, LOWEST, Instants

AT = Instants(np.array([10, 20, 30]), np.ones(3, np.bool_))


def table(*triples: tuple[int, int, int]) -> GraphTable:
    return GraphTable(*(np.array(column, np.int64) for column in zip(*triples, strict=True)))


def test_graphs_merge_into_one_graph() -> None:
    both = merged([table((1, 2, 3), (1, 2, 4)), table((1, 2, 3))])
    rows = sorted(zip(both.subject.tolist(), both.predicate.tolist(), both.object.tolist(), strict=True))
    assert rows == [(1, 2, 3), (1, 2, 4)]


def test_a_triple_that_comes_and_goes_is_there_while_any_graph_has_it() -> None:
    first = GraphTable(*(np.array([each]) for each in (1, 2, 3)), start=np.array([0]), end=np.array([15]))
    second = GraphTable(*(np.array([each]) for each in (1, 2, 3)), start=np.array([10]), end=np.array([25]))
    both = merged([first, second])
    assert both.since is not None and both.until is not None
    assert (both.since.tolist(), both.until.tolist()) == ([0], [25])


def test_a_pattern_over_a_table() -> None:
    view, since, _ = merged([table((1, 2, 3), (1, 5, 1), (4, 5, 4))]).match(("x", 5, "x", None))
    assert (view.columns["x"].tolist(), since) == ([1, 4], None)


def test_partners_are_visible_while_they_are_valid() -> None:
    view = relation_of(("x", "y"), [((1, 7), 0, 1), ((1, 8), 0, 1)])
    each = StaticInput("v", Present(AT), view, np.array([LOWEST, 20]), np.array([15, HIGHEST]))
    joined = each.join(relation_of(("x",), [((1,), 0, 3)]))
    rows = zip(joined.columns["y"].tolist(), joined.start.tolist(), joined.end.tolist(), strict=True)
    assert sorted(rows) == [(7, 0, 1), (8, 1, 3)]
    assert each.varies and len(each.changed()) == 2
