"""Plans of small patterns over two windows, and what is in them."""

from __future__ import annotations

from weir.language import parse
from weir.language.algebra.query import Query
from weir.plan import nodes as p
from weir.plan.planner import plan_query


def query(pattern: str) -> Query:
    """A query on two windows; the prefix ``:`` is ``urn:``."""
    return parse(
        "PREFIX : <urn:> SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] FROM NAMED WINDOW <v> ON <s> [ALL] "
        f"WHERE {{ {pattern} }}",
        "rspql",
    )


def built(pattern: str) -> p.Plan:
    """The first plan of a pattern, before any rule, below its projection."""
    plan = dict(plan_query(query(pattern)).stages)["algebra"]
    assert isinstance(plan, p.Project)
    return plan.plan


def leaves(plan: p.Plan) -> int:
    """How many triple patterns a plan has, those of EXISTS left out."""
    return isinstance(plan, p.Match) + sum(leaves(child) for child in p.children(plan))


def filtered(plan: p.Plan) -> int:
    """How many triple patterns lie below a condition."""
    if isinstance(plan, p.Join) and plan.conditions:
        return leaves(plan)
    return sum(filtered(child) for child in p.children(plan))
