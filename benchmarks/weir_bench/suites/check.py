"""Every row of a question checked by a store that is not Weir's (pyoxigraph), evaluation by evaluation.

The store's graph is brought to what the window holds, ``[close − range, close)`` or one message, and the
question is asked anew. Rows are compared as multisets at each time.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from weir_bench.answers import Cell, Row, Rows, difference, literal, row_of
from weir_bench.suites.suite import WINDOW, Question, Suite

_GRAPH = ox.NamedNode(WINDOW)


def expected(
    suite: Suite, question: Question, messages: Sequence[str], static: Path | None
) -> Iterator[tuple[int, Rows]]:
    """Evaluation times in ms and the rows that are due; those without rows are left out."""
    store = ox.Store()
    if static is not None:
        store.load(path=str(static), format=ox.RdfFormat.N_TRIPLES)
    times = [int(text.partition("\t")[0]) for text in messages]
    held, often = range(0), Counter[ox.Quad]()
    for at, shown in _windows(question, times):
        for number in (each for each in held if each not in shown):
            for quad in _quads(messages[number]):
                often[quad] -= 1
                if not often[quad]:
                    store.remove(quad)
        for number in (each for each in shown if each not in held):
            quads = _quads(messages[number])
            often.update(quads)
            store.extend(quads)
        held = shown
        rows = _asked(store, question.sparql(suite.prefixes, _literal(at)))
        if rows:
            yield at, rows


def _windows(question: Question, times: Sequence[int]) -> Iterator[tuple[int, range]]:
    """Each evaluation time and the messages that are seen."""
    if not question.range_ms:
        for number, time in enumerate(times):
            yield time, range(number, number + 1)
        return
    first = last = 0
    step = question.step_ms
    close = times[0] // step * step + step
    while close - question.range_ms <= times[-1]:
        while last < len(times) and times[last] < close:
            last += 1
        while first < last and times[first] < close - question.range_ms:
            first += 1
        yield close, range(first, last)
        close += step


def _literal(at: int) -> str:
    time = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    return f'"{time.replace("+00:00", "Z")}"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


def _quads(text: str) -> list[ox.Quad]:
    data = "".join(line.partition("\t")[2] + "\n" for line in text.splitlines())
    found = ox.parse(data, format=ox.RdfFormat.N_TRIPLES)
    return [ox.Quad(each.subject, each.predicate, each.object, _GRAPH) for each in found]


def _asked(store: ox.Store, text: str) -> Rows:
    found: Any = store.query(text)
    names = [variable.value for variable in found.variables]
    order = sorted(range(len(names)), key=lambda place: names[place])
    return Counter(
        tuple((names[place], _cell(row[place])) for place in order if row[place] is not None) for row in found
    )


def _cell(term: Any) -> Cell:
    if isinstance(term, ox.NamedNode):
        return "uri", term.value
    return literal(term.value, term.datatype.value, term.language)


def answered(text: bytes) -> dict[int, Rows]:
    """Result lines as rows by evaluation time in ms."""
    found: dict[int, Rows] = defaultdict(Counter)
    for line in text.splitlines():
        answer = json.loads(line)
        row: Row = row_of(answer["bindings"])
        found[round(datetime.fromisoformat(answer["at"]).timestamp() * 1000)][row] += 1
    return found


def check(
    suite: Suite, question: Question, messages: Sequence[str], static: Path | None, text: bytes
) -> tuple[int, str | None]:
    """How many rows were due, and the first difference, None where every row is as it should be."""
    given, rows = answered(text), 0
    for at, due in expected(suite, question, messages, static):
        rows += due.total()
        wrong = difference(due, given.pop(at, Counter()))
        if wrong is not None:
            return rows, f"at {at} ms: {wrong}"
    if given:
        return rows, f"at {min(given)} ms there should be nothing"
    return rows, None
