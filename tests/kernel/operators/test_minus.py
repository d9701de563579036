"""Minus against the bags it means."""

from __future__ import annotations

from hypothesis import given

from bags import (
    check_each_index,
    relation_of,
    slow_minus,
    thorough,
    two_relations,
)
from weir.kernel.operators.minus import minus
from weir.kernel.relations.relation import Relation


@thorough
@given(two_relations())
def test_minus(pair: tuple[Relation, Relation]) -> None:
    check_each_index(minus(*pair), pair, slow_minus)


def test_a_left_row_stays_while_no_right_row_excludes_it() -> None:
    rest = minus(relation_of(("x",), [((1,), 0, 5)]), relation_of(("x",), [((1,), 1, 2), ((1,), 3, 4)]))
    assert (rest.start.tolist(), rest.end.tolist()) == ([0, 2, 4], [1, 3, 5])
