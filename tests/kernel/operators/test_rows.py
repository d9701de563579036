"""Scans, row-wise operators, DISTINCT, coverage, order and slices against the bags they mean."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import (
    INDICES,
    Bag,
    bag_at,
    check_each_index,
    check_well_formed,
    intervals,
    relation_of,
    relations,
    solution_of,
    thorough,
)
from weir.errors import EvaluationError
from weir.kernel import operators
from weir.kernel.operators import Triples
from weir.kernel.relations.relation import Relation

SLOTS = st.one_of(st.integers(1, 3), st.sampled_from(["x", "y", "z"]))


def as_triples(relation: Relation) -> Triples:
    s, p, o, g = (relation.columns[name] for name in "spog")
    return Triples(s, p, o, relation.start, relation.end, g)


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

    result = operators.scan(as_triples(relation), *pattern, graph)
    check_each_index(result, [relation.having("g", relation.columns["g"], optional=True)], slow)


@thorough
@given(st.lists(st.sampled_from([("x",), ("x", "y"), ("z",), ()]), max_size=3), st.data())
def test_union(shapes: list[tuple[str, ...]], data: st.DataObject) -> None:
    parts = [data.draw(relations(shape)) for shape in shapes]
    result = operators.union(*parts)
    assert set(result.columns) == {name for shape in shapes for name in shape}
    check_each_index(result, parts, lambda *bags: sum(bags, Counter()))


@thorough
@given(relations(("x", "y", "z")), st.sets(st.sampled_from(["x", "y", "w"])))
def test_project(relation: Relation, kept: set[str]) -> None:
    def slow(bag: Bag) -> Bag:
        out: Bag = Counter()
        for solution, times in bag.items():
            out[frozenset(pair for pair in solution if pair[0] in kept)] += times
        return out

    result = operators.project(relation, sorted(kept))
    assert set(result.columns) == kept
    check_each_index(result, [relation], slow)


@thorough
@given(
    st.sampled_from([(), ("x",), ("x", "y"), ("x", "y", "z")]).flatmap(
        lambda names: relations(names, most=12)
    )
)
def test_distinct(relation: Relation) -> None:
    result = operators.distinct(relation)
    check_each_index(result, [relation], lambda bag: Counter(dict.fromkeys(bag, 1)))
    assert len(result) <= len(relation)


@thorough
@given(relations(("x",)), st.integers(0, INDICES), st.integers(0, INDICES))
def test_clip(relation: Relation, start: int, end: int) -> None:
    result = operators.clip(relation, start, end)
    check_well_formed(result)
    for index in range(INDICES):
        expected = bag_at(relation, index) if start <= index < end else Counter()
        assert bag_at(result, index) == expected


@thorough
@given(st.lists(st.tuples(st.integers(0, 3), intervals()), max_size=12), st.sampled_from([0, 1 << 58]))
def test_unions_and_gaps(pieces: list[tuple[int, tuple[int, int]]], far: int) -> None:
    """Far apart times exercise the layout by ranks."""
    owner = np.array([owner for owner, _ in pieces], np.int64)
    start = np.array([span[0] for _, span in pieces], np.int64)
    end = np.array([span[1] for _, span in pieces], np.int64)
    scale = 1 if not far else far // INDICES
    united = operators.unite(owner, start * scale, end * scale)
    covered = {(row, k) for row, (first, last) in pieces for k in range(first, last)}
    listed = [
        (row, k)
        for row, first, last in zip(*(column.tolist() for column in united), strict=True)
        for k in range(first // scale, last // scale)
    ]
    assert len(listed) == len(set(listed)) and set(listed) == covered
    rows = np.zeros(4, np.int64)
    gaps = operators.uncovered(rows, rows + INDICES * scale, owner, start * scale, end * scale)
    listed = [
        (row, k)
        for row, first, last in zip(*(column.tolist() for column in gaps), strict=True)
        for k in range(first // scale, last // scale)
    ]
    assert len(listed) == len(set(listed))
    assert set(listed) == {(row, k) for row in range(4) for k in range(INDICES)} - covered


@thorough
@given(relations(("x",), unbound=False))
def test_expand_lists_every_index(relation: Relation) -> None:
    rows, index = operators.expand(relation.start, relation.end)
    single = relation.pieces(rows, index, index + 1)
    check_each_index(single, [relation], lambda bag: bag)


@thorough
@given(
    relations(("x", "y"), unbound=False, most=12), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))
)
def test_order_and_slice(relation: Relation, offset: int, limit: int | None) -> None:
    ordered = operators.order(relation, [relation.columns["x"], -relation.columns["y"]])
    sliced = operators.slice(ordered, offset, limit)
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


def test_values_and_extend() -> None:
    table = operators.values(("x", "y"), [(1, 0), (2, 5)], 3)
    assert table.optional == {"y"} and table.end.tolist() == [3, 3]
    assert len(operators.values((), [()], 3)) == 1
    extended = operators.extend(table, "z", np.array([7, 0]))
    assert extended.optional == {"y", "z"}
    with pytest.raises(EvaluationError, match="already bound"):
        operators.extend(extended, "x", np.array([1, 1]))


def test_rename_and_fresh() -> None:
    relation = relation_of(("x",), [((1,), 0, 1)])
    assert operators.rename(relation, {"x": "y"}).variables == ("y",)
    assert operators.fresh(relation, "x") == "x'"
