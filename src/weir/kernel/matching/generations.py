"""Sets of equal windows that began at different times, and when two have become one.

A query sees only messages from its first batch on, so queries that are added later start a set of their own.
As soon as nothing that is older than the younger set is alive in the elder, both show the same at every
later instant, and the elder takes the younger's queries over: nothing about anyone's results changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.rdf.ids.dictionary import Dictionary


@dataclass(slots=True)
class Generation:
    """A set and the batch from which on it sees messages.

    ``level`` is how many triples and messages the eldest set had when it last got one that this set did not
    get: whatever the eldest keeps beyond that, this set has seen too. ``own`` is how many this set had when
    it last may have got one that the eldest did not get.
    """

    set: ConjunctiveSet
    since: int
    level: tuple[int, int] = (0, 0)
    own: tuple[int, int] = (0, 0)

    @property
    def received(self) -> tuple[int, int]:
        """How many triples and messages were ready so far."""
        return self.set.arrivals.total, self.set.arrivals.messages


def raise_levels(generations: list[Generation], before: list[tuple[int, int]]) -> None:
    """After an advance: who got less than the eldest has to wait until that is gone. ``before`` is what
    each had received before it."""
    if not generations:
        return
    eldest = generations[0]
    gained = [np.subtract(each.received, had).tolist() for each, had in zip(generations, before, strict=True)]
    for each, got in zip(generations[1:], gained[1:], strict=True):
        if got != gained[0]:
            each.level = eldest.received


def absorb(generations: list[Generation], dictionary: Dictionary, settled: int) -> list[Generation]:
    """The generations after every merge that is possible now; ``dictionary`` encodes constants anew.

    Only those that began with batch ``settled`` or before can be merged: messages of earlier batches may
    still come to the eldest, which later ones must not see.
    """
    kept = [each for each in generations if len(each.set)]
    if not kept:
        return []
    if kept[0] is not generations[0]:
        for each in kept[1:]:
            each.level = kept[0].received
    eldest = kept[0]
    out = [eldest]
    for each in kept[1:]:
        if each.since <= settled and _alike(eldest, each):
            _take_over(eldest.set, each.set, dictionary)
        else:
            out.append(each)
    return out


def _alike(eldest: Generation, younger: Generation) -> bool:
    """Whether both sets will show the same from here on."""
    one, two = eldest.set, younger.set
    if one.through != two.through or one.ended or two.ended:
        return False
    if one.clock.last is None or one.clock.last.time != (two.clock.last and two.clock.last.time):
        return False
    if one.clock.tuples or one.clock.cursor != two.clock.cursor:
        return False
    if len(one.arrivals.pending.time) != len(two.arrivals.pending.time):
        return False
    if two.window.first is None or one.window.origin != two.window.origin:
        return False
    if _phase(one) != _phase(two):
        return False
    return _keeps_nothing_before(one, younger.level) and _keeps_nothing_before(two, younger.own)


def _keeps_nothing_before(each: ConjunctiveSet, level: tuple[int, int]) -> bool:
    """Whether a set has nothing left of its first so many triples and messages."""
    triples, messages = level
    fresh = not len(each.rows) or int(each.triples.coordinate("number")[0]) >= triples
    return fresh and (not len(each.arrivals.log) or each.arrivals.log.first >= messages)


def _phase(each: ConjunctiveSet) -> int:
    """Where a window that closes after every so many items stands between two closes."""
    spec = each.window.spec
    if spec.count is None or spec.step is None:
        return 0
    counted = each.arrivals.total if spec.numbered else each.arrivals.messages
    return (counted - each.window.base[spec.numbered]) % spec.step


def _take_over(elder: ConjunctiveSet, younger: ConjunctiveSet, dictionary: Dictionary) -> None:
    """The elder gets the younger's queries, and the rows that only those can use."""
    triples = elder.arrivals.total - younger.arrivals.total
    messages = elder.arrivals.messages - younger.arrivals.messages
    shift = {"sequence": messages, "number": triples}
    (first, mine), (_, theirs) = elder.triples.saved(), younger.triples.saved()
    for name, column in zip(younger.rows.names, theirs, strict=True):
        column += shift.get(name, 0)
    merged = [np.concatenate([one, two]) for one, two in zip(mine, theirs, strict=True)]
    _, chosen = np.unique(merged[elder.triples.place("number")], return_index=True)
    elder.triples.restore(first, [column[chosen] for column in merged])
    elder.add(list(younger.channels.queries.items()), dictionary)
