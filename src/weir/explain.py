"""``weir explain``: every stage of a query as text, then which evaluator takes it and how it is laid out."""

from __future__ import annotations

from weir.background.service.resolver import ServiceResolver
from weir.kernel.background import Background
from weir.kernel.evaluator import choose_evaluator
from weir.language.explain import stages
from weir.language.query import Query
from weir.rdf.dictionary import Dictionary
from weir.runtime.demand import Wanted, demands


def explain_text(query: Query) -> str:
    """All stages, each under its name."""
    parts = [f"== {name} ==\n{text}" for name, text in stages(query).items()]
    parts += [f"== warnings ==\n{warning}" for warning in query.warnings]
    parts.append(f"== evaluator ==\n{_evaluator(query)}")
    parts.append(f"== streams ==\n{_streams(query)}")
    return "\n\n".join(parts)


def _evaluator(query: Query) -> str:
    streams = tuple(s for s in query.streams if isinstance(s, str))
    dictionary = Dictionary()
    services = ServiceResolver(dictionary)
    choice = choose_evaluator(query, Background(), dictionary, streams=streams, services=services)
    return choice.name if choice.reason is None else f"{choice.name}: interval does not cover {choice.reason}"


def _streams(query: Query) -> str:
    streams = tuple(s for s in query.streams if isinstance(s, str))
    lines = []
    for stream, wanted in demands(query, streams).items():
        lines.append(f"<{stream}> keeps triples that match")
        lines += [f"    {_pattern(each)}" for each in wanted] or ["    nothing"]
    return "\n".join(lines) or "none"


def _pattern(wanted: Wanted) -> str:
    places = (wanted.subject, wanted.predicate, wanted.object)
    text = " ".join("?" if term is None else str(term) for term in places)
    return text if wanted.graph is None else f"{text} in {wanted.graph}"
