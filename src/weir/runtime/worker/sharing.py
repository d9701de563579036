"""Queries of a slot that are evaluated together (``kernel.matching``), and which queries may be.

Where many conjunctive queries are registered, or many that differ in constants alone, none gets an evaluator
of its own: one evaluator is advanced once a step for all that read a stream alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.errors import UsageError
from weir.kernel.contract import Answers, Background, Slab
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.matching.shared import SharedEvaluator
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import BGP, Graph, PathPattern, Window
from weir.language.algebra.query import Query
from weir.language.algebra.windows import TickKind
from weir.plan.analysis.conjunctions import conjunction
from weir.plan.analysis.templates import Shape, instance
from weir.plan.analysis.ticks import looking
from weir.rdf.ids.dictionary import Dictionary

SHARED = "shared"
"""The evaluator of a registration whose query is evaluated with others."""

MANY = 16
"""From this many queries on sharing pays for the compiled loops that it loads."""


_OFTEN = "it is not evaluated batch by batch"


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
        return _OFTEN
    return None if ConjunctiveSet.covers(found.window) else "its window goes back in time"


def shape_of(query: Query) -> Shape | str:
    """What a query has in common with others that it may be evaluated with though it is no conjunction, or
    why it may not: it then sees nothing but named windows on one stream, batch by batch."""
    windows = query.dataset.windows
    if not windows or len(query.streams) != 1 or not isinstance(windows[0].stream, str):
        return "it does not read one stream"
    if any(window.in_default for window in windows):
        return "its patterns may match static triples"
    if looking(query).tick.kind is not TickKind.BATCH:
        return _OFTEN
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
    """Whether the evaluator of a template takes ids alone: texts beyond those of
    results do not come."""
    shared = SharedEvaluator(Background(), Dictionary(), choice="interval")
    shared.add({str(number): query for number, query in enumerate(queries)})
    try:
        return all(template.alone is None for template in shared.templates)
    except UsageError:
        return False


class SharedQueries:
    """The queries of a group that read one stream with one lateness and AHEAD: one evaluator advances them
    all, and its state is kept once, whichever of them come and go."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.evaluator = SharedEvaluator(Background(), dictionary)
        self.names: set[str] = set()

    def add(self, query: SharedQuery) -> None:
        """Evaluate one more query."""
        self.evaluator.add({query.name: query.query}, query.since)
        self.names.add(query.name)

    def drop(self, name: str) -> None:
        """Evaluate a query no longer."""
        self.evaluator.drop([name])
        self.names.discard(name)


@dataclass(frozen=True, slots=True)
class SharedQuery:
    """Stands for the evaluator of a query that is one of ``SharedQueries``: it has no answers, no state
    and no counters of its own."""

    name: str
    query: Query
    since: int

    def advance(self, slab: Slab) -> Answers:
        """Never called: the answers come with those of the other queries."""
        raise RuntimeError(f"query {self.name!r} is evaluated with others")

    def snapshot(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None:
        """Nothing to restore."""

    def renew(self, background: Background) -> None:
        """Nothing to renew: queries that are evaluated together read no static graphs."""

    def statistics(self) -> Mapping[str, Any]:
        return {}
