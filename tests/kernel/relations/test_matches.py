"""Joins against the bags they mean."""

from __future__ import annotations

from collections import Counter
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import (
    check_each_index,
    relation_of,
    slow_join,
    thorough,
    two_relations,
)
from weir.errors import EvaluationError
from weir.kernel.relations import keys
from weir.kernel.relations.matches import Index, join, matches
from weir.kernel.relations.relation import Relation, distinct

joins = import_module("weir.kernel.relations.matches")


@thorough
@given(two_relations())
def test_join(pair: tuple[Relation, Relation]) -> None:
    check_each_index(join(*pair), pair, slow_join)


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
    index = Index(right, on)
    assert len(index) == len(right)
    check_each_index(join(left, index), pair, slow_join)


@thorough
@given(two_relations())
def test_join_in_chunks(pair: tuple[Relation, Relation]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joins, "CHUNK", 3)
        check_each_index(join(*pair), pair, slow_join)


@thorough
@given(two_relations())
def test_colliding_keys_are_told_apart(pair: tuple[Relation, Relation]) -> None:
    def constant(columns: list[np.ndarray]) -> np.ndarray:
        return columns[0] if len(columns) == 1 else np.zeros(len(columns[0]), np.int64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joins, "combine", constant)
        patch.setattr(keys, "combine", constant)
        patch.setattr("weir.kernel.relations.keys.combine", constant)
        check_each_index(join(*pair), pair, slow_join)
        check_each_index(distinct(pair[0]), pair[:1], lambda bag: Counter(dict.fromkeys(bag, 1)))


def test_a_join_that_explodes_is_refused_by_name() -> None:
    many = relation_of(("x",), [((1,), 0, 1)] * 200)
    with pytest.raises(EvaluationError, match="join: more than"):
        join(many, many, limit=39_999)
    with pytest.raises(EvaluationError, match="minus: more than"):
        matches(many, many, limit=39_999, operator="minus")
    assert len(join(many, many, limit=40_000)) == 40_000


def test_rows_that_never_meet_in_time_cost_no_room() -> None:
    times = np.arange(2_000)
    left = Relation({"x": np.ones(2_000, np.int64)}, times, times + 1)
    assert len(join(left, left, limit=2_000)) == 2_000
