"""Interval relations as what they mean: at each index a bag of solutions, for tests against slow statements.

A solution is a frozenset of (variable, id) pairs, bound variables only. ``WEIR_EXAMPLES`` multiplies the
number of random cases.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from weir.kernel.relations.relation import Relation

Solution = frozenset[tuple[str, int]]
Bag = Counter[Solution]

INDICES = 5

thorough = settings(
    max_examples=int(60 * float(os.environ.get("WEIR_EXAMPLES", "1"))), deadline=None, print_blob=True
)


def bag_at(relation: Relation, index: int) -> Bag:
    """The bag of solutions visible at an index."""
    bag: Bag = Counter()
    for row in range(len(relation)):
        if relation.start[row] <= index < relation.end[row]:
            bag[solution_of(relation, row)] += 1
    return bag


def solution_of(relation: Relation, row: int) -> Solution:
    return frozenset((name, int(ids[row])) for name, ids in relation.columns.items() if ids[row])


def check_well_formed(relation: Relation) -> None:
    """No empty interval, and no 0 where a column is not optional."""
    assert (relation.start < relation.end).all()
    for name, ids in relation.columns.items():
        assert len(ids) == len(relation)
        assert name in relation.optional or ids.all(), name


def check_each_index(
    result: Relation, inputs: Sequence[Relation], slow: Callable[..., Bag], indices: int = INDICES
) -> None:
    """At every index the result is what ``slow`` says of the inputs' bags."""
    check_well_formed(result)
    for index in range(indices):
        assert bag_at(result, index) == slow(*(bag_at(relation, index) for relation in inputs)), index


def relation_of(
    names: Sequence[str], rows: Sequence[tuple[Sequence[int], int, int]], optional: Sequence[str] = ()
) -> Relation:
    """A relation of (ids, start, end) rows."""
    columns = {name: np.array([row[0][place] for row in rows], np.int64) for place, name in enumerate(names)}
    start = np.array([row[1] for row in rows], np.int64)
    end = np.array([row[2] for row in rows], np.int64)
    return Relation(columns, start, end, frozenset(optional))


@st.composite
def intervals(draw: st.DrawFn, indices: int = INDICES) -> tuple[int, int]:
    start = draw(st.integers(0, indices - 1))
    return start, draw(st.integers(start + 1, indices))


@st.composite
def relations(
    draw: st.DrawFn,
    names: Sequence[str],
    *,
    ids: st.SearchStrategy[int] | None = None,
    most: int = 8,
    unbound: bool = True,
    indices: int = INDICES,
) -> Relation:
    """Random relations over few ids, so that rows meet; some columns optional."""
    values = ids if ids is not None else st.integers(1, 3)
    optional = draw(st.sets(st.sampled_from(list(names)))) if unbound and names else set()
    row = st.tuples(
        st.tuples(*(st.one_of(st.just(0), values) if name in optional else values for name in names)),
        intervals(indices),
    )
    rows = [(cells, start, end) for cells, (start, end) in draw(st.lists(row, max_size=most))]
    return relation_of(names, rows, sorted(optional))


def compatible(left: Solution, right: Solution) -> bool:
    """18.3: equal on every variable that both bind."""
    mine = dict(left)
    return all(mine.get(name, value) == value for name, value in right)


def shares(left: Solution, right: Solution) -> bool:
    """Whether some variable is bound in both."""
    return bool({name for name, _ in left} & {name for name, _ in right})


def slow_join(left: Bag, right: Bag) -> Bag:
    bag: Bag = Counter()
    for one, times in left.items():
        for two, more in right.items():
            if compatible(one, two):
                bag[one | two] += times * more
    return bag


def slow_left_join(left: Bag, right: Bag, passes: Callable[[Solution], bool] = lambda _: True) -> Bag:
    bag: Bag = Counter()
    for one, times in left.items():
        partners = {two: n for two, n in right.items() if compatible(one, two) and passes(one | two)}
        for two, more in partners.items():
            bag[one | two] += times * more
        if not partners:
            bag[one] += times
    return bag


def slow_minus(left: Bag, right: Bag) -> Bag:
    return Counter(
        {
            one: times
            for one, times in left.items()
            if not any(compatible(one, two) and shares(one, two) for two in right)
        }
    )


def slow_exists(left: Bag, inner: Bag, negated: bool = False) -> Bag:
    return Counter(
        {one: times for one, times in left.items() if any(compatible(one, two) for two in inner) != negated}
    )


SHAPES = st.sampled_from(
    [
        (("x",), ("x", "y")),
        (("x", "y"), ("x", "y")),
        (("x", "y"), ("y", "z")),
        (("x", "y", "z"), ("z", "y", "w")),
        (("x",), ("y",)),
        ((), ("x",)),
    ]
)


@st.composite
def two_relations(draw: st.DrawFn, unbound: bool = True) -> tuple[Relation, Relation]:
    left, right = draw(SHAPES)
    return draw(relations(left, unbound=unbound)), draw(relations(right, unbound=unbound))
