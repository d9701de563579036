"""The instants of a slab: what the indices of its relations stand for.

An index is an evaluation time, or an instant that only serves as "before" one. Difference operators
compare index k with k−1, so the instants are laid out such that what comes before an evaluation is
always the index before it:

    PREVIOUS EVALUATION   last | τ1 | τ2 | τ3 …            index 0 is the last one already evaluated
    PREVIOUS INSTANT      τ1−1 | τ1 | τ2−1 | τ2 …
    RSTREAM               τ1 | τ2 | τ3 …
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weir.rdf.columns import Ids, Mask

LOWEST = -(1 << 62)
HIGHEST = 1 << 62
BEFORE, AFTER = -1, -2
"""Causes of a sub-instant that are no message: before, or after, all messages of its time."""


@dataclass(frozen=True, slots=True)
class Sub:
    """Under the tuple-driven tick a time has sub-instants (decision semantics-time, 21).

    ``cause`` is the position of the stream whose message made the instant, or BEFORE or AFTER;
    ``upto`` gives for each stream how many of its messages are in.
    """

    cause: Ids
    upto: Mapping[str, Ids]


@dataclass(frozen=True, slots=True)
class Instants:
    """``time`` never falls; ``emitted`` marks the evaluations.

    ``void`` says that index 0 lies before everything: no evaluation came before the first.
    """

    time: Ids
    emitted: Mask
    void: bool = False
    sub: Sub | None = None

    def __len__(self) -> int:
        return len(self.time)
