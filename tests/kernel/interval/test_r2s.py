"""R2S of relations over instants, against multisets index by index."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, bag_at, relations, solution_of, thorough
from weir.kernel.interval.r2s import sent
from weir.kernel.relations.relation import Relation, clip
from weir.kernel.windows.instants import Instants
from weir.language.algebra.query import R2S


@pytest.mark.parametrize("operator", list(R2S))
@thorough
@given(relations(("x",), unbound=False, most=12), st.lists(st.booleans(), min_size=INDICES, max_size=INDICES))
def test_what_is_sent_is_the_difference_of_multisets(
    operator: R2S, relation: Relation, emitted: list[bool]
) -> None:
    if operator is not R2S.RSTREAM:
        emitted = [False, *emitted[1:]]
        relation = clip(relation, 1, INDICES)
    at = Instants(np.arange(INDICES), np.array(emitted))
    index, rows = sent(relation, at, operator)
    places = np.arange(len(index)) if rows is None else rows
    found = Counter(
        (when, solution_of(relation, row)) for when, row in zip(index.tolist(), places.tolist(), strict=True)
    )
    expected: Counter[object] = Counter()
    for when in np.flatnonzero(emitted).tolist():
        now = bag_at(relation, when)
        before = bag_at(relation, when - 1) if when else Counter()
        bag = {R2S.RSTREAM: now, R2S.ISTREAM: now - before, R2S.DSTREAM: before - now}[operator]
        expected.update({(when, solution): times for solution, times in bag.items()})
    assert found == expected
    assert index.tolist() == sorted(index.tolist())
