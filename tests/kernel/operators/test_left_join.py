"""LeftJoin and Minus against the bags they mean."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bags import (
    bag_at,
    check_each_index,
    relation_of,
    slow_left_join,
    slow_minus,
    thorough,
    two_relations,
)
from weir.kernel.operators.filter import exists
from weir.kernel.operators.left_join import left_join
from weir.kernel.relations.relation import Relation, clip, union


@thorough
@given(two_relations())
def test_left_join(pair: tuple[Relation, Relation]) -> None:
    check_each_index(left_join(*pair), pair, slow_left_join)


@thorough
@given(two_relations(), st.integers(1, 3), st.integers(0, 4))
def test_left_join_with_a_condition_that_changes_in_time(
    pair: tuple[Relation, Relation], value: int, until: int
) -> None:
    """The condition: not ?y = value before the index ``until``; afterwards everything passes."""

    def condition(joined: Relation) -> Relation:
        if "y" not in joined.columns:
            return joined
        refused = joined.columns["y"] == value
        late = clip(joined.take(refused), until, 99)
        return union(joined.take(~refused), late)

    result = left_join(*pair, condition)
    for index in range(5):
        expected = slow_left_join(
            bag_at(pair[0], index),
            bag_at(pair[1], index),
            lambda solution, index=index: index >= until or ("y", value) not in solution,
        )
        assert bag_at(result, index) == expected


@thorough
@given(two_relations())
def test_minus(pair: tuple[Relation, Relation]) -> None:
    check_each_index(exists(*pair, negated=True, sharing=True), pair, slow_minus)


def test_a_left_row_stays_while_no_right_row_excludes_it() -> None:
    left, right = [((1,), 0, 5)], [((1,), 1, 2), ((1,), 3, 4)]
    rest = exists(relation_of(("x",), left), relation_of(("x",), right), negated=True, sharing=True)
    assert (rest.start.tolist(), rest.end.tolist()) == ([0, 2, 4], [1, 3, 5])
