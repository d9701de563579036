"""The reference evaluator behind the ``Evaluator`` protocol: ids in, ids out, terms inside.

Its state is JSON of term texts, readable in any process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.errors import CheckpointError
from weir.kernel.contract import (
    NO_GRAPH,
    NOT_ITS_OWN,
    Answers,
    Background,
    FailedAt,
    GraphTable,
    Slab,
    Steps,
    all_of,
    refuse_more,
)
from weir.kernel.reference.continuous_query import ContinuousQuery, Evaluated
from weir.kernel.reference.datasets import Quad, Static, Timed
from weir.kernel.reference.federation import Federation
from weir.kernel.reference.query_forms import Row
from weir.kernel.reference.windows import Message
from weir.kernel.service_calls import Calls, Services
from weir.language.algebra.query import Ask, Query, Select
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import Term, parse_term

_VERSION = 1
_OF_STREAM = ("first", "last", "dropped_triples", "dropped_messages")
_OF_QUERY = ("before_time", "through", "ended", "late", "evaluations")
"""What is kept of a stream, and of a query, as it is."""


class ReferenceEvaluator:
    """Naive, complete, obviously right. ``streams`` are the registered ones, for ``STREAM ?v``; ``services``
    answer SERVICE, for which the query is known by its ``name``."""

    def __init__(
        self,
        query: Query,
        background: Background,
        dictionary: Dictionary,
        *,
        streams: Sequence[str] = (),
        services: Services | None = None,
        name: str | None = None,
    ) -> None:
        self.query = query
        self.dictionary = dictionary
        self.services = services
        self.name = name or query.output or "query"
        self._terms: dict[int, Term] = {}
        static = self._static(background)
        federation = None if services is None else Federation(Calls(services, query, self.name), dictionary)
        self._continuous = ContinuousQuery(query, static, streams=streams, federation=federation)

    def renew(self, background: Background) -> None:
        """Use other static graphs from the next slab on."""
        self._continuous.renew(self._static(background))

    def _static(self, background: Background) -> Static:
        found = Static(
            self._graph(background.default),
            {name: self._graph(table) for name, table in background.named.items()},
            {name: min(times) for name, times in background.made.items()},
        )
        self._terms.clear()
        return found

    def advance(self, slab: Slab) -> Answers:
        """Evaluate every evaluation time that the slab completes."""
        return all_of(self.steps(slab))

    def steps(self, slab: Slab) -> Steps:
        """``advance`` one evaluation at a time."""
        messages = {stream: self._messages(batch) for stream, batch in slab.batches.items()}
        self._terms.clear()
        evaluated: list[Evaluated] = []
        answers = 0
        for due in self._continuous.due(messages, slab.through, end=slab.end):
            if len(evaluated) == slab.most:
                break
            yield due.at
            try:
                refuse_more(answers, slab.room)
                evaluated.append(due.evaluate())
                answers += len(evaluated[-1].rows) or self.query.semantics.report_empty
            except NOT_ITS_OWN:
                raise
            except BaseException as error:
                raise FailedAt(due.at, len(evaluated)) from error
        return self._answers(evaluated)

    def snapshot(self) -> bytes:
        """The whole state as JSON of term texts: the messages of every window, the last evaluation, and how
        far the schedule has come."""
        continuous = self._continuous
        state = {
            "version": _VERSION,
            "windows": [
                {
                    "name": window.declaration.name,
                    "stream": window.stream,
                    "messages": [_message(message) for message in window.messages.messages],
                    **{name: getattr(window.messages, name) for name in _OF_STREAM},
                }
                for window in continuous.windows
            ],
            "before": [{name: str(term) for name, term in row.items()} for row in continuous.before],
            "schedule": [continuous.schedule.time, continuous.schedule.sub],
            **{name: getattr(continuous, name) for name in _OF_QUERY},
        }
        return json.dumps(state, separators=(",", ":")).encode()

    def restore(self, state: bytes) -> None:
        """Replace the state by one that ``snapshot`` gave for the same query."""
        continuous = self._continuous
        found = json.loads(state)
        names = [(window.declaration.name, window.stream) for window in continuous.windows]
        if found.get("version") != _VERSION or [(w["name"], w["stream"]) for w in found["windows"]] != names:
            raise CheckpointError("the state of another query, or of another version")
        for window, saved in zip(continuous.windows, found["windows"], strict=True):
            window.messages.messages = [_read(message) for message in saved["messages"]]
            for name in _OF_STREAM:
                setattr(window.messages, name, saved[name])
        continuous.before = [
            {name: parse_term(text) for name, text in row.items()} for row in found["before"]
        ]
        continuous.schedule.time, continuous.schedule.sub = found["schedule"]
        for name in _OF_QUERY:
            setattr(continuous, name, found[name])

    def statistics(self) -> Mapping[str, Any]:
        """Counters: evaluations, messages that the windows still hold, late messages dropped."""
        continuous = self._continuous
        kept = sum(len(window.messages.messages) for window in continuous.windows)
        return {"evaluations": continuous.evaluations, "live_messages": kept, "late": continuous.late}

    # Ids to terms

    def _term(self, identifier: int) -> Term:
        term = self._terms.get(identifier)
        if term is None:
            term = self._terms[identifier] = self.dictionary.decode(identifier)
        return term

    def _graph(self, table: GraphTable) -> list[Timed]:
        columns = (table.subject.tolist(), table.predicate.tolist(), table.object.tolist())
        always: list[int | None] = [None] * len(columns[0])
        starts = always if table.start is None else table.start.tolist()
        ends = always if table.end is None else table.end.tolist()
        return [
            Timed((self._term(s), self._term(p), self._term(o)), start, end)
            for s, p, o, start, end in zip(*columns, starts, ends, strict=True)
        ]

    def _messages(self, batch: Messages) -> list[Message]:
        quads: list[list[Quad]] = [[] for _ in range(len(batch.time))]
        places: list[list[int]] = [[] for _ in range(len(batch.time))]
        columns = (batch.message, batch.place, batch.subject, batch.predicate, batch.object, batch.graph)
        for message, place, s, p, o, g in zip(*(column.tolist() for column in columns), strict=True):
            graph = None if g == NO_GRAPH else self._term(g)
            quads[message].append((self._term(s), self._term(p), self._term(o), graph))
            places[message].append(place)
        return [
            Message(time, tuple(quads[i]), tuple(places[i]), size)
            for i, (time, size) in enumerate(zip(batch.time.tolist(), batch.triples.tolist(), strict=True))
        ]

    # Terms to ids

    def _answers(self, evaluated: Sequence[Evaluated]) -> Answers:
        rows = [row for each in evaluated for row in each.rows]
        at = [each.at for each in evaluated for _ in each.rows]
        wanted = self.query.semantics.report_empty
        empty = [each.at for each in evaluated if wanted and not each.rows]
        numbers = None
        if self._continuous.schedule.tuple_driven:
            told = [number for number, each in enumerate(evaluated) for _ in each.rows]
            silent = [number for number, each in enumerate(evaluated) if wanted and not each.rows]
            numbers = np.array(told, np.int64), np.array(silent, np.int64)
        return Answers(
            np.array(at, np.int64),
            self._columns(rows),
            np.array(empty, np.int64),
            len(evaluated),
            numbers,
        )

    def _columns(self, rows: Sequence[Row]) -> dict[str, Ids]:
        form, encode = self.query.form, self.dictionary.encode_terms
        if isinstance(form, Ask):
            return {"boolean": np.array([int(row is True) for row in rows], np.int64)}
        if isinstance(form, Select):
            return {
                variable.name: encode([row.get(variable.name) for row in rows if isinstance(row, dict)])
                for variable in form.variables
            }
        triples = [row for row in rows if isinstance(row, tuple)]
        return {
            name: encode([triple[place] for triple in triples])
            for place, name in enumerate(("subject", "predicate", "object"))
        }


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
