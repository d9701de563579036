"""Minus against the bags it means."""

from __future__ import annotations

from hypothesis import given

from bags import (
    check_each_index,
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
