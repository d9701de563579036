"""Badge readings: people in rooms, as lines of a stream."""

from __future__ import annotations

import numpy as np


def readings(triples: int, seed: int = 1) -> bytes:
    """Lines of badge readings: 20,000 people in 500 rooms."""
    chance = np.random.default_rng(seed)
    times = 1_500_000_000_000 + np.cumsum(chance.integers(1, 3, triples))
    people, rooms = chance.integers(20_000, size=triples), chance.integers(500, size=triples)
    columns = zip(times.tolist(), people.tolist(), rooms.tolist(), strict=True)
    head = "<http://example.org/"
    return "".join(f"{t}\t{head}person/{p}> {head}in> {head}room/{r}> .\n" for t, p, r in columns).encode()
