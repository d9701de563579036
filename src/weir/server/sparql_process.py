"""SPARQL queries over the static graphs, each in a process that can be ended when its time is over.

The graphs that a query can see are taken out in the service and sent to the process, which keeps nothing. A
process that is late is killed and another one is started; memory is bounded by the operating system.
"""

from __future__ import annotations

import json
import multiprocessing as mp
import resource
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pyoxigraph as ox

from weir.errors import EvaluationError, UsageError, WeirError
from weir.kernel.contract import Background, GraphTable, Slab
from weir.kernel.evaluators import choose_evaluator
from weir.language.algebra.query import Ask, Query, Select
from weir.linked.graphs import StaticGraphs
from weir.linked.graphs.history import mapped, resolved
from weir.linked.graphs.triple_tables import CLOSE
from weir.rdf.columns import sorted_set
from weir.rdf.formats.guarded_parser import rewritten
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import json_term

SOLUTIONS = (
    "application/sparql-results+json",
    "application/json",
    "application/sparql-results+xml",
    "application/xml",
    "text/csv",
    "text/tab-separated-values",
)
"""Media types of solutions and of ASK's answer."""
GRAPHS = (
    "text/turtle",
    "application/n-triples",
    "text/plain",
    "application/n-quads",
    "application/trig",
    "application/ld+json",
    "application/rdf+xml",
)
"""Media types of graphs."""
_START = 60.0
"""Seconds that a process may take to import what it needs; that is not the query's time."""


class Overdue(WeirError):
    """A query took longer than it may."""


@dataclass(frozen=True, slots=True)
class Task:
    """A query with everything it can see, and the media type of its answer."""

    query: Query
    graphs: Background
    key: bytes
    texts: Mapping[int, str]
    media_type: str


def present(static_graphs: StaticGraphs, query: Query) -> Background:
    """What a query can see of the graphs, with all updates applied."""
    found = static_graphs.extract(query, ())
    numbers = {number: number for number in range(1, static_graphs.delta.number + 1)}
    return replace(mapped(resolved(found, numbers), _standing), made={})


def _standing(table: GraphTable) -> GraphTable:
    if table.end is None:
        return GraphTable(table.subject, table.predicate, table.object)
    rows = np.flatnonzero(table.end == CLOSE)
    return GraphTable(table.subject[rows], table.predicate[rows], table.object[rows])


def task_of(static_graphs: StaticGraphs, query: Query, media_type: str) -> Task:
    """A task, with the texts of the terms that it can see."""
    graphs = present(static_graphs, query)
    tables = (graphs.default, *graphs.named.values())
    columns = [part for table in tables for part in (table.subject, table.predicate, table.object)]
    ids = sorted_set(np.concatenate(columns)) if columns else np.empty(0, np.int64)
    ids = ids[ids > 0]
    texts = dict(zip(ids.tolist(), static_graphs.dictionary.texts(ids), strict=True))
    return Task(query, graphs, static_graphs.dictionary.key, texts, media_type)


def answer(task: Task) -> bytes:
    """The answer to a task; no clock, no files, no network."""
    dictionary = Dictionary(task.key)
    dictionary.add(np.array(list(task.texts), np.int64), list(task.texts.values()))
    evaluator = choose_evaluator(task.query, task.graphs, dictionary).evaluator
    answers = evaluator.advance(Slab({}, through=0, end=True))
    form = task.query.form
    if isinstance(form, Select):
        names = [variable.name for variable in form.variables]
        columns = [answers.columns[name].tolist() for name in names]
        terms = {i: json_term(dictionary.decode(i)) for i in {i for column in columns for i in column} if i}
        rows = [
            {name: terms[i] for name, i in zip(names, row, strict=True) if i}
            for row in zip(*columns, strict=True)
        ]
        rows = rows if names else [{} for _ in range(len(answers.at))]
        return _solutions({"head": {"vars": names}, "results": {"bindings": rows}}, task.media_type)
    if isinstance(form, Ask):
        held = bool(len(answers.at) and answers.columns["boolean"][-1])
        return _solutions({"head": {}, "boolean": held}, task.media_type)
    parts = [dictionary.texts(answers.columns[name]) for name in ("subject", "predicate", "object")]
    lines = dict.fromkeys(f"{s} {p} {o} .\n" for s, p, o in zip(*parts, strict=True))
    return rewritten("".join(lines).encode(), ox.RdfFormat.N_TRIPLES, task.media_type)


def _solutions(found: dict[str, Any], media_type: str) -> bytes:
    data = json.dumps(found, ensure_ascii=False).encode()
    wanted = ox.QueryResultsFormat.from_media_type(media_type)
    if wanted == ox.QueryResultsFormat.JSON:
        return data
    parsed = ox.parse_query_results(data, format=ox.QueryResultsFormat.JSON)
    return bytes(parsed.serialize(format=wanted) or b"")


def _work(pipe: Connection, memory: int) -> None:
    """The loop of a process: a task in, an answer or an error out."""
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    pipe.send(b"ready")
    while True:
        try:
            task: Task = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            pipe.send(answer(task))
        except WeirError as error:
            pipe.send((error.primary, error.detail, error.hint))
        except MemoryError:
            pipe.send(("the query needs too much memory", None, None))
        except RecursionError:
            pipe.send(("the query nests too deeply", None, None))
        except Exception as error:
            pipe.send(("the query failed", f"{type(error).__name__}: {error}", None))


class SparqlProcess:
    """One process that answers, started when it is first needed."""

    def __init__(self, seconds: float, memory: int = 0) -> None:
        self.seconds = seconds
        self.memory = memory
        self._lock = threading.Lock()
        self._process: Any = None
        self._pipe: Connection | None = None

    def ask(self, task: Task) -> bytes:
        """The answer within the time that is allowed (raises ``Overdue``, ``EvaluationError``)."""
        if not self._lock.acquire(timeout=self.seconds):
            raise Overdue("too many SPARQL queries are waiting", hint="try again later")
        try:
            pipe = self._ready()
            try:
                pipe.send(task)
                if not pipe.poll(self.seconds):
                    self._end()
                    raise Overdue(f"the query took longer than {self.seconds:g} s")
                told = pipe.recv()
            except (EOFError, OSError) as error:
                self._end()
                raise EvaluationError("the query failed: its process ended", detail=str(error)) from None
        finally:
            self._lock.release()
        if isinstance(told, bytes):
            return told
        raise EvaluationError(told[0], detail=told[1], hint=told[2])

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _ready(self) -> Connection:
        if self._pipe is None or not self._process.is_alive():
            context = mp.get_context("spawn")
            here, there = context.Pipe()
            self._process = context.Process(target=_work, args=(there, self.memory), daemon=True)
            self._process.start()
            there.close()
            if not here.poll(_START):
                raise Overdue("the process that answers SPARQL queries does not start")
            here.recv()
            self._pipe = here
        return self._pipe

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join(10)
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


def over(query: Query, default: Sequence[str], named: Sequence[str]) -> Query:
    """The query over the graphs that the protocol's parameters name, where there are any."""
    if query.dataset.windows:
        raise UsageError("a query with windows is continuous", hint="register it under /api/queries")
    if not default and not named:
        return query
    return replace(query, dataset=replace(query.dataset, default=tuple(default), named=tuple(named)))
