"""From the text of a query to its entry in the control log: name, evaluator, slot, extract of the graphs.

The engine does this when it starts and a running job whenever it is asked; both end in the same entries.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from weir.errors import CheckpointError, SyntaxError, UsageError
from weir.kernel.contract import Background
from weir.kernel.evaluators import CHOICES, ROUTINGS, Choice, choose_evaluator
from weir.language import parse
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import BGP, Pattern, Service
from weir.language.algebra.query import Query
from weir.linked.service import (
    ServiceConfig,
    ServiceResolver,
    config_of,
    hinted,
    refuse_bad_hints,
    server_of,
)
from weir.plan.analysis.chain import parsed, place, refuse_bad_chains, streams_read
from weir.plan.analysis.conjunctions import signature
from weir.plan.analysis.rates import Rates
from weir.plan.analysis.split import MOST_TOLD, splitting
from weir.plan.analysis.templates import digest
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI
from weir.runtime.control.catalog import SHARED, Catalog, Registration
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.samples import rates_of
from weir.runtime.control.sharing import is_conjunct, shape_key, together
from weir.runtime.ingest.sources import Source

FEW = 8
"""Up to this many queries for each slot, those that can be are split; more keep all slots busy anyway.
By time only where there are two tasks for each query, and over streams that end: every slot then has all of
its windows, which pays where batches are large and only costs time where they are small."""
BUDGETED = "every endpoint with a budget"
"""What all queries that call endpoints under a budget have in common: they share one slot, so that one whose
endpoint a variable names is under the same ledgers."""


def offer(
    text: str,
    taken: Mapping[str, object],
    *,
    name: str | None = None,
    dialect: str = "auto",
    evaluator: str = "auto",
    routing: str = "cost",
    file: str | None = None,
) -> Registration:
    """A query that asks to be registered. Its name is that of REGISTER, or else ``name``, or else one that is
    not ``taken``."""
    if evaluator not in CHOICES:
        raise UsageError(f"unknown evaluator {evaluator!r}", hint=f"one of {', '.join(CHOICES)}")
    if routing not in ROUTINGS:
        raise UsageError(f"unknown routing {routing!r}", hint=f"one of {', '.join(ROUTINGS)}")
    query = _parsed(text, dialect, file)
    chosen = query.output or name
    number = len(taken) + 1
    while chosen is None:
        chosen = None if f"query{number}" in taken else f"query{number}"
        number += 1
    if chosen in taken:
        raise UsageError(f"two queries are named {chosen!r}")
    return Registration(chosen, text, dialect, evaluator, routing=routing)


def _parsed(text: str, dialect: str, file: str | None) -> Query:
    """The query, which is not parsed again where it is known; an error names the file."""
    try:
        return parsed(text, dialect)
    except SyntaxError:
        return parse(text, dialect=dialect, file=file)


def registrations_of(
    offers: Sequence[Registration],
    catalog: Catalog,
    streams: Sequence[str],
    slots: int,
    extractor: Extractor | None,
    finite: Collection[str] = (),
    tasks: int | None = None,
    *,
    stages: bool = False,
    sources: Mapping[str, Source] | None = None,
) -> list[Registration]:
    """The registrations of new queries beside those of ``catalog``; raises where they do not fit together.

    ``streams`` are those with a source, ``finite`` those that end. ``tasks`` evaluate the slots side by side,
    None for one each; ``stages`` says that what slots answer can be put together, ``sources`` where streams
    come from, as far as they can be looked into. The extracts of their graphs are written, those of queries
    that are evaluated together as one."""
    offers = [replace(each, shape=_shape_of(each)) for each in offers]
    new = {each.name: each.query for each in offers}
    configs = _configs(catalog)
    for query in new.values():
        refuse_bad_hints(query, configs)
    known = _linked(new, catalog)
    refuse_bad_chains({**known, **new}, streams)
    chosen = _evaluators(offers, catalog, streams)
    marks = {name: _mark(query) for name, query in new.items()}
    slot = placed(new, catalog, known, slots, marks)
    beside = slots if tasks is None else tasks
    many = len(catalog.queries) + len(catalog.failures) + len(new)
    out = []
    for each in offers:
        own, reads = chosen[each.name], streams_read(each.query, streams)
        made = replace(
            each,
            evaluator=own,
            slots=(slot[each.name],),
            reads=reads,
            mark=marks[each.name],
            makes=each.query.output,
        )
        dealt = None
        if made.evaluator != SHARED and many <= FEW * slots and slots > 1:
            outputs = {stream for stream, count in catalog.made.items() if count}
            outputs |= {query.output for query in new.values() if query.output is not None}
            look = partial(rates_of, each.query, sources or {}, streams) if stages else Rates
            split = splitting(each.query, outputs, look, slots)
            if split.place is not None and (stages or split.stages is None):
                most = min(slots, MOST_TOLD) if split.few else slots
                staged = split.stages is not None
                made = replace(made, slots=tuple(range(most)), share=split.place, staged=staged)
                dealt = None if split.variable is None else (split.variable, most)
            elif split.by_time and made.evaluator == "interval" and _pays(made.reads, finite, many, beside):
                made = replace(made, slots=tuple(range(beside)))
        if extractor is not None and made.evaluator != SHARED:
            every = made.evaluator == "reference"
            graphs, updates = extractor.extract(
                made.evaluated, made.over(streams), every_text=every, split=dealt
            )
            made = replace(made, graphs=graphs, updates=updates)
        out.append(made)
    shared = [each for each in out if each.evaluator == SHARED and not is_conjunct(each.query)]
    if extractor is None or not shared:
        return out
    reading = extractor.extract_all(shared, streams)
    return [
        replace(each, graphs=reading[each.name][0], updates=reading[each.name][1])
        if each.name in reading
        else each
        for each in out
    ]


def _shape_of(query: Registration) -> str:
    """The key by which it finds those it is evaluated with, if any: its user may choose another way."""
    return (shape_key(query.query) or "") if query.evaluator in ("auto", SHARED) else ""


def _linked(new: Mapping[str, Query], catalog: Catalog) -> dict[str, Query]:
    """The queries that new ones may be chained to: all that run or failed where a new one reads or makes what
    one of those makes or reads, or calls an endpoint; none where no new one does."""

    def is_linked(query: Query) -> bool:
        made = query.output is not None and (catalog.made[query.output] or catalog.read[query.output])
        reads = any(isinstance(stream, str) and catalog.made[stream] for stream in query.streams)
        return bool(made) or reads or any(isinstance(each, Service) for each in walk(query.pattern, (BGP,)))

    if not any(map(is_linked, new.values())):
        return {}
    return {name: each.query for name, each in catalog.makers.items() if name not in new}


def _mark(query: Query) -> str:
    """The same for conjunctions that are equal but for names; empty for other queries."""
    found = signature(query)
    return "" if found is None else digest(found)


def placed(
    queries: Mapping[str, Query],
    catalog: Catalog,
    known: Mapping[str, Query],
    slots: int,
    marks: Mapping[str, str],
) -> dict[str, int]:
    """The slot of each new query beside those of ``catalog``; those that it may be chained to are ``known``
    in parsed form. Conjunctions of one of the ``marks`` go to one slot."""
    makers = catalog.makers if known else {}
    fixed = {name: makers[name].slots[0] for name in known}
    load = [catalog.load[slot] for slot in range(slots)]
    twins = {mark: catalog.twins[mark][0] for mark in marks.values() if mark in catalog.twins}
    configs = _configs(catalog)
    calls = {name: _endpoints(query.pattern, configs) for name, query in {**known, **queries}.items()}
    return place(queries, known, fixed, load, calls, marks, twins)


def _configs(catalog: Catalog) -> dict[str, ServiceConfig]:
    """What is declared about endpoints."""
    return {entry.endpoint: config_of(entry.settings) for entry in catalog.services.values()}


def _endpoints(pattern: Pattern, configs: Mapping[str, ServiceConfig]) -> set[str]:
    """What a query calls and has to share: endpoints, hints left out, and ``BUDGETED`` where a budget counts.
    An endpoint that a variable names may turn out to be any of those."""
    found = [node.name for node in walk(pattern, closed=(BGP,)) if isinstance(node, Service)]
    named = [name.value for name in found if isinstance(name, IRI)]
    budgeted = len(named) < len(found) or any(hinted(name, configs)[1].budget is not None for name in named)
    return {server_of(name) for name in named} | ({BUDGETED} if budgeted else set())


def _pays(reads: Collection[str], finite: Collection[str], many: int, tasks: int) -> bool:
    """Whether splitting by time does: tasks would be idle, and batches are large."""
    return 2 * many <= tasks and all(stream in finite for stream in reads)


def _evaluators(offers: Sequence[Registration], catalog: Catalog, streams: Sequence[str]) -> dict[str, str]:
    """The evaluator of each: its own choice, or together with others of its shape."""
    shared = together({each.name: each.shape or None for each in offers}, catalog.shapes)
    shared |= {each.name for each in offers if each.evaluator == SHARED}
    return {
        each.name: SHARED if each.name in shared else choice_of(each.query, streams, each.evaluator).name
        for each in offers
    }


def choice_of(query: Query, streams: Sequence[str], asked: str = "auto") -> Choice:
    """The evaluator that a query gets; ``interval`` on a query it does not cover is an error."""
    dictionary = Dictionary()
    services = ServiceResolver(dictionary)
    return choose_evaluator(query, Background(), dictionary, asked, streams=streams, services=services)


def refuse_changes(
    catalog: Catalog,
    offers: Mapping[str, Registration],
    streams: Collection[str],
    frames: Collection[str],
    resume: bool,
) -> None:
    """Raise where a checkpoint runs something else than what is given; with ``resume`` it may run more.

    ``frames`` are the streams that come by DataFrames, ``streams`` the others."""
    again = "go on with what it has by Engine.start(resume=True), or start again with a new checkpoint"
    hint = f"run with the same queries and streams, {again}"
    for name, registration in catalog.every_query.items():
        mine = offers.get(name)
        if mine is None:
            if not resume:
                raise CheckpointError(f"the checkpoint runs a query {name!r} that is not given", hint=hint)
            continue
        asked = mine.evaluator not in ("auto", registration.evaluator)
        if mine.text != registration.text or mine.dialect != registration.dialect or asked:
            raise CheckpointError(f"the checkpoint runs another query under the name {name!r}", hint=hint)
        if name in catalog.paused and name not in catalog.failures and not resume:
            raise CheckpointError(f"the query {name!r} is paused in the checkpoint", hint=again)
    for iri, stream in catalog.streams.items():
        if stream.source is None and iri not in frames:
            raise CheckpointError(
                f"the checkpoint reads the stream <{iri}> from a DataFrame, which is not given",
                hint="give it again with Engine.stream, by the same name of its source",
            )
        if stream.source is not None and iri in frames:
            raise CheckpointError(
                f"the checkpoint reads the stream <{iri}> from a source of Weir's, and a DataFrame is given",
                hint=hint,
            )
        if iri not in streams and iri not in frames and not resume:
            raise CheckpointError(f"the checkpoint reads the stream <{iri}>, which is not given", hint=hint)
