"""Who wants what a machine matches: slots, shares of slots, and the texts that go along."""

from __future__ import annotations

import numpy as np

from weir.plan.analysis.shares import share
from weir.runtime.ingest.pools import Entry, Pool, Table

POOL = ("s", False)
NO_TEXT, SUBJECT, OBJECT = [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]


def entry(slots: tuple[int, ...], by: int | None, machine: int, texts: list[int]) -> Entry:
    return Entry(POOL, slots, by, np.array([machine]), np.array([texts]))


def pairs(table: Table, machines: list[int], subjects: list[int]) -> list[tuple[int, int, int]]:
    column = np.array(subjects, np.int64)
    slot, row, bits = table.dealt(
        np.arange(len(machines)), np.array(machines, np.int64), [column, column, column]
    )
    return sorted(zip(slot.tolist(), row.tolist(), bits.tolist(), strict=True))


def test_a_row_goes_to_every_slot_that_wants_it() -> None:
    entries = [entry((0,), None, 3, SUBJECT), entry((2,), None, 3, NO_TEXT), entry((1,), None, 5, OBJECT)]
    table = Table.of(entries, 6, 3, {})
    assert pairs(table, [3, 5], [7, 8]) == [(0, 0, 1), (1, 1, 4), (2, 0, 0)]


def test_a_split_query_wants_a_row_in_one_slot() -> None:
    ids = list(range(1, 40))
    table = Table.of([entry((0, 1, 2), 0, 0, SUBJECT)], 1, 3, {})
    found = pairs(table, [0] * len(ids), ids)
    assert sorted(row for _, row, _ in found) == list(range(len(ids)))
    assert all(share([np.array([ids[row]])], 0, 3)[0] == slot for slot, row, _ in found)


def test_queries_may_be_split_over_different_numbers_of_slots() -> None:
    entries = [entry((0, 1), 0, 0, SUBJECT), entry(tuple(range(5)), 2, 0, OBJECT)]
    found = pairs(Table.of(entries, 1, 5, {}), [0], [12345])
    id_ = np.array([12345])
    assert found == sorted([(int(share([id_], 0, 2)[0]), 0, 1), (int(share([id_], 0, 5)[0]), 0, 4)])


def test_what_several_queries_of_a_slot_need_comes_once() -> None:
    table = Table.of([entry((1,), None, 0, SUBJECT), entry((1,), None, 0, OBJECT)], 1, 2, {})
    assert pairs(table, [0], [9]) == [(1, 0, 5)]


def test_slots_that_are_alike_are_one() -> None:
    table = Table.of([entry((0, 1, 2), None, 0, NO_TEXT)], 1, 3, {0: 0, 1: 0, 2: 0})
    assert pairs(table, [0], [9]) == [(0, 0, 0)]


def test_a_pool_without_patterns_matches_nothing() -> None:
    assert len(Pool().matcher) == 0
    assert pairs(Table.of([], 0, 2, {}), [], []) == []
