"""Which slot a row belongs to, where a query is split by a term: of streams, and of static graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weir.plan.analysis.split import WHOLE_TRIPLE
from weir.rdf.columns import Ids

_MIXERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)


def share(quads: Sequence[Ids], place: int, slots: int, rows: Ids | slice = slice(None)) -> Ids:
    """The slot that each of the rows belongs to, where a query is split over ``slots`` by a place or by all
    three."""
    places = (0, 1, 2) if place == WHOLE_TRIPLE else (place,)
    mixed = np.zeros(len(quads[0][rows]), np.uint64)
    for mixer, each in zip(_MIXERS, places, strict=False):
        mixed += quads[each][rows].view(np.uint64) * np.uint64(mixer)
    return ((mixed >> np.uint64(33)) % np.uint64(slots)).astype(np.int64)


EVERYWHERE = -1


def share_by_predicate(quads: Sequence[Ids], places: Mapping[int, int | None], slots: int) -> Ids:
    """The same where the id of a predicate decides the place; ``EVERYWHERE`` where all slots get a triple."""
    found = np.full(len(quads[0]), EVERYWHERE)
    for predicate, place in places.items():
        if place is not None:
            rows = np.flatnonzero(quads[1] == predicate)
            found[rows] = share(quads, place, slots, rows)
    return found
