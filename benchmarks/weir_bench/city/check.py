"""Every row of a CityBench query checked, window by window, by a store that is not Weir's (pyoxigraph).

The store holds all that the windows hold at an evaluation time, also what no pattern of the query matches,
and the static graphs, and answers the query anew. What should come out is what the dialect's preset says:

- C-SPARQL: all rows of each window that closes, at every second, ``[close − range, close)``, where any
  window of the query has something;
- CQELS-QL: the rows that are there at an instant and were not just before. Messages come at whole seconds
  and leave at whole seconds, so that is where anything changes. A range T holds ``(t − T, t]``; with SLIDE
  1s whole seconds fall into the same window.

Rows are compared as multisets. Numbers are compared by value, because a store of this kind normalises them,
and blank nodes by the rows in which they occur.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyoxigraph as ox

from weir_bench.answers import BLANK, Cell, Row, Rows, cell_of, literal
from weir_bench.city.data import START, TICK, City
from weir_bench.city.queries import CityQuery

_BASE = "http://weir.invalid/"
"""What relative names of graphs are relative to in the store."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many rows were due and how many evaluation times were looked at; ``wrong`` tells the first
    difference, None where every row is as it should be."""

    rows: int
    times: int
    wrong: str | None = None


class Oracle:
    """What a query should answer over the messages of its streams, by stream IRI."""

    def __init__(self, city: City, query: CityQuery, messages: Mapping[str, Sequence[str]]) -> None:
        self._query = query
        self._merged = query.dialect == "csparql"
        self._store = ox.Store()
        for iri, name in query.named.items():
            graph = ox.DefaultGraph() if iri is None or self._merged else ox.NamedNode(_BASE + iri)
            self._store.load(path=str(city.file(name)), format=ox.RdfFormat.TURTLE, to_graph=graph)
        self._messages = {
            stream: [self._quads(stream, text) for text in texts] for stream, texts in messages.items()
        }
        self._held: dict[str, range] = dict.fromkeys(messages, range(0))

    def _quads(self, stream: str, text: str) -> list[ox.Quad]:
        graph = ox.DefaultGraph() if self._merged else ox.NamedNode(stream)
        data = "".join(line.partition("\t")[2] + "\n" for line in text.splitlines())
        return [
            ox.Quad(quad.subject, quad.predicate, quad.object, graph)
            for quad in ox.parse(data, format=ox.RdfFormat.N_TRIPLES)
        ]

    def expected(self) -> Iterator[tuple[int, Rows]]:
        """Evaluation times in ms, in order, and the rows that are due; those without rows are left out."""
        width = max(self._query.windows.values()) // TICK
        last = max(map(len, self._messages.values())) + width
        before: Rows = Counter()
        for second in range(last + 1):
            seen = {
                stream: self._window(stream, second, self._query.windows[stream] // TICK)
                for stream in self._messages
            }
            if not any(seen.values()):
                before = Counter()
                continue
            self._show(seen)
            rows = self._answer()
            due = rows if self._merged else rows - before
            before = rows
            if due:
                yield START + second * TICK, due

    def _window(self, stream: str, second: int, width: int) -> range:
        """The messages that are seen: those before a close, or up to an instant."""
        end = second if self._merged else second + 1
        count = len(self._messages[stream])
        return range(min(max(end - width, 0), count), min(end, count))

    def _show(self, seen: Mapping[str, range]) -> None:
        for stream, shown in seen.items():
            held, messages = self._held[stream], self._messages[stream]
            for number in held:
                if number not in shown:
                    for quad in messages[number]:
                        self._store.remove(quad)
            for number in shown:
                if number not in held:
                    self._store.extend(messages[number])
            self._held[stream] = shown

    def _answer(self) -> Rows:
        found = self._store.query(self._query.sparql, base_iri=_BASE)
        if isinstance(found, ox.QueryBoolean):
            return Counter([(("boolean", ("boolean", bool(found))),)])
        assert isinstance(found, ox.QuerySolutions)
        names = [variable.value for variable in found.variables]
        return Counter(
            tuple((name, _of_store(term)) for name, term in zip(names, row, strict=True) if term is not None)
            for row in found
        )


def answered(text: bytes) -> dict[int, Rows]:
    """Weir's result lines as rows by evaluation time in ms."""
    found: dict[int, Rows] = defaultdict(Counter)
    for line in text.splitlines():
        answer = json.loads(line)
        at = round(datetime.fromisoformat(answer["at"]).timestamp() * 1000)
        if "boolean" in answer:
            row: Row = (("boolean", ("boolean", answer["boolean"])),)
        else:
            row = tuple((name, cell_of(term)) for name, term in answer["bindings"].items())
        found[at][row] += 1
    return found


def check(city: City, query: CityQuery, messages: Mapping[str, Sequence[str]], text: bytes) -> Verdict:
    """Compare result lines with what the store answers at every evaluation time."""
    given, rows, times = answered(text), 0, 0
    for at, due in Oracle(city, query, messages).expected():
        times += 1
        rows += due.total()
        came = given.pop(at, Counter())
        if _comparable(due) != _comparable(came):
            return Verdict(rows, times, _difference(at, due, came))
    for at, came in sorted(given.items()):
        return Verdict(rows, times, _difference(at, Counter(), came))
    return Verdict(rows, times)


def _difference(at: int, due: Rows, came: Rows) -> str:
    missing, extra = due - came, came - due
    shown = next(iter(missing or extra), None)
    return f"at {at} ms: {missing.total()} rows missing, {extra.total()} too many, for example {shown}"


def _comparable(rows: Rows) -> tuple[Rows, Counter[frozenset[tuple[Row, int]]]]:
    """Rows without blank nodes, and for each blank node the rows in which it stands; for rows with one such
    node at most, as here, equal values are equal up to the names of blank nodes."""
    plain: Rows = Counter()
    around: dict[Hashable, Rows] = defaultdict(Counter)
    for row, times in rows.items():
        node = next((cell[1] for _, cell in row if cell[0] == BLANK), None)
        if node is None:
            plain[row] += times
        else:
            rest = tuple((name, (BLANK, "") if cell[0] == BLANK else cell) for name, cell in row)
            around[node][rest] += times
    return plain, Counter(frozenset(each.items()) for each in around.values())


def _of_store(term: Any) -> Cell:
    if isinstance(term, ox.NamedNode):
        return "uri", term.value
    if isinstance(term, ox.BlankNode):
        return BLANK, term.value
    return literal(term.value, term.datatype.value, term.language)
