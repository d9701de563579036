"""Indexes on window contents are built when probes have paid for them and dropped when they no longer do."""

from __future__ import annotations

import numpy as np

from weir.kernel.windows.live_triples import Keeping, LiveTriples
from weir.kernel.windows.window_index import IndexCounts, WindowIndex

ROWS = 20_000
_ANYWHERE = (np.empty(0, np.int64), np.empty(0, np.int64))


def filled(count: int) -> LiveTriples:
    track = LiveTriples(("s", 1, "o", None), ("time",), Keeping.BAG)
    add(track, count)
    return track


def add(track: LiveTriples, count: int) -> None:
    numbers = np.arange(track.rows.end, track.rows.end + count)
    track.add([numbers % 1_000 + 1, numbers + 1, numbers])


def probe(index: WindowIndex, width: int) -> int:
    keys = np.arange(width, dtype=np.int64) % 1_000 + 1
    return len(index.matches([keys], 0, len(index.track.rows), _ANYWHERE)[0])


def test_an_index_is_built_once_probes_have_paid_for_it() -> None:
    counts = IndexCounts()
    index = WindowIndex(filled(ROWS), (0,), counts)
    found = {probe(index, 500) for _ in range(40)}
    assert found == {500 * ROWS // 1_000}
    assert (counts.built, counts.dropped) == (1, 0)
    assert counts.kept > counts.sorted


def test_a_few_probes_build_none() -> None:
    counts = IndexCounts()
    index = WindowIndex(filled(ROWS), (0,), counts)
    probe(index, 1)
    assert (counts.built, counts.kept) == (0, 0)


def test_an_index_is_dropped_when_its_upkeep_is_more_than_it_saves() -> None:
    counts = IndexCounts()
    track = filled(ROWS)
    index = WindowIndex(track, (0,), counts)
    for _ in range(40):
        probe(index, 500)
    assert (counts.built, counts.dropped) == (1, 0)
    for _ in range(40):
        track.drop(ROWS)
        add(track, ROWS)
        assert probe(index, 1) == ROWS // 1_000
    assert counts.dropped == 1
