"""The operators of the algebra on multisets of solutions."""

from __future__ import annotations

from weir.kernel.reference.multisets import compatible, difference, distinct, join, minus, partners, slice_
from weir.language.algebra.patterns import BGP, OrderBy, Slice
from weir.rdf.terms import IRI

A, B, C = IRI("a"), IRI("b"), IRI("c")


def test_solutions_are_compatible_where_they_agree_on_what_both_bind():
    assert compatible({"x": A}, {"x": A, "y": B})
    assert compatible({"x": A}, {"y": B})
    assert not compatible({"x": A, "y": B}, {"x": A, "y": C})


def test_join_multiplies_cardinalities():
    assert join([{"x": A}, {"x": A}], [{"x": A, "y": B}, {"x": A, "y": B}]) == [{"x": A, "y": B}] * 4


def test_an_unbound_variable_joins_with_anything():
    assert join([{}], [{"x": A}, {"x": B}]) == [{"x": A}, {"x": B}]
    assert partners([{"x": A}, {}], [{"x": B}])({}) == [{"x": B}]


def test_minus_takes_away_only_what_shares_a_variable():
    assert minus([{"x": A}], [{"y": A}]) == [{"x": A}]
    assert minus([{"x": A}, {"x": B}], [{"x": A, "y": C}]) == [{"x": B}]


def test_difference_takes_the_earlier_of_equal_solutions():
    assert difference([{"x": A}, {"x": B}, {"x": A}], [{"x": A}]) == [{"x": B}, {"x": A}]


def test_distinct_keeps_the_first_of_each():
    assert distinct([{"x": B}, {"x": A}, {"x": B}]) == [{"x": B}, {"x": A}]


def test_a_slice_is_of_the_canonical_order_unless_there_is_another():
    solutions = [{"x": C}, {"x": A}, {"x": B}]
    assert slice_(Slice(BGP(()), 1, 1), solutions) == [{"x": B}]
    assert slice_(Slice(OrderBy(BGP(()), ()), 1, 1), solutions) == [{"x": A}]
