"""Relations as inputs of joins: all rows, those that change, and partners."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, check_each_index, relation_of, relations, slow_join, thorough
from weir.kernel.operators.inputs.input import Present, RelationInput, StaticInput, UnionInput, unsteady
from weir.kernel.relations.relation import Relation, union
from weir.kernel.windows.instants import HIGHEST, LOWEST, Instants

AT = Instants(np.array([10, 20, 30]), np.ones(3, np.bool_))

PAIR = st.tuples(relations(("x", "y")), relations(("y", "z")))


def as_input(relation: Relation) -> RelationInput:
    return RelationInput("r", relation.variables, lambda: relation, INDICES)


@thorough
@given(PAIR)
def test_a_flow_meets_its_partners(pair: tuple[Relation, Relation]) -> None:
    flow, rows = pair
    check_each_index(as_input(rows).join(flow), pair, slow_join)
    both = UnionInput("u", [as_input(rows), as_input(rows)])
    check_each_index(both.join(flow), [flow, union(rows, rows)], slow_join)


@thorough
@given(relations(("x",)))
def test_rows_change_or_stay(rows: Relation) -> None:
    each = as_input(rows)
    assert len(each.changed()) == len(unsteady(rows, INDICES))
    assert each.has_stable() == (len(each.changed()) < len(rows))


def test_nothing_is_computed_before_somebody_asks() -> None:
    asked = []

    def compute() -> Relation:
        asked.append(1)
        return Relation.unit(INDICES)

    each = RelationInput("r", (), compute, INDICES)
    assert not each.computed and not asked
    assert (len(each), len(each), asked) == (1, 1, [1])


def test_partners_are_visible_while_they_are_valid() -> None:
    view = relation_of(("x", "y"), [((1, 7), 0, 1), ((1, 8), 0, 1)])
    view = view.during(np.array([LOWEST, 20]), np.array([15, HIGHEST]))
    each = StaticInput("v", Present(AT), view)
    joined = each.join(relation_of(("x",), [((1,), 0, 3)]))
    rows = zip(joined.columns["y"].tolist(), joined.start.tolist(), joined.end.tolist(), strict=True)
    assert sorted(rows) == [(7, 0, 1), (8, 1, 3)]
    assert not each.steady and len(each.changed()) == 2
