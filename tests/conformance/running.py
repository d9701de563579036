"""Runs a query over a test's data through an evaluator, with the data static or streamed.

``default``: the default graph comes by a window in the default graph, beside static named graphs.
``named``: the named graphs come as quads by a window under which every GRAPH of the query is put, beside a
static default graph. ``body``: all data come by windows, the default graph by one that stands around the
body of the query. One more stream ticks once, so that there is an evaluation also where a test has no data.
All windows close once, at the end of the input. Matched: default and named graphs by windows, as lines of
text through every stage but Spark, so that only what the match step keeps is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from reference_kit import Endpoints, evaluate_query, static_of
from weir.errors import RemoteError
from weir.kernel.contract import Answers, Background, Evaluator, GraphTable, Slab
from weir.kernel.evaluators import choose_evaluator
from weir.kernel.reference import ReferenceEvaluator
from weir.language.algebra.patterns import (
    Distinct,
    Graph,
    OrderBy,
    Pattern,
    Project,
    Reduced,
    Slice,
    Window,
)
from weir.language.algebra.query import Ask, Dataset, Dialect, Query, Select
from weir.language.algebra.scope import visible
from weir.language.algebra.windows import Range, Report, WindowDeclaration, WindowSemantics
from weir.language.writing.dialects import write
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI, Term, Triple, term_of_json
from weir.testing import Scenario

Services = Mapping[str, Sequence[Triple]]
Factory = Callable[..., Evaluator]


def chosen(*args: Any, **kwargs: Any) -> Evaluator:
    """The evaluator that the query would get."""
    return choose_evaluator(*args, **kwargs).evaluator


EVALUATORS: dict[str, Factory] = {"reference": ReferenceEvaluator, "auto": chosen}
"""Each is called with (query, background, dictionary, services=endpoints)."""

DEFAULT, NAMED, TICK = "urn:x-weir:default", "urn:x-weir:named", "urn:x-weir:tick"
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Data:
    """A dataset of terms."""

    default: Sequence[Triple]
    named: Mapping[str, Sequence[Triple]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out: rows in the order of ``names``, or the boolean of ASK."""

    names: tuple[str, ...]
    rows: list[tuple[Term | None, ...]]
    truth: bool | None = None


def run_static(query: Query, data: Data, evaluator: str, services: Services) -> Outcome:
    """The data are the registered graphs."""
    dictionary = Dictionary()
    tables = {name: _table(triples, dictionary) for name, triples in data.named.items()}
    background = Background(_table(data.default, dictionary), tables)
    made = EVALUATORS[evaluator](query, background, dictionary, services=_endpoints(services, dictionary))
    answers = made.advance(Slab({}, through=_SECOND, end=True))
    assert answers.evaluations == 1
    return _outcome(query, answers, dictionary)


def run_streamed(
    query: Query, data: Data, registered: Data, mode: str, evaluator: str, services: Services
) -> Outcome:
    """What a mode streams of the data comes in one message each, into windows that close once; the rest is
    static: the graphs are ``registered``."""
    dictionary = Dictionary()
    tick: Triple = (IRI(TICK), IRI(TICK), IRI(TICK))
    named = [(*triple, IRI(name)) for name, triples in data.named.items() for triple in triples]
    batches = {
        DEFAULT: _batch([(*triple, None) for triple in data.default], dictionary),
        NAMED: _batch(named, dictionary),
        TICK: _batch([(*tick, None)], dictionary),
    }
    static = Background()
    if mode == "default":
        tables = {name: _table(triples, dictionary) for name, triples in registered.named.items()}
        static = Background(GraphTable.empty(), tables)
    elif mode == "named":
        tables = {name: _table(registered.named.get(name, ()), dictionary) for name in query.dataset.default}
        static = Background(_table(registered.default, dictionary), tables)
    asked = streamed(query, mode)
    read = {stream: batch for stream, batch in batches.items() if stream in asked.streams}
    endpoints = _endpoints(services, dictionary)
    made = EVALUATORS[evaluator](asked, static, dictionary, services=endpoints)
    answers = made.advance(Slab(read, through=0, end=True))
    assert answers.evaluations == 1 and set(answers.at.tolist()) <= {_SECOND}
    return _outcome(query, answers, dictionary)


def run_matched(query: Query, data: Data, evaluator: str) -> Outcome:
    """The same as lines, and the query as text, through every stage but Spark."""
    scenario = Scenario(write(streamed(query), Dialect.RSPQL), evaluator=evaluator, dialect="rspql")
    tick = IRI(TICK)
    lines = {
        DEFAULT: [f"{s} {p} {o}" for s, p, o in data.default],
        NAMED: [f"{s} {p} {o} <{name}>" for name, triples in data.named.items() for s, p, o in triples],
        TICK: [f"{tick} {tick} {tick}"],
    }
    for stream, statements in lines.items():
        scenario.lane(stream).put("".join(f"0\t{each} .\n" for each in statements)).end()
    found = scenario.batch()
    assert not scenario.failures, scenario.failures
    if isinstance(query.form, Ask):
        (line,) = found
        return Outcome((), [], line["boolean"])
    assert isinstance(query.form, Select)
    names = tuple(variable.name for variable in query.form.variables)
    solutions = [{name: term_of_json(value) for name, value in line["bindings"].items()} for line in found]
    return Outcome(names, [tuple(each.get(name) for name in names) for each in solutions])


MODES = ("default", "named", "body")


def streamed(query: Query, mode: str = "") -> Query:
    """The query over windows instead of graphs: those that a mode streams, or else all."""
    semantics = WindowSemantics(Report(window_close=True))
    names = {"default": (DEFAULT, TICK), "named": (NAMED, TICK)}.get(mode, (DEFAULT, NAMED, TICK))
    windows = tuple(
        WindowDeclaration(
            name, name, Range(_SECOND, _SECOND), semantics, in_default=name == DEFAULT and mode != "body"
        )
        for name in names
    )
    pattern = query.pattern if mode == "default" else _under_window(query.pattern)
    graphs = query.dataset
    dataset = Dataset(
        graphs.default if mode == "named" else (), graphs.named if mode == "default" else (), windows
    )
    return replace(query, pattern=_around(pattern) if mode == "body" else pattern, dataset=dataset)


def _around(pattern: Pattern) -> Pattern:
    """One window around the body; what orders and cuts solutions stays outside."""
    if isinstance(pattern, Slice | Distinct | Reduced | Project | OrderBy):
        return replace(pattern, pattern=_around(pattern.pattern))
    return Window(IRI(DEFAULT), Project(pattern, visible(pattern)))


def _under_window(node: Any) -> Any:
    """Every GRAPH that is not inside another one goes under the window of named graphs."""
    if isinstance(node, Graph):
        return Window(IRI(NAMED), node)
    if isinstance(node, tuple):
        return tuple(_under_window(item) for item in node)
    if is_dataclass(node) and not isinstance(node, type):
        return type(node)(**{f.name: _under_window(getattr(node, f.name)) for f in fields(node)})
    return node


def _endpoints(services: Services, dictionary: Dictionary) -> Endpoints:
    """Endpoints that are graphs at hand; a pattern is evaluated there by the reference evaluator."""

    def answer(address: str, pattern: Pattern) -> Iterable[Mapping[str, Term]]:
        if address not in services:
            raise RemoteError(f"no such endpoint: {address}")
        query = Query(Select(visible(pattern)), Project(pattern, visible(pattern)))
        rows = evaluate_query(query, static_of(list(services[address])), endpoint=answer)
        return [row for row in rows if isinstance(row, dict)]

    return Endpoints(answer, dictionary)


def _table(triples: Sequence[Triple], dictionary: Dictionary) -> GraphTable:
    columns = [dictionary.encode_terms([triple[place] for triple in triples]) for place in range(3)]
    return GraphTable(*columns)


def _batch(quads: Sequence[tuple[Term, Term, Term, Term | None]], dictionary: Dictionary) -> Messages:
    if not quads:
        return Messages()
    columns = [dictionary.encode_terms([quad[place] for quad in quads]) for place in range(4)]
    size = len(quads)
    return Messages(
        np.zeros(1, np.int64), np.array([size]), np.zeros(size, np.int64), np.arange(size), *columns
    )


def _outcome(query: Query, answers: Answers, dictionary: Dictionary) -> Outcome:
    if isinstance(query.form, Ask):
        (truth,) = answers.columns["boolean"].tolist()
        return Outcome((), [], bool(truth))
    if isinstance(query.form, Select):
        names = tuple(variable.name for variable in query.form.variables)
    else:
        names = ("subject", "predicate", "object")
    columns = [answers.columns[name].tolist() for name in names]
    size = len(answers.at)
    decoded = [[dictionary.decode(i) if i else None for i in column] for column in columns]
    return Outcome(names, [tuple(column[i] for column in decoded) for i in range(size)])
