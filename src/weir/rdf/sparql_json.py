"""Terms in SPARQL 1.1 Query Results JSON, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.rdf.terms import IRI, RDF_LANGSTRING, XSD_STRING, BlankNode, Literal, Term


def json_term(term: Term) -> dict[str, str]:
    """A term as JSON; plain strings have no datatype."""
    if isinstance(term, IRI):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": term.label}
    out = {"type": "literal", "value": term.lexical}
    if term.datatype == RDF_LANGSTRING:
        out["xml:lang"] = term.language or ""
    elif term.datatype != XSD_STRING:
        out["datatype"] = term.datatype
    return out


def term_of_json(value: Mapping[str, Any]) -> Term:
    """A term from JSON; what is none raises ``LookupError``, ``TypeError`` or ``ValueError``."""
    kind, text = value["type"], _text(value["value"])
    if kind == "uri":
        return IRI(text)
    if kind == "bnode":
        return BlankNode(text)
    if kind in ("literal", "typed-literal"):
        return literal_of(text, value.get("xml:lang"), value.get("datatype"))
    raise ValueError(f"unknown kind of term {kind!r}")


def literal_of(lexical: str, language: Any, datatype: Any) -> Literal:
    """A literal from its parts, of which two may be missing."""
    if language:
        return Literal.tagged(lexical, _text(language))
    return Literal(lexical, _text(datatype) if datatype else XSD_STRING)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no string")
    return value
