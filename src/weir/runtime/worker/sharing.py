"""Queries of a slot that are evaluated together: seats at a hub (``kernel.matching``).

Where many conjunctive queries are registered, or many that differ in constants alone, each gets no evaluator
of its own but a seat at the hub of those that read its stream as it does. The hub is advanced once a step
for all, and its state is kept once, whoever comes and goes. In metrics the one with the least name speaks for
all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weir.errors import UsageError
from weir.kernel.contract import Answers, Background, Slab
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.matching.shared import SharedAnswers, SharedEvaluator, SlabOf
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import BGP, Graph, PathPattern, Window
from weir.language.algebra.query import Query
from weir.language.algebra.windows import TickKind
from weir.plan.analysis.conjunctions import conjunction
from weir.plan.analysis.demand import Reading
from weir.plan.analysis.templates import Shape, instance
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary

SHARED = "shared"
"""The evaluator of a registration that has a seat."""

MANY = 16
"""From this many queries on sharing pays for the compiled loops that it loads."""


def shareable(query: Query) -> bool:
    """Whether a query may be evaluated with others."""
    return why_alone(query) is None


def why_alone(query: Query) -> str | None:
    """Why a query cannot be evaluated with others, None where it can: it then sees nothing but one named
    window, batch by batch."""
    found = conjunction(query)
    if isinstance(found, str):
        return found
    if found.window.in_default:
        return "its patterns may match static triples"
    if found.window.semantics.tick.kind is not TickKind.BATCH:
        return "it is evaluated at every message"
    return None if ConjunctiveSet.covers(found.window) else "its window goes back in time"


def shape_of(query: Query) -> Shape | str:
    """What a query has in common with others that it may be evaluated with though it is no conjunction, or
    why it may not: it then sees nothing but named windows on one stream, batch by batch."""
    windows = query.dataset.windows
    if not windows or len(query.streams) != 1 or not isinstance(windows[0].stream, str):
        return "it does not read one stream"
    if any(window.in_default for window in windows):
        return "its patterns may match static triples"
    if any(window.semantics.tick.kind is not TickKind.BATCH for window in windows):
        return "it is evaluated at every message"
    if any(isinstance(node, (BGP, PathPattern, Graph)) for node in walk(query.pattern, closed=(Window,))):
        return "it reads static graphs"
    found = instance(query)
    return found if isinstance(found, str) else found.shape


def alike(queries: Mapping[str, Query]) -> set[str]:
    """Those of the queries that have the shape of at least ``MANY`` of them, so that sharing pays."""
    shapes: dict[Shape, list[str]] = {}
    for name, query in queries.items():
        shape = shape_of(query)
        if isinstance(shape, Shape):
            shapes.setdefault(shape, []).append(name)
    return {
        name
        for names in shapes.values()
        if len(names) >= MANY and _covered([queries[each] for each in names[:2]])
        for name in names
    }


def _covered(queries: Sequence[Query]) -> bool:
    """Whether the evaluator of a template takes ids alone: seats bring no more texts than results need."""
    shared = SharedEvaluator(Background(), Dictionary(), choice="interval")
    shared.add({str(number): query for number, query in enumerate(queries)})
    try:
        return all(template.alone is None for template in shared.templates)
    except UsageError:
        return False


class Hub:
    """The queries that read one stream with one lateness and AHEAD."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.evaluator = SharedEvaluator(Background(), dictionary)
        self.names: set[str] = set()
        self._speaker: str | None = None

    @property
    def speaker(self) -> str | None:
        """Whose seat speaks for all."""
        if self._speaker is None and self.names:
            self._speaker = min(self.names)
        return self._speaker

    def join(self, seat: Seat) -> None:
        """One query more."""
        self.evaluator.add({seat.name: seat.query}, seat.since)
        self.names.add(seat.name)
        self._speaker = None

    def leave(self, seat: Seat) -> None:
        """One query less."""
        self.evaluator.drop([seat.name])
        self.names.discard(seat.name)
        self._speaker = None

    def advance(self, slab_of: SlabOf, settled: int) -> SharedAnswers:
        """Evaluate for all; see ``SharedEvaluator.advance``."""
        return self.evaluator.advance(slab_of, settled)


@dataclass(slots=True)
class Seat:
    """A query's place at a hub, behind the ``Evaluator`` protocol as far as metrics go."""

    name: str
    query: Query
    since: int
    hub: Hub | None = None

    def join(self, hub: Hub) -> None:
        """Sit down."""
        self.hub = hub
        hub.join(self)

    def leave(self) -> None:
        """Stand up; the hub goes on without."""
        if self.hub is not None:
            self.hub.leave(self)
            self.hub = None

    @property
    def _speaks(self) -> SharedEvaluator | None:
        """The hub's evaluator, where this seat speaks for all."""
        if self.hub is None or self.name != self.hub.speaker:
            return None
        return self.hub.evaluator

    def advance(self, slab: Slab) -> Answers:
        """A seat has no answers of its own."""
        raise RuntimeError(f"query {self.name!r} is evaluated with others")

    def snapshot(self) -> bytes:
        """A seat has no state of its own."""
        return b""

    def restore(self, state: bytes) -> None:
        """Nothing: the hub has the state."""

    def renew(self, background: Background) -> None:
        """Nothing: queries that are evaluated together read no static graphs."""

    def statistics(self) -> Mapping[str, Any]:
        speaks = self._speaks
        return {} if speaks is None else speaks.statistics()

    def live_ids(self) -> Ids:
        speaks = self._speaks
        return np.empty(0, np.int64) if speaks is None else speaks.live_ids()


@dataclass(slots=True)
class Hubs:
    """The hubs of a group, by how they read their stream."""

    dictionary: Dictionary
    found: dict[Reading, Hub] = field(default_factory=dict)

    def seat(self, seat: Seat, reading: Reading) -> None:
        """Give a query its place."""
        hub = self.found.get(reading)
        if hub is None:
            hub = self.found[reading] = Hub(self.dictionary)
        seat.join(hub)

    def leave(self, seat: Seat) -> None:
        """Take a query's place away; a hub without queries goes."""
        seat.leave()
        self.found = {reading: hub for reading, hub in self.found.items() if hub.names}

    def __iter__(self) -> Iterator[tuple[Reading, Hub]]:
        return iter(self.found.items())
