"""Routing of multi-way joins: whatever the order, the bag of the join; too large a join is refused."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, check_each_index, relation_of, relations, slow_join, thorough
from weir.kernel.operators.inputs.input import RelationInput
from weir.kernel.operators.join import Policy, Router, TooLarge
from weir.kernel.relations.relation import Relation, union


def as_input(name: str, relation: Relation) -> RelationInput:
    return RelationInput(name, relation.variables, lambda: relation, INDICES)


THREE = st.tuples(relations(("x", "y")), relations(("y", "z")), relations(("z", "x")))


@pytest.mark.parametrize("policy", list(Policy))
@thorough
@given(THREE)
def test_the_join_of_three_parts(policy: Policy, parts: tuple[Relation, ...]) -> None:
    inputs = [as_input(str(place), part) for place, part in enumerate(parts)]
    found = Router(policy, Counter()).everything(inputs, ())
    check_each_index(found, parts, lambda a, b, c: slow_join(slow_join(a, b), c))


@thorough
@given(THREE)
def test_changes_leave_out_only_what_is_visible_throughout(parts: tuple[Relation, ...]) -> None:
    inputs = [as_input(str(place), part) for place, part in enumerate(parts)]
    router = Router(Policy.COST, Counter())
    moving = router.changes(inputs, ())
    still = [part.take((part.start == 0) & (part.end == INDICES)) for part in parts]
    rest = router.everything([as_input("s", part) for part in still], ())
    check_each_index(union(*moving, rest), parts, lambda a, b, c: slow_join(slow_join(a, b), c))


def test_a_join_beyond_the_limit_is_refused() -> None:
    many = relation_of(("x",), [((1,), 0, 1)] * 20)
    with pytest.raises(TooLarge):
        Router(Policy.COST, Counter(), 399).everything([as_input("a", many), as_input("b", many)], ())
