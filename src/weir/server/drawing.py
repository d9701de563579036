"""A query as plain values for those who draw it: its windows, its plan as a graph, and what it is doing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from weir.errors import WeirError
from weir.explain.plans import operator_text
from weir.kernel.operators.inputs.pattern_inputs import shown
from weir.language.algebra.expressions import Aggregation
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import Extend, Group, Service
from weir.language.algebra.query import Query, Select
from weir.language.algebra.windows import (
    AtFirst,
    Elements,
    Now,
    Past,
    Range,
    StartAt,
    Triples,
    WindowDeclaration,
)
from weir.language.writing.windows import kind_text, report_text
from weir.plan import nodes as p
from weir.plan.planner import plan_query
from weir.rdf.terms import Variable
from weir.runtime.output.text_columns import timestamp

_MS = 1_000
_MESSAGES = 200
_TICKS = 60
_KEEPING = ("window", "static", "values")
"""Kinds of operators whose rows are those that they keep."""


def form_of(query: Query) -> str:
    """SELECT, CONSTRUCT, ASK or DESCRIBE."""
    return type(query.form).__name__.upper()


def variables_of(query: Query) -> list[str]:
    return [each.name for each in query.form.variables] if isinstance(query.form, Select) else []


def counted(query: Query) -> list[str]:
    """The variables that are numbers whatever the data: counts, sums and averages."""
    nodes = list(walk(query.pattern))
    numbers = {
        variable.name
        for node in nodes
        if isinstance(node, Group)
        for variable, aggregate in node.aggregates
        if aggregate.function in (Aggregation.COUNT, Aggregation.SUM, Aggregation.AVG)
    }
    renamed = {
        variable.name
        for node in nodes
        if isinstance(node, Extend)
        for variable, value in node.bindings
        if isinstance(value, Variable) and value.name in numbers
    }
    return [name for name in variables_of(query) if name in numbers | renamed]


def services_of(pattern: Any) -> list[Service]:
    """Every SERVICE call of a pattern."""
    return [node for node in walk(pattern) if isinstance(node, Service)]


def windows_of(query: Query) -> list[dict[str, Any]]:
    """The windows; lengths in milliseconds, or items for windows that count."""
    return [
        {
            "name": window.name,
            "stream": str(window.stream) if isinstance(window.stream, Variable) else window.stream,
            "kind": type(window.kind).__name__.lower(),
            "width": width,
            "step": step,
            "report": report_text(window.semantics.report),
            "text": kind_text(window.kind),
        }
        for window in query.dataset.windows
        for width, step in [_lengths(window)]
    ]


def _lengths(window: WindowDeclaration) -> tuple[float | None, float | None]:
    """Width and step."""
    match window.kind:
        case Range(width, step):
            return width / _MS, None if step is None else step / _MS
        case Past(start, end, step):
            return (start - end) / _MS, None if step is None else step / _MS
        case Triples(count, step) | Elements(count, step):
            return count, step
        case Now():
            return 0, None
    return None, None


def plan_graph(query: Query, streams: Sequence[str], told: Mapping[str, Any]) -> dict[str, Any]:
    """Operators and what flows between them, from the leaves to what is sent out, with the rows that the last
    batch ``told`` of: how many a leaf keeps (``kept``), how many an operator has given since the job started.
    """
    try:
        root = plan_query(query, streams).root
    except WeirError:
        return {"nodes": [], "edges": []}
    nodes: list[dict[str, Any]] = []
    edges: list[list[str]] = []
    leaves = told.get("leaves", {})
    given = told.get("operators", [])
    # The template of queries that share an evaluator is another plan.
    counts = iter(given if len(given) == sum(1 for _ in p.tree(root)) else repeat(None))

    def visit(plan: p.Plan) -> str:
        rows = next(counts)
        below = [visit(child) for child in p.children(plan)]
        if isinstance(plan, p.Join) and len(plan.parts) == 1 and not plan.conditions:
            return below[0]
        label, kind = _described(plan)
        id = f"n{len(nodes) + 1}"
        kept = kind in _KEEPING
        rows = leaves.get(label) if kind == "window" else rows
        nodes.append({"id": id, "label": label, "kind": kind, "rows": rows, "kept": kept})
        edges.extend([each, id] for each in below)
        return id

    last = visit(root)
    results = told.get("results")
    out = {"id": "out", "label": query.semantics.r2s.name, "kind": "output", "rows": results, "kept": False}
    nodes.append(out)
    edges.append([last, "out"])
    return {"nodes": nodes, "edges": edges}


def _described(plan: p.Plan) -> tuple[str, str]:
    """A node's label and kind; leaves are named as the statistics of the evaluator name them, and are of the
    kind of what they match. Other kinds are the names of operators."""
    if isinstance(plan, p.Match):
        return shown(plan.source, plan.pattern), "static" if plan.source.window is None else "window"
    return operator_text(plan), type(plan).__name__.lower()


def activity_of(
    query: Query,
    reads: Sequence[str],
    told: Mapping[str, Any],
    recent: Mapping[str, Iterable[tuple[int, int]]],
) -> dict[str, Any]:
    """What a query is doing, for a moving timeline and a plan with counts of rows.

    ``told`` is what the last batch told of the query, ``recent`` the latest messages of streams (time, number
    of triples); ``now`` is the event time through which the query was evaluated. Its latest evaluation times
    and where its windows begin are those that the evaluator tells of, else they are computed. Chosen
    operators are the leaves of the route that is taken most.
    """
    now = told.get("through")
    made, origins = told.get("times"), told.get("origins", {})
    route = next(iter(told.get("routes", {})), "").split(" → ")
    windows = []
    ticks: set[int] = set()
    for window in query.dataset.windows:
        streams = [window.stream] if isinstance(window.stream, str) else reads
        messages = sorted(each for iri in streams for each in recent.get(iri, ()))
        times = [at for at, _ in messages]
        origin = origins.get(window.name, _origin(window, times))
        if now is not None:
            ticks.update(ticks_of(window, now, times, origin) if made is None else made)
        open_, close = bounds_of(window, now, times, origin)
        windows.append(
            {
                "name": window.name,
                "open": None if open_ is None else timestamp(open_),
                "close": None if close is None else timestamp(close),
                "messages": [
                    {"time": timestamp(at), "triples": triples} for at, triples in messages[-_MESSAGES:]
                ],
            }
        )
    return {
        "now": None if now is None else timestamp(now),
        "windows": windows,
        "ticks": [timestamp(at) for at in sorted(ticks)[-_TICKS:]],
        "operators": [
            {name: node[name] for name in ("id", "rows", "kept")} | {"chosen": node["label"] in route}
            for node in plan_graph(query, reads, told)["nodes"]
        ],
    }


def bounds_of(
    window: WindowDeclaration, now: int | None, messages: Sequence[int] = (), origin: int = 0
) -> tuple[int | None, int | None]:
    """The window that is open at ``now`` (µs); nothing where it does not lie on the axis of time. That of NOW
    is the instant of the latest message that was evaluated."""
    if now is None:
        return None, None
    match window.kind:
        case Range(width, None):
            return now - width, now
        case Range(width, int(step)):
            close = _last(origin, step, now) + step
            return close - width, close
        case Past(start, end, _):
            return now - start, now - end
        case Now():
            latest = max((at for at in messages if at < now), default=None)
            return latest, latest
    return None, None


def ticks_of(window: WindowDeclaration, now: int, messages: Sequence[int], origin: int = 0) -> list[int]:
    """The latest times up to ``now`` at which the window was reported, as far as they can be computed: also
    those at which a message leaves, where the window is looked at by the clock.

    A window that is reported only when it is not empty is taken to be so where no message is known of."""
    report, tick = window.semantics.report, window.semantics.tick
    times: list[int] = []
    step = getattr(window.kind, "step", None)
    width = getattr(window.kind, "range", 0)
    for every in (step if report.window_close and isinstance(window.kind, Range) else None, report.periodic):
        if every:
            times += [_last(origin, every, now) - place * every for place in range(_TICKS)]
    if report.content_change:
        unit = tick.unit
        entering = [at if unit is None else -(-at // unit) * unit for at in messages]
        leaving = [at + width for at in entering] if unit is not None and width and step is None else []
        times += [at for at in (*entering, *leaving) if at < now]
    if messages:
        times = [at for at in times if at >= messages[0]]
    if report.non_empty and width and messages:
        times = [at for at in times if any(at - width <= message <= at for message in messages)]
    return times


def _origin(window: WindowDeclaration, messages: Sequence[int]) -> int:
    """Where windows are counted from: what STARTING AT says, the first message that is known of, or 1970."""
    match window.semantics.start:
        case StartAt(instant):
            return instant
        case AtFirst() if messages:
            return messages[0]
    return 0


def _last(origin: int, step: int, now: int) -> int:
    """The latest multiple of ``step`` up to ``now``, counted from where the windows start."""
    return origin + (now - origin) // step * step
