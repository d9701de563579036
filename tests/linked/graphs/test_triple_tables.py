"""Tables of triples: scans, merges, indexes and semi-joins, against plain sets of triples."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weir.kernel.contract import Background, GraphTable
from weir.linked.graphs.triple_tables import (
    CLOSE,
    OPEN,
    CombinedSource,
    IndexedTable,
    PatternRows,
    TableSource,
    distinct,
    merged,
    semi_join,
    stacked,
    take,
)

Triples = list[tuple[int, int, int]]
TRIPLES = st.lists(st.tuples(*[st.integers(1, 4)] * 3), max_size=12)


def table(triples: Iterable[tuple[int, int, int]]) -> GraphTable:
    rows = np.array(list(triples), np.int64).reshape(-1, 3)
    return GraphTable(rows[:, 0], rows[:, 1], rows[:, 2])


def rows_of(found: GraphTable) -> Triples:
    return list(zip(found.subject.tolist(), found.predicate.tolist(), found.object.tolist(), strict=True))


@given(TRIPLES, st.none() | st.integers(1, 4), st.none() | st.integers(1, 4), st.none() | st.integers(1, 4))
def test_a_scan_finds_what_its_constants_allow(
    triples: Triples, subject: int | None, predicate: int | None, object: int | None
) -> None:
    source = TableSource(Background(table(triples)))
    found = source.scan(("", subject, predicate, object))
    wanted = (subject, predicate, object)
    assert rows_of(found) == [
        t for t in triples if all(w in (None, x) for w, x in zip(wanted, t, strict=True))
    ]


@given(TRIPLES, TRIPLES)
def test_merged_tables_have_equal_rows_once(one: Triples, two: Triples) -> None:
    assert rows_of(merged([table(one), table(two)])) == sorted({*one, *two})
    assert rows_of(distinct(table(one))) == sorted(set(one))


def test_a_table_without_bounds_is_there_for_ever_beside_one_with_bounds() -> None:
    plain = table([(1, 1, 1)])
    dated = GraphTable(plain.subject, plain.predicate, plain.object, np.array([3]), np.array([5]))
    both = stacked([plain, dated])
    assert both.start is not None and both.end is not None
    assert (both.start.tolist(), both.end.tolist()) == ([OPEN, 3], [CLOSE, 5])
    assert take(both, np.array([1])).start == np.array([3])


def test_combined_sources_have_their_own_names_for_graphs() -> None:
    one = TableSource(Background(table([(1, 1, 1)])))
    two = TableSource(Background(table([]), {"urn:g": table([(2, 2, 2)])}))
    both = CombinedSource([(one, {"urn:one": ""}), (two, {"urn:g": "urn:g", "": ""})])
    assert both.names() == ("urn:one", "urn:g")
    assert rows_of(both.scan(("urn:one", None, None, None))) == [(1, 1, 1)]
    assert rows_of(both.scan(("urn:g", None, None, None))) == [(2, 2, 2)]
    assert rows_of(both.scan(("urn:other", None, None, None))) == []


@given(TRIPLES, st.sets(st.integers(1, 4)))
def test_an_index_finds_rows_by_value(triples: Triples, values: set[int]) -> None:
    found = IndexedTable(table(triples)).rows_with("object", np.array(sorted(values), np.int64))
    assert found.tolist() == [row for row, triple in enumerate(triples) if triple[2] in values]


@given(TRIPLES, TRIPLES)
def test_a_semi_join_keeps_what_the_join_uses(left: Triples, right: Triples) -> None:
    """``?x ?p ?y . ?y ?q ?z``: a triple of either side stays exactly if the join uses it."""
    scan = ("", None, None, None)
    one = PatternRows(scan, IndexedTable(table(left)), {"x": "subject", "y": "object"})
    two = PatternRows(scan, IndexedTable(table(right)), {"y": "subject", "z": "object"})
    semi_join([[one], [two]])
    assert rows_of(one.selected()) == [t for t in left if any(t[2] == other[0] for other in right)]
    assert rows_of(two.selected()) == [t for t in right if any(t[0] == other[2] for other in left)]
