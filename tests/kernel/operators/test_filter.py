"""Filters and EXISTS against the bags they mean."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bags import (
    bag_at,
    check_each_index,
    relations,
    slow_exists,
    thorough,
    two_relations,
)
from weir.kernel.operators.filter import exists, mark_exists, outer_rows
from weir.kernel.relations.matches import join
from weir.kernel.relations.relation import Relation


@thorough
@given(two_relations(), st.booleans())
def test_exists(pair: tuple[Relation, Relation], negated: bool) -> None:
    result = exists(*pair, negated=negated)
    check_each_index(result, pair, lambda left, inner: slow_exists(left, inner, negated))


@thorough
@given(two_relations())
def test_mark_exists(pair: tuple[Relation, Relation]) -> None:
    marked = mark_exists(*pair, ".e", 11, 12)
    for answer, negated in ((11, False), (12, True)):
        part = marked.take(marked.columns[".e"] == answer).keep(pair[0].variables)
        check_each_index(part, pair, lambda left, inner, negated=negated: slow_exists(left, inner, negated))


@thorough
@given(relations(("x", "y")), st.sets(st.sampled_from(["x", "y", "z"])))
def test_outer_rows_number_distinct_values(relation: Relation, variables: set[str]) -> None:
    numbered, outer = outer_rows(relation, sorted(variables), ".outer")
    back = join(numbered, outer.keep([".outer"]))
    check_each_index(back.keep(relation.variables), [relation], lambda bag: bag)
    for index in range(5):
        assert all(times == 1 for times in bag_at(outer, index).values())
