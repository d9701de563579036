"""Many rows at once are kept as they are one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weir.kernel.windows import live_triples as module
from weir.kernel.windows.live_triples import Keeping, LiveTriples


def kept(monkeypatch: pytest.MonkeyPatch, many: int, seed: int, keeping: Keeping) -> list[Any]:
    """What a track holds after each of some additions and drops, where ``many`` rows are many."""
    monkeypatch.setattr(module, "_MANY", many)
    dice = np.random.default_rng(seed)
    track = LiveTriples(("s", 5, "o", None), ("time",), keeping)
    out = []
    for turn in range(12):
        count = int(dice.integers(0, 40))
        if count:
            track.add([dice.integers(0, 4, count), dice.integers(0, 4, count), np.arange(count) + 100 * turn])
        if len(track.rows) > 5 and dice.random() < 0.5:
            track.drop(int(dice.integers(0, len(track.rows))))
        columns = [track.rows.column(place).tolist() for place in range(len(track.rows.names))]
        out.append((track.rows.first, columns, track.superseded))
    return out


@pytest.mark.parametrize("keeping", [Keeping.LATEST, Keeping.FIRST])
def test_many_rows_are_kept_as_one_by_one(monkeypatch: pytest.MonkeyPatch, keeping: Keeping) -> None:
    for seed in range(60):
        alone = kept(monkeypatch, 10**9, seed, keeping)
        assert kept(monkeypatch, 1, seed, keeping) == alone
        assert kept(monkeypatch, 8, seed, keeping) == alone


@pytest.mark.parametrize(
    ("keeping", "subjects", "superseded"),
    [(Keeping.BAG, [1, 2, 1], 0), (Keeping.LATEST, [1, 2, 1], 1), (Keeping.FIRST, [1, 2], 0)],
)
def test_rows_that_come_again(keeping: Keeping, subjects: list[int], superseded: int) -> None:
    track = LiveTriples(("s", 5, "o", None), ("time",), keeping)
    track.add([np.array([1, 2, 1]), np.array([7, 7, 7]), np.array([10, 20, 30])])
    assert track.rows.column(track.place("s")).tolist() == subjects
    assert track.coordinate("time").tolist() == [10, 20, 30][: len(subjects)]
    assert track.superseded == superseded
