"""``weir explain QUERY``: every stage as text, which evaluator takes it, how it is laid out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.explain.plans import parts_text, plan_text, service_text, windows_text
from weir.explain.stages import stages
from weir.extras import load
from weir.kernel.contract import Background
from weir.kernel.evaluators import Choice, choose_evaluator
from weir.language.algebra.query import Query
from weir.plan.analysis.bind_joins import asked_services
from weir.plan.analysis.demand import Wanted, demands
from weir.plan.analysis.split import splitting
from weir.plan.planner import plan_query
from weir.rdf.ids.dictionary import Dictionary

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
    choice = chosen(query, Background(), Dictionary(), _named_streams(query), routing)
    if choice.reason is not None:
        return f"{choice.name}: interval does not cover {choice.reason}"
    policy = choice.evaluator.statistics().get("policy")
    return f"{choice.name}: covers all of the query" + (
        f"\njoins are routed by {ROUTING[policy]}" if policy else ""
    )


def chosen(
    query: Query, background: Background, dictionary: Dictionary, streams: Sequence[str], routing: str
) -> Choice:
    """The evaluator that takes the query; what asks endpoints is read only where there is one to ask."""
    services = None
    if asked_services(plan_query(query, streams).root):
        services = load("weir.linked.service").ServiceResolver(dictionary)
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
