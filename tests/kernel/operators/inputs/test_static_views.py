"""Static graphs as tables and views: rows valid for ever, or for a while."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import Bag, check_each_index, relation_of, relations, thorough
from weir.kernel.contract import GraphTable
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.inputs.static_views import QUAD, StaticInput, merged, scan
from weir.kernel.relations.relation import Relation, rename
from weir.kernel.windows.instants import HIGHEST, LOWEST, Instants

AT = Instants(np.array([10, 20, 30]), np.ones(3, np.bool_))


def table(*triples: tuple[int, int, int]) -> GraphTable:
    return GraphTable(*(np.array(column, np.int64) for column in zip(*triples, strict=True)))


def test_graphs_merge_into_one_graph() -> None:
    both = merged([table((1, 2, 3), (1, 2, 4)), table((1, 2, 3))])
    rows = sorted(zip(*(column.tolist() for column in both.columns.values()), strict=True))
    assert rows == [(1, 2, 3), (1, 2, 4)]


def test_a_triple_that_comes_and_goes_is_there_while_any_graph_has_it() -> None:
    first = GraphTable(*(np.array([each]) for each in (1, 2, 3)), start=np.array([0]), end=np.array([15]))
    second = GraphTable(*(np.array([each]) for each in (1, 2, 3)), start=np.array([10]), end=np.array([25]))
    both = merged([first, second])
    assert (both.start.tolist(), both.end.tolist()) == ([0], [25])


def test_a_pattern_over_a_table() -> None:
    view = scan(merged([table((1, 2, 3), (1, 5, 1), (4, 5, 4))]), "x", 5, "x")
    assert view.columns["x"].tolist() == [1, 4] and StaticInput("v", Present(AT), view).steady


def test_partners_are_visible_while_they_are_valid() -> None:
    view = relation_of(("x", "y"), [((1, 7), 0, 1), ((1, 8), 0, 1)])
    view = view.during(np.array([LOWEST, 20]), np.array([15, HIGHEST]))
    each = StaticInput("v", Present(AT), view)
    joined = each.join(relation_of(("x",), [((1,), 0, 3)]))
    rows = zip(joined.columns["y"].tolist(), joined.start.tolist(), joined.end.tolist(), strict=True)
    assert sorted(rows) == [(7, 0, 1), (8, 1, 3)]
    assert not each.steady and len(each.changed()) == 2


SLOTS = st.one_of(st.integers(1, 3), st.sampled_from(["x", "y", "z"]))


def as_triples(relation: Relation) -> Relation:
    return rename(relation, dict(zip("spog", QUAD, strict=True)))


@thorough
@given(
    relations("spog", ids=st.integers(1, 3), unbound=False),
    st.tuples(SLOTS, SLOTS, SLOTS),
    st.one_of(st.none(), SLOTS),
    st.booleans(),
)
def test_scan(
    relation: Relation, pattern: tuple[int | str, ...], graph: int | str | None, named: bool
) -> None:
    if not named:
        relation = relation.having("g", np.where(relation.columns["g"] == 1, 0, relation.columns["g"]))

    def slow(bag: Bag) -> Bag:
        out: Bag = Counter()
        for solution, times in bag.items():
            row = dict(solution)
            found: dict[str, int] = {}
            for slot, value in zip(
                (*pattern, graph), (row["s"], row["p"], row["o"], row.get("g", 0)), strict=True
            ):
                if slot is None:
                    continue
                if isinstance(slot, int):
                    if slot != value:
                        break
                elif value == 0 or found.setdefault(slot, value) != value:
                    break
            else:
                out[frozenset(found.items())] += times
        return out

    result = scan(as_triples(relation), *pattern, graph)
    check_each_index(result, [relation.having("g", relation.columns["g"], optional=True)], slow)


def test_a_match_has_the_interval_of_its_triple() -> None:
    triples = relation_of("spog", [((1, 2, 3, 0), 0, 4), ((1, 5, 6, 0), 2, 3)])
    found = scan(as_triples(triples), "x", 5, "y")
    assert (found.columns["y"].tolist(), found.start.tolist(), found.end.tolist()) == ([6], [2], [3])
