"""What is kept of streams: dropped once no window shows it, and the same after a restart."""

from __future__ import annotations

import numpy as np
import pytest

from kernel.windows.test_window import window
from weir.errors import CheckpointError
from weir.kernel.windows.evaluation_times import Clock
from weir.kernel.windows.instants import Instants
from weir.kernel.windows.stream_state import Streams, dump, load, table_rows, tables
from weir.language.algebra.query import Semantics


def kept() -> tuple[Streams, Clock]:
    """Messages at 0, 2 and 5 in a window of 3, with one pattern whose triples are live."""
    made = window(width=3, changes=True)
    streams = Streams()
    streams.arrivals["urn:s"], streams.windows["w"] = made.arrivals, made
    triples = streams.triples_for(made, ("s", "p", "o", None), (), once=False)
    triples.add([np.array([7, 8, 9])] * 3 + [np.array([0, 2, 5])])
    streams.seal()
    return streams, Clock((made,), (("urn:s", made.arrivals),), Semantics())


def test_rows_that_no_later_instant_shows_are_dropped() -> None:
    streams, _ = kept()
    at = Instants(np.array([5]), np.ones(1, np.bool_))
    streams.release({"w": streams.windows["w"].hull(at)}, 5)
    (triples,) = streams.triples.values()
    assert triples.rows.column(0).tolist() == [9]
    assert streams.arrivals["urn:s"].times.tolist() == [5]


def test_a_state_is_read_by_the_same_query() -> None:
    streams, clock = kept()
    list(clock.chunks(6, end=False))
    state = dump(streams, clock, 6, False)
    other, later = kept()
    assert load(state, other, later) == (6, False)
    assert (later.cursor, later.last) == (clock.cursor, clock.last)
    assert tables(other) == tables(streams)
    for table, (first, end) in tables(streams).items():
        for mine, theirs in zip(
            table_rows(streams, table, first, end), table_rows(other, table, first, end), strict=True
        ):
            assert mine.tolist() == theirs.tolist()


def test_a_state_of_another_query_is_refused() -> None:
    streams, clock = kept()
    with pytest.raises(CheckpointError, match="another query"):
        load(dump(streams, clock, 6, False), Streams(), clock)
