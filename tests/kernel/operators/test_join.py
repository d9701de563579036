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


@thorough
@given(THREE)
def test_one_flow_up_to_its_last_join_has_all_that_changes(parts: tuple[Relation, ...]) -> None:
    """Whether or not the inputs are computed before anybody asks."""
    for asked in (False, True):
        inputs = [as_input(str(place), part) for place, part in enumerate(parts)]
        assert not asked or all(len(each) >= 0 for each in inputs)
        router = Router(Policy.COST, Counter())
        pending = router.until_last(inputs, ())
        if pending is not None:
            flow, last = pending
            still = [part.take((part.start == 0) & (part.end == INDICES)) for part in parts]
            rest = router.everything([as_input("s", part) for part in still], ())
            found = last.join(flow) if len(flow) else Relation.empty()
            check_each_index(union(found, rest), parts, lambda a, b, c: slow_join(slow_join(a, b), c))


def test_rows_that_stay_of_what_is_computed_below_meet_new_ones() -> None:
    """The window's new row has a partner that was there before: the flow has to start at the window."""
    below = relation_of(("x",), [((1,), 0, INDICES), ((2,), 1, INDICES)])
    window = relation_of(("x", "z"), [((1, 5), 1, INDICES)])
    inputs = [as_input("below", below), as_input("window", window)]
    assert len(inputs[1]) == 1
    pending = Router(Policy.COST, Counter()).until_last(inputs, ())
    assert pending is not None
    flow, last = pending
    assert last.join(flow).columns["z"].tolist() == [5]


def test_a_join_beyond_the_limit_is_refused() -> None:
    many = relation_of(("x",), [((1,), 0, 1)] * 20)
    with pytest.raises(TooLarge):
        Router(Policy.COST, Counter(), 399).everything([as_input("a", many), as_input("b", many)], ())
