"""Table 1 of the paper, constraint by constraint, and the constraints of Figure 2."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.matching.constraints import constraints

# Variables 0, 1 are shared; −1 is a constant; others occur once.
TABLE_1 = {
    "SS": ((0, -1, -1), (0, -1, -1)),
    "PP": ((-1, 0, -1), (-1, 0, -1)),
    "OO": ((-1, -1, 0), (-1, -1, 0)),
    "SO": ((0, -1, -1), (-1, -1, 0)),
    "OS": ((-1, -1, 0), (0, -1, -1)),
    "SSPP": ((0, 1, -1), (0, 1, -1)),
    "SSOO": ((0, -1, 1), (0, -1, 1)),
    "PPOO": ((-1, 0, 1), (-1, 0, 1)),
    "SOPP": ((0, 1, -1), (-1, 1, 0)),
    "OSPP": ((-1, 1, 0), (0, 1, -1)),
}
CHECKS = {
    "SS": lambda a, b: a[0] == b[0],
    "PP": lambda a, b: a[1] == b[1],
    "OO": lambda a, b: a[2] == b[2],
    "SO": lambda a, b: a[0] == b[2],
    "OS": lambda a, b: a[2] == b[0],
    "SSPP": lambda a, b: a[0] == b[0] and a[1] == b[1],
    "SSOO": lambda a, b: a[0] == b[0] and a[2] == b[2],
    "PPOO": lambda a, b: a[1] == b[1] and a[2] == b[2],
    "SOPP": lambda a, b: a[0] == b[2] and a[1] == b[1],
    "OSPP": lambda a, b: a[2] == b[0] and a[1] == b[1],
}


@pytest.mark.parametrize("name", TABLE_1)
def test_constraint_of_table_1_is_found_and_named(name):
    (found,) = constraints(TABLE_1[name])
    assert found.name == name


@pytest.mark.parametrize("name", TABLE_1)
def test_constraint_of_table_1_checks_what_the_table_says(name):
    (found,) = constraints(TABLE_1[name])
    triples = np.array([(s, p, o) for s in (1, 2) for p in (1, 2) for o in (1, 2)])
    left, right = np.repeat(triples, 8, axis=0), np.tile(triples, (8, 1))
    expected = [CHECKS[name](a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    assert found.holds(left.T, right.T).tolist() == expected


def test_figure_2():
    #      (?x1, b, c)   (?x1, d, e)
    q1 = ((0, -1, -1), (0, -1, -1))
    #      (?x2, b, c)   (?x2, d, e)   (a, d, ?x2)
    q2 = ((0, -1, -1), (0, -1, -1), (-1, -1, 0))
    assert [str(c) for c in constraints(q1)] == ["m1m2 → SS"]
    assert [str(c) for c in constraints(q2)] == ["m1m2 → SS", "m1m3 → SO", "m2m3 → SO"]


def test_three_shared_variables_are_one_constraint():
    (found,) = constraints(((0, 1, 2), (0, 1, 2)))
    assert found.name == "SSPPOO"


def test_a_predicate_may_join_a_subject():
    (found,) = constraints(((0, 1, -1), (1, -1, 2)))
    assert found.name == "PS"


def test_a_variable_twice_in_one_pattern_constrains_that_pattern():
    found = constraints(((0, -1, 0), (0, -1, 1)))
    assert [str(c) for c in found] == ["m1m1 → SO", "m1m2 → OSSS"]


def test_patterns_without_a_shared_variable_have_no_constraint():
    assert constraints(((0, -1, 1), (2, -1, 3))) == ()
