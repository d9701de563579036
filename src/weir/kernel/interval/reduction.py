"""Semi-joins on arrival: rows of a window that no static part of their join can match are left out.

In ``window ⋈ view`` a row whose shared terms do not occur in the view never has a partner. The test is one
binary search per new row and spares the join every later look at it (CQELS 4.4: filters first).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.interval.calculus import Leaf, Operator
from weir.kernel.interval.inputs import StaticInput, WindowInput
from weir.kernel.interval.keys import combine
from weir.kernel.interval.track import Accept
from weir.rdf.columns import Ids, Mask

_FEW = 8


def reduce_windows(parts: Sequence[Operator]) -> None:
    """Let the window inputs of one join look only at rows that its static parts can match."""
    inputs = [part.give() for part in parts if isinstance(part, Leaf)]
    views = [each for each in inputs if isinstance(each, StaticInput) and not each.varies]
    for window in inputs:
        if not isinstance(window, WindowInput):
            continue
        tests: list[tuple[tuple[int, ...], Ids]] = []
        for view in views:
            shared = [name for name in window.variables if name in view.variables]
            shared = [name for name in shared if name not in view.view.optional]
            if shared:
                places = tuple(window.place_of(name) for name in shared)
                tests.append((places, np.unique(combine([view.view.columns[name] for name in shared]))))
        if tests:
            window.reduce(_accepting(sorted(tests, key=lambda test: len(test[1]))))


def _accepting(tests: Sequence[tuple[tuple[int, ...], Ids]]) -> Accept:
    """Whether the keys of a row are among those of every view; a collision of keys does no harm."""

    def accept(columns: Sequence[Ids]) -> Mask:
        mask: Mask | None = None
        for places, keys in tests:
            found = _among(combine([columns[place] for place in places]), keys)
            mask = found if mask is None else mask & found
            if not mask.any():
                return mask
        assert mask is not None
        return mask

    return accept


def _among(values: Ids, keys: Ids) -> Mask:
    if len(keys) <= _FEW:
        if not len(keys):
            return np.zeros(len(values), np.bool_)
        found: Mask = values == keys[0]
        for key in keys[1:]:
            found |= values == key
        return found
    place = keys.searchsorted(values)
    np.minimum(place, len(keys) - 1, out=place)
    return np.asarray(keys[place] == values)
