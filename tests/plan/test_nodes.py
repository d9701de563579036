"""Going through a plan: every node is met, and a rewrite reaches it."""

from __future__ import annotations

from plan.plan_kit import built
from weir.plan import nodes as p

TEXT = "?a :p ?b OPTIONAL { ?b :q ?c FILTER EXISTS { ?c :r ?d } } MINUS { ?a :s ?e } BIND(1 AS ?f)"


def predicates(plan: p.Plan) -> list[str]:
    return sorted(str(node.pattern.predicate) for node in p.below(plan) if isinstance(node, p.Match))


def test_below_meets_every_leaf_also_inside_exists() -> None:
    assert predicates(built(TEXT)) == ["<urn:p>", "<urn:q>", "<urn:r>", "<urn:s>"]


def test_below_does_not_enter_what_is_closed() -> None:
    plan = built(TEXT)
    assert list(p.below(plan, closed=(p.Extend,))) == [plan]


def test_children_and_formulas_are_those_right_below() -> None:
    plan = built("?a :p ?b BIND(?b AS ?c)")
    assert isinstance(plan, p.Extend)
    assert p.children(plan) == (plan.plan,) and p.formulas(plan) == (plan.bindings[0][1],)


def test_mapped_leaves_alone_what_does_not_change() -> None:
    plan = built(TEXT)
    assert p.mapped(plan, lambda child: child) == plan
    assert p.mapped(p.UNIT, lambda child: built(TEXT)) is p.UNIT


def test_mapped_reaches_the_plans_of_exists() -> None:
    def nowhere(plan: p.Plan) -> p.Plan:
        return p.UNIT if isinstance(plan, p.Match) else p.mapped(plan, nowhere)

    assert predicates(nowhere(built(TEXT))) == []


def test_mapped_may_treat_exists_otherwise() -> None:
    def kept(plan: p.Plan) -> p.Plan:
        return p.UNIT if isinstance(plan, p.Match) else p.mapped(plan, kept, lambda test: test.plan)

    assert predicates(kept(built(TEXT))) == ["<urn:r>"]
