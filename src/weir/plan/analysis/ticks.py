"""When a query has to be looked at: where the tick CHANGE costs no more than BATCH, and which graphs count.

Under ``TICK CHANGE`` a query is evaluated whenever something enters or leaves a window, or a graph that it
reads changes. Compared with the instant before, most of these evaluations cannot bring anything: between
arrivals windows only shrink, and what grows with its windows then shrinks, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import parts, walk
from weir.language.algebra.query import R2S, Ask, Describe, Previous, Query
from weir.language.algebra.scope import required, timely, volatile
from weir.language.algebra.windows import Now, Past, Tick, TickKind, WindowDeclaration
from weir.rdf.terms import IRI


@dataclass(frozen=True, slots=True)
class Looking:
    """``tick`` is what a query's windows are looked at by; ``graphs`` says whether changes of graphs are
    evaluation times, ``reason`` why CHANGE is as good as BATCH here or why it is not."""

    tick: Tick
    graphs: bool = False
    reason: str | None = None


def looking(query: Query) -> Looking:
    """The cheapest way to look at a query that gives the same answers."""
    ticks = {window.semantics.tick for window in query.dataset.windows}
    tick = ticks.pop() if len(ticks) == 1 else Tick()
    if tick.kind is not TickKind.CHANGE:
        return Looking(tick, tick.unit is not None)
    obstacle = _obstacle(query)
    if obstacle is None and _needs_now(query):
        return Looking(Tick(), False, "every solution needs a row of a NOW window")
    obstacle = obstacle or _grows(query)
    if obstacle is not None:
        return Looking(tick, True, obstacle)
    return Looking(Tick(), True, "its answers grow with its windows, which grow at arrivals alone")


def brings_nothing_between(query: Query) -> bool:
    """Whether there are no answers to send out but at the arrivals of messages that its patterns match, while
    graphs stay as they are."""
    return _obstacle(query) is None and (_needs_now(query) or _grows(query) is None)


def at_arrivals(query: Query) -> Query:
    """The query with the tick that it is looked at by; the same but for changes of graphs."""
    tick = looking(query).tick
    if all(window.semantics.tick == tick for window in query.dataset.windows):
        return query
    windows = tuple(
        replace(window, semantics=replace(window.semantics, tick=tick)) for window in query.dataset.windows
    )
    return replace(query, dataset=replace(query.dataset, windows=windows))


def _obstacle(query: Query) -> str | None:
    """What makes every evaluation count, whatever the pattern is."""
    semantics = query.semantics
    if semantics.r2s is not R2S.ISTREAM:
        return f"{semantics.r2s.name} tells of what goes"
    if semantics.previous is not Previous.INSTANT:
        return "each evaluation is compared with the one before"
    if semantics.report_empty:
        return "evaluations without results are reported"
    return "ASK turns false when a row goes" if isinstance(query.form, Ask) else None


def _needs_now(query: Query) -> bool:
    """Whether there is no solution unless a NOW window that reports on content change shows a row."""
    now = {
        window.name
        for window in query.dataset.windows
        if isinstance(window.kind, Now) and window.semantics.report.content_change
    }
    return bool(now & required(query.pattern))


def _grows(query: Query) -> str | None:
    """Why there may be new answers between arrivals, None where there are none while graphs stay."""
    for window in query.dataset.windows:
        report = window.semantics.report
        if not report.content_change or report.window_close or report.periodic is not None:
            return "a window reports otherwise than on content change"
        if isinstance(window.kind, Past):
            return "a past window gets rows between arrivals"
    return _Monotone(query.dataset.default_windows).obstacle(query.pattern)


@dataclass(frozen=True, slots=True)
class _Monotone:
    """``default`` are the windows that are part of the default graph."""

    default: tuple[WindowDeclaration, ...]

    def obstacle(self, pattern: Any) -> str | None:
        """What may give more solutions when its windows hold less; None where nothing does."""
        match pattern:
            case a.LeftJoin(_, right, _) if self.streamed(right):
                return "OPTIONAL gives a row when its other part goes"
            case a.Minus(_, right) if self.streamed(right):
                return "MINUS gives a row when its other part goes"
            case a.Group(inner) if self.streamed(inner):
                return "groups change when rows go"
            case a.Slice(inner) if self.streamed(inner):
                return "LIMIT and OFFSET let others in when rows go"
            case a.Service():
                return "what SERVICE answers may change at any time"
            case e.Exists(inner) if self.streamed(inner):
                return "EXISTS looks at a window"
            case e.Call() | e.FunctionCall() if volatile(pattern) or timely(pattern):
                return "an expression has another value at each time"
        return next((found for each in parts(pattern) if (found := self.obstacle(each)) is not None), None)

    def streamed(self, pattern: Any) -> bool:
        """Whether a pattern reads a window."""
        if any(isinstance(node, a.Window) for node in walk(pattern)):
            return True
        return bool(self.default) and any(isinstance(node, a.BGP | a.PathPattern) for node in walk(pattern))


@dataclass(frozen=True, slots=True)
class GraphsRead:
    """The static graphs that a query reads: the default graph, and named ones; None is all of them."""

    default: bool = False
    named: frozenset[str] | None = frozenset()

    def of(self, known: Iterable[str], given: Collection[str]) -> list[str]:
        """Those of the known named graphs; ``given`` are those of FROM NAMED, where there is any."""
        read = [name for name in known if self.named is None or name in self.named]
        return [name for name in read if not given or name in given]


def graphs_read(query: Query) -> GraphsRead:
    """What a query's patterns read outside of windows."""
    if isinstance(query.form, Describe):
        return GraphsRead(True, None)
    found = set(_graphs(query.pattern, None))
    named = None if "?" in found else frozenset(found - {""})
    return GraphsRead("" in found, named)


def _graphs(pattern: Any, graph: str | None) -> Iterator[str]:
    """The graphs that patterns match: by name, any named one as ``?``, the default graph as nothing."""
    match pattern:
        case a.BGP(()):
            return
        case a.BGP() | a.PathPattern():
            yield graph or ""
        case a.Window() | a.Service():
            return
        case a.Graph(name, inner):
            within = name.value if isinstance(name, IRI) else "?"
            yield within
            yield from _graphs(inner, within)
        case _:
            for child in parts(pattern):
                yield from _graphs(child, graph)
