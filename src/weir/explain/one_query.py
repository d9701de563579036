"""``weir explain QUERY``: every stage as text, which evaluator takes it, how it is laid out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from weir.explain.plans import parts_text, plan_text, service_text, windows_text
from weir.explain.stages import stages
from weir.extras import load
from weir.kernel.contract import Background
from weir.kernel.evaluators import Choice, choose_evaluator
from weir.language import parse
from weir.language.algebra.query import R2S, Previous, Query
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


def explain_text(query: Query, routing: str = "cost", *, syntax: bool = False) -> str:
    """What a query means, then all stages, each under its name; with ``syntax`` also its syntax tree."""
    return "\n\n".join(f"== {name} ==\n{text}" for name, text in _sections(query, routing, syntax))


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """What a query means and how it will run: ``sections`` by their names, all of them as text by ``str``."""

    sections: Mapping[str, str]

    def __str__(self) -> str:
        return "\n\n".join(f"== {name} ==\n{text}" for name, text in self.sections.items())

    def __repr__(self) -> str:
        return f"<weir.Explanation: {', '.join(self.sections)}>"

    def _repr_html_(self) -> str:
        """The meaning and the plan; the rest to be opened."""
        return "".join(
            f"<details{' open' * (name in _FIRST)}><summary><b>{escape(name)}</b></summary>"
            f"<pre>{escape(text)}</pre></details>"
            for name, text in self.sections.items()
        )


_FIRST = ("warnings", "meaning", "plan")
"""Sections that a notebook shows at once."""


def explanation(query: Query | str, *, dialect: str = "auto", routing: str = "cost") -> Explanation:
    """What a query means, how it is planned, and how it will run."""
    parsed = query if isinstance(query, Query) else parse(query, dialect=dialect)
    return Explanation(dict(_sections(parsed, routing, syntax=True)))


def _sections(query: Query, routing: str, syntax: bool) -> Iterator[tuple[str, str]]:
    if query.warnings:
        yield "warnings", "\n".join(query.warnings)
    plan = plan_query(query, _named_streams(query))
    yield "meaning", f"{windows_text(plan)}\n{_sent(query)}"
    told = stages(query)
    yield from ((name, told[name]) for name in ("semantics", "dataset", "algebra"))
    yield "plan", f"{plan_text(plan)}\n({parts_text(plan)})"
    if services := asked_services(plan.root):
        yield "services", "\n".join(map(service_text, services))
    yield "evaluator", _evaluator(query, routing)
    yield "streams", _streams(query)
    yield "layout", str(splitting(query))
    if syntax:
        yield "ast", told["ast"]


_SENT = {
    R2S.RSTREAM: "every answer, at each evaluation",
    R2S.ISTREAM: "the answers that are new",
    R2S.DSTREAM: "the answers that are gone",
}


def _sent(query: Query) -> str:
    """What is sent out, in words."""
    semantics = query.semantics
    since = {
        Previous.EVALUATION: "since the evaluation before",
        Previous.INSTANT: "since the instant before",
    }[semantics.previous]
    compared = "" if semantics.r2s is R2S.RSTREAM else f" {since}"
    empty = "; evaluations without answers are told of, too" if semantics.report_empty else ""
    return f"It sends {_SENT[semantics.r2s]}{compared} ({semantics.r2s.name}){empty}"


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
