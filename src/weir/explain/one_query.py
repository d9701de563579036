"""``weir explain QUERY``: every stage as text, which evaluator takes it, how it is laid out; and, with data,
what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weir.errors import EvaluationError
from weir.explain.plans import parts_text, plan_text, service_text, windows_text
from weir.explain.stages import stages
from weir.kernel.contract import Background, FailedAt, Slab
from weir.kernel.evaluators import Choice, choose_evaluator
from weir.language.algebra.query import Query
from weir.linked.graphs import GraphSources
from weir.linked.service import ServiceResolver
from weir.plan.analysis.bind_joins import asked_services
from weir.plan.analysis.demand import Wanted, demands
from weir.plan.analysis.split import splitting
from weir.plan.planner import plan_query
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.runtime.control.failure import reason_of
from weir.runtime.ingest.dealing import share
from weir.runtime.ingest.matching import Selection
from weir.runtime.output.text_columns import timestamp

ROUTING = {
    "cost": "cost: after each operator, the join that gives the fewest rows (CQELS, Example 1)",
    "cardinality": "cardinality: after each operator, the input with the fewest rows (CQELS, Algorithm 2)",
}
"""The policies in words."""


def explain_text(query: Query, routing: str = "cost") -> str:
    """All stages, each under its name."""
    return "\n\n".join(f"== {name} ==\n{text}" for name, text in _sections(query, routing))


def _sections(query: Query, routing: str) -> Iterator[tuple[str, str]]:
    yield from stages(query).items()
    yield from (("warnings", warning) for warning in query.warnings)
    plan = plan_query(query, _named_streams(query))
    yield "plan", f"{plan_text(plan)}\n({parts_text(plan)})"
    yield "windows", windows_text(plan)
    if services := asked_services(plan.root):
        yield "services", "\n".join(map(service_text, services))
    yield "evaluator", _evaluator(query, routing)
    yield "streams", _streams(query)
    yield "layout", str(splitting(query))


def _named_streams(query: Query) -> tuple[str, ...]:
    return tuple(stream for stream in query.streams if isinstance(stream, str))


def _evaluator(query: Query, routing: str) -> str:
    choice = _chosen(query, Background(), Dictionary(), _named_streams(query), routing)
    if choice.reason is not None:
        return f"{choice.name}: interval does not cover {choice.reason}"
    policy = choice.evaluator.statistics().get("policy")
    return f"{choice.name}: covers all of the query" + (
        f"\njoins are routed by {ROUTING[policy]}" if policy else ""
    )


def _chosen(
    query: Query, background: Background, dictionary: Dictionary, streams: Sequence[str], routing: str
) -> Choice:
    services = ServiceResolver(dictionary)
    return choose_evaluator(
        query, background, dictionary, streams=streams, services=services, routing=routing
    )


def _streams(query: Query) -> str:
    lines = []
    for stream, wanted in demands(query, _named_streams(query)).items():
        lines.append(f"<{stream}> keeps triples that match")
        lines += [f"    {_pattern(each)}" for each in wanted] or ["    nothing"]
    return "\n".join(lines) or "none"


def _pattern(wanted: Wanted) -> str:
    if wanted.names:
        which = "every named graph" if wanted.graph is None else str(wanted.graph)
        return f"anything, once a message, in {which}"
    places = (wanted.subject, wanted.predicate, wanted.object)
    text = " ".join("?" if term is None else str(term) for term in places)
    return text if wanted.graph is None else f"{text} in {wanted.graph}"


SLOTS = (2, 8, 32)
"""Numbers of slots for which ``analyze`` tells how a split query would be spread."""
SAMPLE = 1 << 26
"""The most bytes of a stream that ``analyze`` looks at."""


def analyze_text(
    query: Query, streams: Mapping[str, Path], graphs: GraphSources, routing: str = "cost"
) -> str:
    """The query run over the beginning of its ``.tnq`` files, without Spark: what was done, how often."""
    dictionary = Dictionary()
    static_graphs = graphs.open(dictionary)
    background = static_graphs.extract(query, tuple(streams))
    choice = _chosen(query, background, dictionary, tuple(streams), routing)
    batches = {iri: _batch(path, dictionary) for iri, path in streams.items()}
    try:
        answers = choice.evaluator.advance(Slab(batches, through=0, end=True))
    except FailedAt as failed:
        when = timestamp(failed.time)
        raise EvaluationError(
            f"the query fails at {when}", detail=reason_of(failed.__cause__ or failed)
        ) from failed
    lines = [f"answers: {len(answers.at):,} in {answers.evaluations:,} evaluations"]
    lines += _counters(choice.evaluator.statistics())
    lines += _skew(query, batches, dictionary)
    return "== analysis ==\n" + "\n".join(lines)


def _skew(query: Query, batches: Mapping[str, Messages], dictionary: Dictionary) -> Iterator[str]:
    """How evenly the triples that a split query wants are spread over some numbers of slots."""
    place = splitting(query).place
    if place is None:
        return
    wanted = demands(query, tuple(batches))
    found = [Selection(wanted.get(stream, ()), dictionary).of(each) for stream, each in batches.items()]
    for slots in SLOTS:
        held = sum(np.bincount(share(each.quads, place, slots), minlength=slots) for each in found)
        mean = float(np.sum(held)) / slots
        if mean:
            most = float(np.max(held)) / mean
            yield f"over {slots} slots: the fullest has {most:.2f} x the mean of {mean:,.0f} triples"


def _batch(path: Path, dictionary: Dictionary) -> Messages:
    with open(path, "rb") as file:
        data = file.read(SAMPLE)
        data += file.readline()
    found = parse_lines(data, scope=path.name, key=dictionary.key)
    for terms in found.terms:
        known = terms.ids > 0
        dictionary.add(terms.ids[known], terms.texts.filter(known).to_list())
    return found.messages.ordered()


def _counters(values: Mapping[str, Any], indent: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines.append(f"{indent}{name.replace('_', ' ')}:" + ("" if value else " none"))
            lines += _counters({str(key): each for key, each in value.items()}, indent + "    ")
        else:
            shown = f"{value:,}" if isinstance(value, int) else value
            lines.append(f"{indent}{name.replace('_', ' ')}: {shown if shown != [] else 'none'}")
    return lines
