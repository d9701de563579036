"""Content negotiation (RFC 9110, section 12.5.1), and fragments written in each RDF syntax."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from weir.rdf.annotation import Quad, TripleText
from weir.rdf.terms import XSD_STRING, Literal, parse_term
from weir.server.fragments.metadata import GRAPH_MARK, Metadata

HTML = "text/html"

OFFERED = (
    "application/trig",
    "application/n-quads",
    "application/ld+json",
    "text/turtle",
    "application/n-triples",
    HTML,
    "application/json",
)
"""What is served, the most preferred first (browsers ask for HTML by name)."""


@lru_cache(maxsize=1024)
def negotiate(accept: str) -> str | None:
    """The media type to serve for an Accept header; None where nothing fits (406)."""
    if not accept.strip():
        return OFFERED[0]
    ranges: list[tuple[str, float]] = []
    for part in accept.split(",")[:64]:
        media, *parameters = part.strip().lower().split(";")
        quality = 1.0
        for parameter in parameters:
            name, _, value = parameter.strip().partition("=")
            if name == "q":
                try:
                    quality = min(1.0, max(0.0, float(value)))
                except ValueError:
                    quality = 0.0
        ranges.append((media.strip(), quality))
    best: tuple[float, int, int] = (0.0, 0, 0)
    chosen = None
    for rank, media in enumerate(OFFERED):
        quality, exactness = _quality(media, ranges)
        if quality and (quality, exactness, -rank) > best:
            best, chosen = (quality, exactness, -rank), media
    return chosen


def _quality(media: str, ranges: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """The quality that the most exact range gives a media type, and how exact it is."""
    found = (0.0, -1)
    for pattern, quality in ranges:
        exact = 2 if pattern == media else 1 if pattern == f"{media.split('/')[0]}/*" else 0
        if (exact or pattern == "*/*") and exact > found[1]:
            found = (quality, exact)
    return found


def write_nquads(data: Sequence[Quad], metadata: Metadata) -> str:
    graph = metadata.graph
    lines = [f"{s} {p} {o} {graph} .\n" for s, p, o in metadata.own]
    lines.append(metadata.controls.quads.replace(GRAPH_MARK, graph))
    lines += [f"{s} {p} {o} {graph} .\n" for s, p, o in metadata.labels]
    lines += [f"{s} {p} {o} {g} .\n" if g else f"{s} {p} {o} .\n" for s, p, o, g in data]
    return "".join(lines)


def write_ntriples(data: Sequence[Quad], metadata: Metadata) -> str:
    """Triples alone: graph names are lost, and metadata lie beside the data."""
    lines = [f"{s} {p} {o} .\n" for s, p, o in metadata.own]
    lines.append(metadata.controls.statements)
    lines += [f"{s} {p} {o} .\n" for s, p, o, _ in data]
    return "".join(lines)


def write_turtle(data: Sequence[Quad], metadata: Metadata) -> str:
    return _by_subject(metadata.own) + metadata.controls.statements + _by_subject([quad[:3] for quad in data])


def write_trig(data: Sequence[Quad], metadata: Metadata) -> str:
    graphs: dict[str, list[TripleText]] = {"": []}
    for quad in data:
        graphs.setdefault(quad[3], []).append(quad[:3])
    said = _by_subject(metadata.own) + metadata.controls.statements + _by_subject(metadata.labels)
    parts = [f"{metadata.graph} {{\n{said}}}\n", _by_subject(graphs.pop(""))]
    parts += [f"{name} {{\n{_by_subject(triples)}}}\n" for name, triples in graphs.items()]
    return "".join(parts)


def _by_subject(triples: Sequence[TripleText]) -> str:
    """Turtle with neighbours of equal subject under one subject."""
    lines: list[str] = []
    last = None
    for s, p, o in triples:
        if s == last:
            lines.append(f" ;\n  {p} {o}")
        else:
            lines.append(f"{' .' if lines else ''}\n{s} {p} {o}")
            last = s
    return "".join(lines) + " .\n" if lines else ""


def write_jsonld(data: Sequence[Quad], metadata: Metadata) -> str:
    graphs: dict[str, list[TripleText]] = {}
    for quad in data:
        graphs.setdefault(quad[3], []).append(quad[:3])
    nodes = _nodes(graphs.pop("", []))
    for name, triples in ((metadata.graph, metadata.triples), *graphs.items()):
        nodes.append({"@id": _json_id(name), "@graph": _nodes(triples)})
    return json.dumps(nodes, ensure_ascii=False, indent=1) + "\n"


def _nodes(triples: Sequence[TripleText]) -> list[dict[str, Any]]:
    nodes: dict[str, dict[str, Any]] = {}
    for s, p, o in triples:
        node = nodes.setdefault(s, {"@id": _json_id(s)})
        node.setdefault(_json_id(p), []).append(_json_value(o))
    return list(nodes.values())


def _json_id(text: str) -> str:
    return text[1:-1] if text[0] == "<" else text


def _json_value(text: str) -> dict[str, str]:
    if text[0] != '"':
        return {"@id": _json_id(text)}
    term = parse_term(text)
    assert isinstance(term, Literal)
    if term.language is not None:
        return {"@value": term.lexical, "@language": term.language}
    if term.datatype == XSD_STRING:
        return {"@value": term.lexical}
    return {"@value": term.lexical, "@type": term.datatype}


WITH_GRAPHS = frozenset(
    ("application/trig", "application/n-quads", "application/ld+json", "application/json")
)
"""Syntaxes that keep data and metadata apart."""

Writer = Callable[[Sequence[Quad], Metadata], str]

WRITERS: Mapping[str, Writer] = {
    "application/trig": write_trig,
    "application/n-quads": write_nquads,
    "application/ld+json": write_jsonld,
    "application/json": write_jsonld,
    "text/turtle": write_turtle,
    "application/n-triples": write_ntriples,
}
