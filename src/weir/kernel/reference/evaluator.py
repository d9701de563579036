"""The reference evaluator behind the ``Evaluator`` protocol: ids in, ids out, terms inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.kernel.background import Background, GraphTable
from weir.kernel.batch import NO_GRAPH, Answers, Batch, Slab
from weir.kernel.reference.federation import Federation
from weir.kernel.reference.forms import Row
from weir.kernel.reference.graphs import Quad
from weir.kernel.reference.messages import Message
from weir.kernel.reference.patterns import ServiceHook
from weir.kernel.reference.snapshots import dump, load
from weir.kernel.reference.streaming import ContinuousQuery, Evaluated, Static, Timed
from weir.kernel.service import Services
from weir.language.algebra.query import Ask, Query, Select
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Term


class ReferenceEvaluator:
    """Naive, complete, obviously right. ``streams`` are the registered ones, for ``STREAM ?v``; ``services``
    answer SERVICE, for which the query is known by its ``name`` (``service`` is a plain hook for tests)."""

    def __init__(
        self,
        query: Query,
        background: Background,
        dictionary: Dictionary,
        *,
        streams: Sequence[str] = (),
        service: ServiceHook | None = None,
        services: Services | None = None,
        name: str | None = None,
    ) -> None:
        self.query = query
        self.dictionary = dictionary
        self.services = services
        self.name = name or query.output or "query"
        self._terms: dict[int, Term] = {}
        static = Static(
            self._graph(background.default),
            {name: self._graph(table) for name, table in background.named.items()},
            {name: min(times) for name, times in background.made.items()},
        )
        self._terms.clear()
        federation = None if services is None else Federation(services, query, self.name, dictionary)
        self._continuous = ContinuousQuery(
            query, static, streams=streams, service=service, federation=federation
        )

    def advance(self, slab: Slab) -> Answers:
        """Evaluate every evaluation time that the slab completes."""
        messages = {stream: self._messages(batch) for stream, batch in slab.batches.items()}
        self._terms.clear()
        evaluated = list(self._continuous.advance(messages, slab.through, end=slab.end))
        return self._answers(evaluated)

    def snapshot(self) -> bytes:
        """The whole state as JSON of term texts."""
        return dump(self._continuous)

    def restore(self, state: bytes) -> None:
        """Replace the state by one that ``snapshot`` gave for the same query."""
        load(self._continuous, state)

    def statistics(self) -> Mapping[str, Any]:
        """Counters: evaluations, messages that the windows still hold, late messages dropped."""
        continuous = self._continuous
        kept = sum(len(view.messages.messages) for view in continuous.views)
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

    def _messages(self, batch: Batch) -> list[Message]:
        quads: list[list[Quad]] = [[] for _ in range(len(batch.time))]
        places: list[list[int]] = [[] for _ in range(len(batch.time))]
        columns = (batch.message, batch.position, batch.subject, batch.predicate, batch.object, batch.graph)
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
        return Answers(np.array(at, np.int64), self._columns(rows), np.array(empty, np.int64), len(evaluated))

    def _columns(self, rows: Sequence[Row]) -> dict[str, Ids]:
        form = self.query.form
        if isinstance(form, Ask):
            return {"boolean": np.array([int(row is True) for row in rows], np.int64)}
        if isinstance(form, Select):
            return {
                variable.name: self._encode([row.get(variable.name) for row in rows if isinstance(row, dict)])
                for variable in form.variables
            }
        triples = [row for row in rows if isinstance(row, tuple)]
        return {
            name: self._encode([triple[place] for triple in triples])
            for place, name in enumerate(("subject", "predicate", "object"))
        }

    def _encode(self, terms: Sequence[Term | None]) -> Ids:
        return self.dictionary.encode_terms(terms)
