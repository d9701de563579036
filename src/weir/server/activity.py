"""What a query is doing, for a moving timeline and a live plan: windows, messages, evaluations, rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weir.language.algebra.query import Query
from weir.language.algebra.windows import AlignedTo, Past, Range, StartAt, WindowDeclaration
from weir.runtime.control.registry import QueryInfo
from weir.runtime.output.writing import timestamp
from weir.server.drawing import plan_graph
from weir.server.service import Service, facts_of, parsed

_MESSAGES = 200
_TICKS = 60


def activity_of(service: Service, info: QueryInfo) -> dict[str, Any]:
    """All that is known; ``now`` is the event time through which the query was evaluated."""
    query = parsed(info.text, info.dialect)
    told = facts_of(service.job, info.name)
    now = told.get("through")
    windows = []
    ticks: set[int] = set()
    for window in query.dataset.windows:
        messages = [each for iri in _streams(window, info) for each in _recent(service, iri)]
        messages.sort()
        if now is not None:
            ticks.update(ticks_of(window, now, [at for at, _ in messages]))
        open_, close = bounds_of(window, now)
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
        "operators": _operators(query, info, told),
    }


def _streams(window: WindowDeclaration, info: QueryInfo) -> Sequence[str]:
    return [window.stream] if isinstance(window.stream, str) else info.reads


def _recent(service: Service, iri: str) -> list[tuple[int, int]]:
    flow = service.flows.get(iri)
    return [] if flow is None else list(flow.recent)


def bounds_of(window: WindowDeclaration, now: int | None) -> tuple[int | None, int | None]:
    """The window that is open at ``now`` (µs); nothing where it does not lie on the axis of time."""
    if now is None:
        return None, None
    match window.kind:
        case Range(width, None):
            return now - width, now
        case Range(width, int(step)):
            close = _origin(window, step) + ((now - _origin(window, step)) // step + 1) * step
            return close - width, close
        case Past(start, end, _):
            return now - start, now - end
    return None, None


def ticks_of(window: WindowDeclaration, now: int, messages: Sequence[int]) -> list[int]:
    """The latest times up to ``now`` at which the window was reported, as far as they can be computed.

    A window that is reported only when it is not empty is taken to be so where no message is known of."""
    report = window.semantics.report
    times: list[int] = []
    step = getattr(window.kind, "step", None)
    width = getattr(window.kind, "range", 0)
    for every in (step if report.window_close and isinstance(window.kind, Range) else None, report.periodic):
        if every:
            last = _origin(window, every) + (now - _origin(window, every)) // every * every
            times += [last - place * every for place in range(_TICKS)]
    if report.content_change:
        times += [at for at in messages if at < now]
    if messages:
        times = [at for at in times if at >= messages[0]]
    if report.non_empty and width and messages:
        times = [at for at in times if any(at - width <= message <= at for message in messages)]
    return times


def _origin(window: WindowDeclaration, step: int) -> int:
    match window.semantics.start:
        case StartAt(instant):
            return instant
        case AlignedTo():
            return 0
    return 0


def _operators(query: Query, info: QueryInfo, told: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the leaves that keep any; chosen are those of the route that is taken most."""
    leaves = told.get("leaves", {})
    route = next(iter(told.get("routes", {})), "").split(" → ")
    results = told.get("results")
    return [
        {
            "id": node["id"],
            "rows": results if node["id"] == "out" else leaves.get(node["label"]),
            "chosen": node["label"] in route,
        }
        for node in plan_graph(query, info.reads)["nodes"]
    ]
