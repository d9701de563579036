"""Unions, clipping and names of relations."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bags import (
    INDICES,
    bag_at,
    check_each_index,
    check_well_formed,
    relation_of,
    relations,
    thorough,
)
from weir.kernel.relations.relation import Relation, clip, distinct, fresh, rename, union


@thorough
@given(st.lists(st.sampled_from([("x",), ("x", "y"), ("z",), ()]), max_size=3), st.data())
def test_union(shapes: list[tuple[str, ...]], data: st.DataObject) -> None:
    parts = [data.draw(relations(shape)) for shape in shapes]
    result = union(*parts)
    assert set(result.columns) == {name for shape in shapes for name in shape}
    check_each_index(result, parts, lambda *bags: sum(bags, Counter()))


@thorough
@given(relations(("x",)), st.integers(0, INDICES), st.integers(0, INDICES))
def test_clip(relation: Relation, start: int, end: int) -> None:
    result = clip(relation, start, end)
    check_well_formed(result)
    for index in range(INDICES):
        expected = bag_at(relation, index) if start <= index < end else Counter()
        assert bag_at(result, index) == expected


def test_rename_and_fresh() -> None:
    relation = relation_of(("x",), [((1,), 0, 1)])
    assert rename(relation, {"x": "y"}).variables == ("y",)
    assert fresh(relation, "x") == "x'"


@thorough
@given(
    st.sampled_from([(), ("x",), ("x", "y"), ("x", "y", "z")]).flatmap(
        lambda names: relations(names, most=12)
    )
)
def test_distinct(relation: Relation) -> None:
    result = distinct(relation)
    check_each_index(result, [relation], lambda bag: Counter(dict.fromkeys(bag, 1)))
    assert len(result) <= len(relation)
