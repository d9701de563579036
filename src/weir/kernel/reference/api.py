"""The reference evaluator on terms: what tests and other evaluators' oracles call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.kernel.reference.forms import Row
from weir.kernel.reference.messages import Message
from weir.kernel.reference.patterns import ServiceHook
from weir.kernel.reference.streaming import ContinuousQuery, Evaluated, Static
from weir.language.algebra.query import Query


def evaluate_query(
    query: Query, static: Static, *, now: int = 0, service: ServiceHook | None = None
) -> list[Row]:
    """A query without windows over static graphs, evaluated once."""
    continuous = ContinuousQuery(query, static, service=service)
    (evaluated,) = continuous.advance({}, now)
    return evaluated.rows


def evaluations(
    query: Query,
    streams: Mapping[str, Sequence[Message]],
    static: Static | None = None,
    *,
    end: bool = True,
    service: ServiceHook | None = None,
) -> list[Evaluated]:
    """Every evaluation of a query over streams given whole, also those without results.

    Messages may come in any order; T is the smallest of the streams' largest times less their lateness.
    With ``end`` the input ends there; otherwise more could have come.
    """
    continuous = ContinuousQuery(query, static, streams=list(streams), service=service)
    lateness: dict[str, int] = {}
    for view in continuous.views:
        lateness[view.stream] = max(lateness.get(view.stream, 0), view.semantics.lateness)
    reached = [
        max((message.time for message in streams.get(stream, ())), default=-(2**61)) - lateness[stream]
        for stream in lateness
    ]
    ordered = {name: sorted(messages, key=lambda m: m.time) for name, messages in streams.items()}
    return list(continuous.advance(ordered, min(reached, default=0), end=end))


def run(
    query: Query,
    streams: Mapping[str, Sequence[Message]],
    static: Static | None = None,
    *,
    end: bool = True,
    service: ServiceHook | None = None,
) -> list[tuple[int, Row]]:
    """The results of a query over streams given whole, each with its evaluation time."""
    done = evaluations(query, streams, static, end=end, service=service)
    return [(each.at, row) for each in done for row in each.rows]
