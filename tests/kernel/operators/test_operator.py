"""Operators that act row by row."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import (
    Bag,
    check_each_index,
    relations,
    thorough,
)
from weir.errors import EvaluationError
from weir.kernel.operators.context import extend
from weir.kernel.operators.operator import project, values
from weir.kernel.relations.relation import Relation


@thorough
@given(relations(("x", "y", "z")), st.sets(st.sampled_from(["x", "y", "w"])))
def test_project(relation: Relation, kept: set[str]) -> None:
    def slow(bag: Bag) -> Bag:
        out: Bag = Counter()
        for solution, times in bag.items():
            out[frozenset(pair for pair in solution if pair[0] in kept)] += times
        return out

    result = project(relation, sorted(kept))
    assert set(result.columns) == kept
    check_each_index(result, [relation], slow)


def test_values_and_extend() -> None:
    table = values(("x", "y"), [(1, 0), (2, 5)], 3)
    assert table.optional == {"y"} and table.end.tolist() == [3, 3]
    assert len(values((), [()], 3)) == 1
    extended = extend(table, "z", np.array([7, 0]))
    assert extended.optional == {"y", "z"}
    with pytest.raises(EvaluationError, match="already bound"):
        extend(extended, "x", np.array([1, 1]))
