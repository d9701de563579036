"""Totals that are kept, against the set functions over the rows of the moment: every aggregate, any terms."""

from __future__ import annotations

import numpy as np
import pytest

from bags import bag_at, relation_of
from kernel.operators.test_group_by import DICTIONARY, INTEGERS, POOLS, TERMS, slow_group
from weir.kernel.operators.group_by import Group, Measure
from weir.kernel.operators.inputs.input import Present, unsteady
from weir.kernel.operators.operator import Operator
from weir.kernel.operators.running_totals import Groups, Makers, has_totals
from weir.kernel.relations.relation import Relation
from weir.kernel.windows.instants import Instants
from weir.language.algebra.expressions import Aggregate, Aggregation
from weir.rdf.columns import Ids
from weir.rdf.terms import XSD, Literal, Variable

KEPT = [each for each in Aggregation if each is not Aggregation.GROUP_CONCAT]
TIMES = 60


class Rows(Operator):
    """Rows whose intervals are of times, seen at the instants of the moment."""

    linear = True
    variables = ("k", "v")

    def __init__(self, rows: Relation, present: Present) -> None:
        self.rows, self.present = rows, present

    def run(self) -> Relation:
        at = self.present.at.time
        start, end = at.searchsorted(self.rows.start), at.searchsorted(self.rows.end)
        return self.rows.during(start, end).take(np.flatnonzero(start < end))

    def changes(self) -> Relation:
        return unsteady(self.run(), len(self.present))

    def within(self, seed: Relation, key: str) -> Relation:
        raise NotImplementedError


def grouping(rows: Relation, keys: tuple[str, ...], *specs: Aggregate) -> Group:
    present = Present(_instants(np.zeros(1, np.int64)))
    measures = [Measure(f"n{place}", spec, "v") for place, spec in enumerate(specs)]
    return Group(Rows(rows, present), keys, measures, present, TERMS)


def _instants(times: Ids) -> Instants:
    return Instants(times, np.ones(len(times), np.bool_))


def random_rows(pool: int, seed: int, count: int = 150) -> Relation:
    random = np.random.default_rng(seed)
    ids = [0, *(DICTIONARY.encode(term) for term in POOLS[pool])] if seed % 2 else None
    ids = ids or [DICTIONARY.encode(term) for term in POOLS[pool]]
    start = random.integers(0, TIMES, count)
    rows = zip(
        zip(random.integers(1, 4, count).tolist(), random.choice(ids, count).tolist(), strict=True),
        start.tolist(),
        (start + random.integers(1, 20, count)).tolist(),
        strict=True,
    )
    return relation_of(("k", "v"), list(rows), ("v",))


@pytest.mark.parametrize("keys", [(), ("k",)])
@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("function", KEPT)
@pytest.mark.parametrize("pool", range(len(POOLS)))
def test_changes_are_those_of_the_rows(
    pool: int, function: Aggregation, distinct: bool, keys: tuple[str, ...]
) -> None:
    """Groups that are told to change do so, and all others are as they were."""
    rows = random_rows(pool, pool + 7 * distinct)
    spec = Aggregate(function, Variable("v"), distinct=distinct)
    made = grouping(rows, keys, spec)
    random, last, kept = np.random.default_rng(pool), 0, 0
    while last < TIMES + 25:
        ahead = np.cumsum(random.integers(1, 3, random.integers(1, 5)))
        times = np.append(last, last + ahead)
        made.present.at, made.present.follows, last = _instants(times), True, int(times[-1])
        found = made.changes()
        kept += made._groups is not None
        bags = [slow_group(bag_at(rows, time), keys, spec, False) for time in times.tolist()]
        shown = [bag_at(found, index) for index in range(len(times))]
        named = [{frozenset((name[:1], id) for name, id in row) for row in bag} for bag in shown]
        for index in range(1, len(times)):
            before, now = bags[index - 1], bags[index]
            assert set(now - before) == named[index] - named[index - 1]
            assert set(before - now) == named[index - 1] - named[index]
    assert kept > 5


def test_totals_are_given_up_where_time_does_not_follow() -> None:
    rows = random_rows(0, 1)
    made = grouping(rows, ("k",), Aggregate(Aggregation.SUM, Variable("v")))
    for times in ([0, 1], [1, 2], [2, 3]):
        made.present.at, made.present.follows = _instants(np.array(times)), True
        made.changes()
    assert made._groups is not None
    made.present.at = _instants(np.array([30, 31]))
    found = made.changes()
    assert bag_at(found, 1) == bag_at(made.run(), 1)
    made.forget()
    made.present.at = _instants(np.array([31, 32]))
    assert bag_at(made.changes(), 1) == bag_at(made.run(), 1)


def test_a_group_comes_changes_and_goes() -> None:
    """Of indices 0 to 3 there are two rows at 1, one of them at 2, none at 3."""
    two, three = (DICTIONARY.encode(term) for term in (INTEGERS[0], INTEGERS[4]))
    rows = relation_of(("k", "v"), [((1, two), 1, 3), ((1, three), 1, 2)])
    spec = Aggregate(Aggregation.SUM, Variable("v"))
    groups = Groups(("k",), ["v"], Makers([spec], TERMS))
    ((key, values),) = groups.changes(rows, 4)
    assert key == (1,)
    assert [index for index, _ in values] == [0, 1, 2, 3]
    sums = [None if some is None else DICTIONARY.decode(some[0]) for _, some in values]
    assert sums == [None, Literal("4", XSD + "integer"), Literal("1", XSD + "integer"), None]


def test_some_aggregates_keep_no_totals() -> None:
    concatenated = Aggregate(Aggregation.GROUP_CONCAT, Variable("v"))
    assert not has_totals(concatenated)
    assert not grouping(random_rows(0, 0), ("k",), concatenated).linear
    assert not has_totals(Aggregate(Aggregation.COUNT, distinct=True))
