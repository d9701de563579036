"""OPTIONAL moves above the joins that it does not concern."""

from __future__ import annotations

import pytest

from plan.plan_kit import built, leaves
from weir.plan import nodes as p
from weir.plan.rules.optionals import hoist_optionals


@pytest.mark.parametrize(
    ("last", "joined"),
    [("WINDOW <v> { ?a :r ?c }", 2), ("WINDOW <v> { ?d :r ?c }", 1)],
    ids=["concerns the left", "concerns what is optional"],
)
def test_optional_moves_above_joins_that_do_not_concern_it(last: str, joined: int) -> None:
    plan = hoist_optionals(
        built(f"WINDOW <w> {{ ?a :p ?b }} OPTIONAL {{ WINDOW <v> {{ ?a :q ?d }} }} {last}")
    )
    (found,) = [node for node in p.below(plan) if isinstance(node, p.LeftJoin)]
    assert leaves(found.left) == joined
