"""Plans in which a SERVICE stands beside the rows that have its keys."""

from __future__ import annotations

from weir.language import parse
from weir.plan import nodes as p
from weir.plan.analysis.bind_joins import asked_by_keys, asked_services, calls, distributed
from weir.plan.planner import plan_query


def nodes(where: str, kind: type) -> list[p.Plan]:
    plan = plan_query(parse(f"SELECT * {{ {where} }}", "sparql")).root
    return [node for node in p.below(plan) if isinstance(node, kind)]


def test_a_join_goes_into_the_branches_of_a_union() -> None:
    (join,) = nodes("?k ?p ?o { SERVICE <http://e/q> { ?k ?a ?b } } UNION { ?k ?c ?d }", p.Join)[:1]
    assert isinstance(join, p.Join)
    found = distributed(join)
    assert found is not None and len(found.parts) == 2
    assert all(isinstance(branch, p.Join) and len(branch.parts) == 2 for branch in found.parts)
    assert [calls(branch) for branch in found.parts] == [True, False]


def test_a_union_without_service_stays() -> None:
    for join in nodes("?k ?p ?o { ?k ?a ?b } UNION { ?k ?c ?d }", p.Join):
        assert isinstance(join, p.Join) and distributed(join) is None


def test_minus_is_asked_by_what_both_sides_always_bind() -> None:
    (minus,) = nodes("?k ?p ?o MINUS { SERVICE <http://e/q> { ?k ?a ?b } }", p.Minus)
    assert isinstance(minus, p.Minus)
    keyed = asked_by_keys(minus.left, minus.right)
    assert isinstance(keyed, p.Join)
    assert p.Distinct(p.Project(minus.left, ("k",))) in keyed.parts


def test_minus_with_nothing_certain_in_common_stays() -> None:
    for right in (
        "SERVICE <http://e/q> { ?x ?a ?b }",
        "SERVICE SILENT <http://e/q> { ?k ?a ?b }",
        "?k ?a ?b",
    ):
        (minus,) = nodes(f"?k ?p ?o MINUS {{ {right} }}", p.Minus)
        assert isinstance(minus, p.Minus) and asked_by_keys(minus.left, minus.right) is None


def asked(where: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    plan = plan_query(parse(f"SELECT * {{ {where} }}", "sparql")).root
    return [(each.always, each.sometimes) for each in asked_services(plan)]


def test_by_what_each_service_is_asked() -> None:
    one, two = "SERVICE <http://e/q> { ?k ?a ?b }", "SERVICE <http://e/q> { ?b ?c ?d }"
    assert asked(one) == [((), ())]
    assert asked(f"?k ?p ?o {one}") == [(("k",), ())]
    assert asked(f"?k ?p ?o {one} {two}") == [(("k",), ()), (("b",), ())]
    assert asked(f"?k ?p ?o OPTIONAL {{ {one} }} {two}") == [(("k",), ()), ((), ("b",))]
    assert asked(f"?k ?p ?o MINUS {{ {one} }}") == [(("k",), ())]
    assert asked(f"?k ?p ?o {{ {one} }} UNION {{ ?k ?x ?y }}") == [(("k",), ())]
