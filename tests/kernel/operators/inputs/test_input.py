"""Relations as inputs of joins: all rows, those that change, and partners."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, check_each_index, relations, slow_join, thorough
from weir.kernel.operators.inputs.input import RelationInput, UnionInput, unsteady
from weir.kernel.relations.relation import Relation, union

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
