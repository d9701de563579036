"""Sums in parts: however operands are dealt, their sum is that of all of them at once."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from weir.rdf.xsd.exact_sums import ExactSum, total_of
from weir.rdf.xsd.numbers import Number, NumericKind, literal_of, to_float, total

integers = st.integers(-(2**70), 2**70).map(lambda value: Number(NumericKind.INTEGER, value))
decimals = st.decimals(-1000, 1000, places=7).map(lambda value: Number(NumericKind.DECIMAL, value))
doubles = st.floats().map(lambda value: Number(NumericKind.DOUBLE, value))
floats = st.floats(width=32).map(lambda value: Number(NumericKind.FLOAT, to_float(value)))


@given(st.lists(st.tuples(integers | decimals | doubles | floats, st.integers(0, 2)), max_size=12))
@settings(max_examples=300, deadline=None)
def test_the_sum_of_parts_is_the_sum(dealt: list[tuple[Number, int]]) -> None:
    parts = []
    for slot in range(3):
        own = total_of(ExactSum.of(number) for number, where in dealt if where == slot)
        parts.append(ExactSum.read(own.literal))
        assert parts[-1] == own or own.double != own.double or own.single != own.single
    whole = total_of(parts).number
    assert literal_of(whole) == literal_of(total(number for number, _ in dealt))


def test_a_decimal_is_promoted_before_it_is_added() -> None:
    tenth = ExactSum.of(Number(NumericKind.DECIMAL, Decimal("0.1")))
    three = tenth + tenth + tenth
    assert three.number == Number(NumericKind.DECIMAL, Decimal("0.3"))
    small = ExactSum.of(Number(NumericKind.DOUBLE, 1e-30))
    assert (three + small).number.value == 0.30000000000000004
