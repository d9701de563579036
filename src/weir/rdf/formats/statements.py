"""One N-Triples or N-Quads statement per text, read strictly; canonical term texts come out.

This is the slow and complete path: what a vectorised reader does not recognise comes here, and what is
refused here is malformed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import pyoxigraph as ox

from weir.rdf.formats.guards import statement_refusal
from weir.rdf.messages import NO_GRAPH_TEXT
from weir.rdf.terms import IRI, BlankNode, Literal

QuadText: TypeAlias = tuple[str, str, str, str]

_REASON_LENGTH = 300


def term_text(term: object) -> str:
    """The canonical text of a pyoxigraph term; ``ValueError`` for terms that RDF 1.1 has not."""
    if isinstance(term, ox.NamedNode):
        return str(IRI(term.value))
    if isinstance(term, ox.BlankNode):
        return str(BlankNode(term.value))
    if isinstance(term, ox.Literal):
        if term.language is None:
            return str(Literal(term.value, term.datatype.value))
        if getattr(term, "direction", None) is not None:
            raise ValueError("strings with a base direction are not supported")
        return str(Literal.tagged(term.value, term.language))
    if isinstance(term, ox.DefaultGraph):
        return NO_GRAPH_TEXT
    raise ValueError("triple terms are not supported")


def quad_texts(quads: Iterable[ox.Quad]) -> list[QuadText]:
    """The canonical texts of quads, the graph empty where there is none."""
    return [
        (
            term_text(quad.subject),
            term_text(quad.predicate),
            term_text(quad.object),
            term_text(quad.graph_name),
        )
        for quad in quads
    ]


def read_statements(texts: Sequence[str]) -> list[QuadText | str]:
    """For each text its quad, or the reason why it is none.

    A run of good statements is parsed as one document; where that fails it is halved, so that a few bad
    lines among many cost little.
    """
    if not texts:
        return []
    if any("<<" in text for text in texts):
        return _guarded(texts)
    return _halving(texts)


def _guarded(texts: Sequence[str]) -> list[QuadText | str]:
    """The same where some texts may be too deep for the parser."""
    reasons = [statement_refusal(text) for text in texts]
    found = iter(_halving([text for text, why in zip(texts, reasons, strict=True) if why is None]))
    return [next(found) if why is None else why for why in reasons]


def _halving(texts: Sequence[str]) -> list[QuadText | str]:
    if not texts:
        return []
    try:
        found = quad_texts(ox.parse("\n".join(texts), format=ox.RdfFormat.N_QUADS))
    except (SyntaxError, ValueError, MemoryError) as error:
        if len(texts) == 1:
            return [_reason(error)]
    else:
        if len(found) == len(texts):
            return list(found)
        if len(texts) == 1:
            return ["no statement" if not found else "more than one statement"]
    half = len(texts) // 2
    return _halving(texts[:half]) + _halving(texts[half:])


def _reason(error: Exception) -> str:
    text = "longer than the parser takes" if isinstance(error, MemoryError) else str(error)
    prefix = "Parser error at line 1 "
    text = text.removeprefix(prefix).removesuffix(" (line 1)")
    return text if len(text) <= _REASON_LENGTH else text[:_REASON_LENGTH] + "…"
