"""Joins against the bags they mean."""

from __future__ import annotations

from collections import Counter
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import (
    bag_at,
    check_each_index,
    relation_of,
    relations,
    slow_exists,
    slow_join,
    slow_left_join,
    slow_minus,
    thorough,
)
from weir.errors import EvaluationError
from weir.kernel import operators
from weir.kernel.relations import keys
from weir.kernel.relations.relation import Relation
from weir.kernel.relations.sorted_keys import Index

joins = import_module("weir.kernel.relations.matches")

SHAPES = st.sampled_from(
    [
        (("x",), ("x", "y")),
        (("x", "y"), ("x", "y")),
        (("x", "y"), ("y", "z")),
        (("x", "y", "z"), ("z", "y", "w")),
        (("x",), ("y",)),
        ((), ("x",)),
    ]
)


@st.composite
def two_relations(draw: st.DrawFn, unbound: bool = True) -> tuple[Relation, Relation]:
    left, right = draw(SHAPES)
    return draw(relations(left, unbound=unbound)), draw(relations(right, unbound=unbound))


@thorough
@given(two_relations())
def test_join(pair: tuple[Relation, Relation]) -> None:
    check_each_index(operators.join(*pair), pair, slow_join)


@thorough
@given(two_relations(unbound=False), st.data())
def test_join_with_an_index_on_some_shared_columns(
    pair: tuple[Relation, Relation], data: st.DataObject
) -> None:
    left, right = pair
    shared = [name for name in left.columns if name in right.columns]
    if not shared:
        return
    on = data.draw(st.lists(st.sampled_from(shared), min_size=1, unique=True))
    check_each_index(operators.join(left, Index(right, on)), pair, slow_join)
    check_each_index(operators.join(Index(left, on), right), pair, slow_join)


@thorough
@given(two_relations())
def test_join_in_chunks(pair: tuple[Relation, Relation]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joins, "CHUNK", 3)
        patch.setattr(joins, "_TINY", 0)
        check_each_index(operators.join(*pair), pair, slow_join)


@thorough
@given(two_relations())
def test_colliding_keys_are_told_apart(pair: tuple[Relation, Relation]) -> None:
    def constant(columns: list[np.ndarray]) -> np.ndarray:
        return columns[0] if len(columns) == 1 else np.zeros(len(columns[0]), np.int64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joins, "combine", constant)
        patch.setattr(keys, "combine", constant)
        patch.setattr("weir.kernel.relations.sorted_keys.combine", constant)
        check_each_index(operators.join(*pair), pair, slow_join)
        check_each_index(operators.distinct(pair[0]), pair[:1], lambda bag: Counter(dict.fromkeys(bag, 1)))


@thorough
@given(two_relations())
def test_left_join(pair: tuple[Relation, Relation]) -> None:
    check_each_index(operators.left_join(*pair), pair, slow_left_join)


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
        late = operators.clip(joined.take(refused), until, 99)
        return operators.union(joined.take(~refused), late)

    result = operators.left_join(*pair, condition)
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
    check_each_index(operators.minus(*pair), pair, slow_minus)


@thorough
@given(two_relations(), st.booleans())
def test_exists(pair: tuple[Relation, Relation], negated: bool) -> None:
    result = operators.exists(*pair, negated=negated)
    check_each_index(result, pair, lambda left, inner: slow_exists(left, inner, negated))


@thorough
@given(two_relations())
def test_mark_exists(pair: tuple[Relation, Relation]) -> None:
    marked = operators.mark_exists(*pair, ".e", 11, 12)
    for answer, negated in ((11, False), (12, True)):
        part = marked.take(marked.columns[".e"] == answer).keep(pair[0].variables)
        check_each_index(part, pair, lambda left, inner, negated=negated: slow_exists(left, inner, negated))


@thorough
@given(relations(("x", "y")), st.sets(st.sampled_from(["x", "y", "z"])))
def test_outer_rows_number_distinct_values(relation: Relation, variables: set[str]) -> None:
    numbered, outer = operators.outer_rows(relation, sorted(variables), ".outer")
    back = operators.join(numbered, outer.keep([".outer"]))
    check_each_index(back.keep(relation.variables), [relation], lambda bag: bag)
    for index in range(5):
        assert all(times == 1 for times in bag_at(outer, index).values())


def test_an_index_can_be_dated_anew() -> None:
    view = relation_of(("x", "y"), [((1, 5), 0, 9), ((2, 6), 0, 9)])
    index = Index(view, ("x",)).during(np.array([0, 1]), np.array([1, 3]))
    joined = operators.join(relation_of(("x",), [((2,), 0, 9), ((3,), 0, 9)]), index)
    assert (joined.start.tolist(), joined.end.tolist()) == ([1], [3])


def test_a_join_that_explodes_is_refused_by_name() -> None:
    many = relation_of(("x",), [((1,), 0, 1)] * 200)
    with pytest.raises(EvaluationError, match="join: more than"):
        operators.join(many, many, limit=39_999)
    with pytest.raises(EvaluationError, match="minus: more than"):
        operators.minus(many, Index(many, ("x",)), limit=39_999)
    assert len(operators.join(many, many, limit=40_000)) == 40_000


def test_rows_that_never_meet_in_time_cost_no_room() -> None:
    times = np.arange(2_000)
    left = Relation({"x": np.ones(2_000, np.int64)}, times, times + 1)
    assert len(operators.join(left, left, limit=2_000)) == 2_000
