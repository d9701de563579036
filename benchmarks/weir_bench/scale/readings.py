"""Badge readings: people in rooms, as lines of a stream."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

BEGIN = 1_500_000_000_000
"""ms of the first reading of a crowd."""


def readings(triples: int, seed: int = 1) -> bytes:
    """Lines of badge readings: 20,000 people in 500 rooms, one at a time."""
    chance = np.random.default_rng(seed)
    return _lines(BEGIN + np.cumsum(chance.integers(1, 3, triples)), 20_000, chance)


def crowd(triples: int, milliseconds: int, after: int = 0) -> bytes:
    """Readings of a million people within so much time, ``after`` ms: those of one ms are a message."""
    chance = np.random.default_rng(1 + after)
    return _lines(BEGIN + after + np.arange(triples) * milliseconds // triples, 1_000_000, chance)


def hot(triples: int, milliseconds: int) -> bytes:
    """A crowd of which every second one is in the same room."""
    lines = crowd(triples, milliseconds).splitlines(keepends=True)
    lines[::2] = [line[: line.rindex(b"/")] + b"/0> .\n" for line in lines[::2]]
    return b"".join(lines)


def _lines(times: Iterable[int], people: int, chance: np.random.Generator) -> bytes:
    times = np.asarray(times)
    who, rooms = chance.integers(people, size=len(times)), chance.integers(500, size=len(times))
    columns = zip(times.tolist(), who.tolist(), rooms.tolist(), strict=True)
    head = "<http://example.org/"
    return "".join(f"{t}\t{head}person/{p}> {head}in> {head}room/{r}> .\n" for t, p, r in columns).encode()
