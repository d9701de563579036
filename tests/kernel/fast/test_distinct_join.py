"""The last join of a flow with its distinct answers: the compiled loop and the arrays say what a set says."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import thorough
from weir.kernel.fast import distinct_join as compiled
from weir.testing import Scenario

Row = tuple[int, int, int, int]


Values = list[tuple[int, int]]


@st.composite
def flows(draw: st.DrawFn) -> tuple[list[Row], Values]:
    """Rows of (owner, key, low, high), owners and ends ascending, and (key, number) by position."""
    values = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=20))
    many = draw(st.integers(1, 12))
    places = st.lists(st.integers(0, len(values)), min_size=many, max_size=many).map(sorted)
    owners = draw(st.lists(st.integers(0, 6), min_size=many, max_size=many).map(sorted))
    keys = draw(st.lists(st.integers(0, 4), min_size=many, max_size=many))
    return list(zip(owners, keys, draw(places), draw(places), strict=True)), values


def expected(rows: list[Row], values: Values) -> set[tuple[int, int]]:
    return {
        (owner, values[place][1])
        for owner, key, low, high in rows
        for place in range(low, high)
        if values[place][0] == key
    }


@thorough
@given(flows(), st.randoms(use_true_random=False))
def test_sliding_over_a_window_finds_every_combination_once(
    drawn: tuple[list[Row], Values], dice: Random
) -> None:
    rows, values = drawn
    owner, probe, low, high = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    key, number = np.array(values, np.int64).reshape(-1, 2).T.copy()
    # Rows lie in any order; what they are walked in is that of their owners.
    places = np.array(dice.sample(range(len(rows)), len(rows)))
    order = np.argsort(places)
    owners, codes = compiled.sliding_pairs(
        order, probe[places], low[places], high[places], owner[places], key, number, 6
    )
    found = list(zip(owners.tolist(), codes.tolist(), strict=True))
    assert len(found) == len(set(found))
    assert set(found) == expected(rows, values)
    assert owners.tolist() == sorted(owners.tolist())


def test_more_keys_and_pairs_than_there_is_room_for_at_first() -> None:
    keys = np.arange(3000) % 1500
    rows = np.arange(40)
    end = np.full(40, 3000)
    owners, numbers = compiled.sliding_pairs(
        rows, np.arange(40) * 30, np.zeros(40, np.int64), end, rows, keys, np.arange(3000), 3000
    )
    assert sorted(zip(owners.tolist(), numbers.tolist(), strict=True)) == sorted(
        (row, place) for row in range(40) for place in (30 * row, 30 * row + 1500)
    )


@thorough
@given(st.lists(st.integers(-3, 3)))
def test_values_are_numbered_as_they_come(values: list[int]) -> None:
    numbers, firsts = compiled.numbered(np.array(values, np.int64))
    distinct = list(dict.fromkeys(values))
    assert numbers.tolist() == [distinct.index(value) for value in values]
    assert firsts.tolist() == [values.index(value) for value in distinct]


def test_many_values_are_numbered() -> None:
    values = np.arange(5000) * 7 % 4001
    numbers, firsts = compiled.numbered(values)
    assert (values[firsts][numbers] == values).all() and len(firsts) == 4001


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_a_part_below_that_stays_is_met_by_what_comes(evaluator: str) -> None:
    """time      1    2    3    4
    q         a                      of the sub-select, there from 1 s on
    p              a         a       each is new
    """
    text = (
        "PREFIX : <urn:> REGISTER ISTREAM <out> AS CONSTRUCT { ?x :r ?z } FROM NAMED WINDOW <w> ON <s> "
        "[ALL REPORT CONTENT CHANGE TICK CHANGE] PREVIOUS INSTANT "
        "WHERE { WINDOW <w> { ?x :p ?z . { SELECT ?x WHERE { ?x :q :c } } } }"
    )
    lines = (
        "1000\t<urn:a> <urn:q> <urn:c> .\n2000\t<urn:a> <urn:p> <urn:y> .\n4000\t<urn:a> <urn:p> <urn:z> .\n"
    )
    found = Scenario(text, evaluator=evaluator).run([lines], "s")
    assert [line["at"][17:19] for line in found] == ["02", "04"]


def test_rows_that_see_nothing_have_no_pairs() -> None:
    none, far = np.zeros(1, np.int64), np.array([3])
    owners, numbers = compiled.sliding_pairs(none, none, far, none, none, np.zeros(3, np.int64), none, 1)
    assert not len(owners) and not len(numbers)
