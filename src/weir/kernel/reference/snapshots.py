"""The reference evaluator's state as bytes: JSON of term texts, readable in any process and version."""

from __future__ import annotations

import json
from typing import Any

from weir.errors import CheckpointError
from weir.kernel.reference.graphs import Quad
from weir.kernel.reference.messages import Message
from weir.kernel.reference.streaming import ContinuousQuery
from weir.rdf.terms import parse_term

VERSION = 1


def dump(continuous: ContinuousQuery) -> bytes:
    """Messages of every window, the last evaluation, and how far the schedule has come."""
    state = {
        "version": VERSION,
        "windows": [
            {
                "name": view.declaration.name,
                "stream": view.stream,
                "messages": [_message(message) for message in view.messages.messages],
                "first": view.messages.first,
                "last": view.messages.last,
                "dropped_triples": view.messages.dropped_triples,
                "dropped_messages": view.messages.dropped_messages,
            }
            for view in continuous.views
        ],
        "before": [{name: str(term) for name, term in row.items()} for row in continuous.before],
        "before_time": continuous.before_time,
        "schedule": [continuous.schedule.time, continuous.schedule.sub],
        "through": continuous.through,
        "ended": continuous.ended,
        "late": continuous.late,
        "evaluations": continuous.evaluations,
    }
    return json.dumps(state, separators=(",", ":")).encode()


def load(continuous: ContinuousQuery, data: bytes) -> None:
    """Put a dumped state into a query of the same text."""
    state = json.loads(data)
    names = [(view.declaration.name, view.stream) for view in continuous.views]
    if state.get("version") != VERSION or [(w["name"], w["stream"]) for w in state["windows"]] != names:
        raise CheckpointError("the state of another query, or of another version")
    for view, window in zip(continuous.views, state["windows"], strict=True):
        view.messages.messages = [_read(message) for message in window["messages"]]
        view.messages.first, view.messages.last = window["first"], window["last"]
        view.messages.dropped_triples = window["dropped_triples"]
        view.messages.dropped_messages = window["dropped_messages"]
    continuous.before = [{name: parse_term(text) for name, text in row.items()} for row in state["before"]]
    continuous.before_time = state["before_time"]
    continuous.schedule.time, continuous.schedule.sub = state["schedule"]
    continuous.through, continuous.ended = state["through"], state["ended"]
    continuous.late, continuous.evaluations = state["late"], state["evaluations"]


def _message(message: Message) -> list[Any]:
    quads = [[None if term is None else str(term) for term in quad] for quad in message.quads]
    return [message.time, quads, message.positions, message.size]


def _read(data: list[Any]) -> Message:
    time, quads, positions, size = data
    terms: list[Quad] = []
    for s, p, o, g in quads:
        graph = None if g is None else parse_term(g)
        terms.append((parse_term(s), parse_term(p), parse_term(o), graph))
    return Message(time, tuple(terms), None if positions is None else tuple(positions), size)
