"""Distinct against the bag it means."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bags import (
    check_each_index,
    relations,
    thorough,
)
from weir.kernel.operators.distinct import distinct
from weir.kernel.relations.relation import Relation


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
