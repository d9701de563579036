"""How patterns are taken apart into what stays and what changes."""

from __future__ import annotations

from weir.kernel.contract import FOREVER
from weir.language.algebra.expressions import Aggregate, Aggregation
from weir.language.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Group,
    LeftJoin,
    Project,
    Slice,
    TriplePattern,
)
from weir.linked.service.config import SECOND, Budget, ServiceConfig
from weir.linked.service.service_parts import parts_of
from weir.rdf.terms import IRI, Variable

MENTIONS = TriplePattern(Variable("tweet"), IRI("http://e/mentions"), Variable("user"))
FOLLOWERS = TriplePattern(Variable("user"), IRI("http://e/followers"), Variable("n"))
BOTH = BGP((MENTIONS, FOLLOWERS))
SUM = Project(
    Extend(
        Group(BOTH, (Variable("tweet"),), ((Variable(".a"), Aggregate(Aggregation.SUM, Variable("n"))),)),
        ((Variable("sum"), Variable(".a")),),
    ),
    (Variable("tweet"), Variable("sum")),
)
DECLARED = ServiceConfig(budget=Budget(5), change_intervals=(("http://e/followers", 5 * SECOND),))


def test_without_declared_predicates_it_is_one_part() -> None:
    parts = parts_of(BOTH, ("tweet",), ServiceConfig(budget=Budget(5), change_interval=SECOND))
    assert parts.link is None
    assert parts.value.pattern == BOTH
    assert parts.value.key == ("tweet",) and parts.value.variables == ("tweet", "user", "n")
    assert parts.value.interval == SECOND


def test_the_changing_part_is_refreshed_by_what_links_it() -> None:
    parts = parts_of(BOTH, ("tweet",), DECLARED)
    assert parts.link is not None
    assert parts.link.pattern == BGP((MENTIONS,)) and parts.link.along == BGP((FOLLOWERS,))
    assert parts.link.key == ("tweet",) and parts.link.interval == FOREVER
    assert parts.value.pattern == BGP((FOLLOWERS,))
    assert parts.value.key == ("user",) and parts.value.variables == ("user", "n")
    assert parts.value.interval == 5 * SECOND


def test_without_a_budget_nothing_is_split() -> None:
    config = ServiceConfig(change_intervals=DECLARED.change_intervals)
    assert parts_of(BOTH, ("tweet",), config).link is None
    assert parts_of(SUM, ("tweet",), config).outer is None


def test_other_patterns_are_one_part() -> None:
    optional = LeftJoin(BGP((MENTIONS,)), BGP((FOLLOWERS,)))
    assert parts_of(optional, ("tweet",), DECLARED).link is None


def test_a_changing_part_that_joins_with_the_window_itself_is_not_split() -> None:
    """?n is joined on too: asking for users alone would fetch rows that no window row wants."""
    assert parts_of(BOTH, ("tweet", "n"), DECLARED).link is None


def test_a_changing_part_that_shares_nothing_is_not_split() -> None:
    apart = BGP((MENTIONS, TriplePattern(Variable("x"), IRI("http://e/followers"), Variable("n"))))
    assert parts_of(apart, ("tweet",), DECLARED).link is None


def test_only_variables_of_the_pattern_are_keys() -> None:
    assert parts_of(BGP((FOLLOWERS,)), ("tweet", "user"), DECLARED).value.key == ("user",)


def test_an_aggregate_is_taken_apart_below_its_groups() -> None:
    parts = parts_of(SUM, ("tweet",), DECLARED)
    assert parts.outer == SUM
    assert parts.link is not None and parts.link.key == ("tweet",)


def test_a_variable_that_is_no_group_key_cannot_restrict() -> None:
    """?sum is known only after grouping."""
    assert parts_of(SUM, ("sum",), DECLARED).link is not None
    assert parts_of(SUM, ("sum",), DECLARED).link.key == ()


def test_a_limit_must_see_all_groups() -> None:
    parts = parts_of(Slice(Distinct(SUM), 0, 3), ("tweet",), DECLARED)
    assert parts.link is not None and parts.link.key == ()
