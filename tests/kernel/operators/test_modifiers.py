"""OrderBy and Slice against sorted lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bags import (
    INDICES,
    bag_at,
    check_well_formed,
    relations,
    solution_of,
    thorough,
)
from weir.kernel.operators.modifiers import order, slice
from weir.kernel.relations.relation import Relation


@thorough
@given(
    relations(("x", "y"), unbound=False, most=12), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))
)
def test_order_and_slice(relation: Relation, offset: int, limit: int | None) -> None:
    ordered = order(relation, [relation.columns["x"], -relation.columns["y"]])
    sliced = slice(ordered, offset, limit)
    check_well_formed(sliced)
    for index in range(INDICES):
        expected = sorted(
            bag_at(relation, index).elements(),
            key=lambda solution: (dict(solution)["x"], -dict(solution)["y"]),
        )
        stop = None if limit is None else offset + limit
        visible = [
            solution_of(sliced, row)
            for row in range(len(sliced))
            if sliced.start[row] <= index < sliced.end[row]
        ]
        assert visible == expected[offset:stop]
