"""Content negotiation (RFC 9110, section 12.5.1), and fragments written in each RDF syntax."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from weir.fragments.protocol.annotation import Quad, TripleText
from weir.fragments.server.metadata import Metadata
from weir.rdf.terms import XSD_STRING, Literal, parse_term

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


class Syntax(NamedTuple):
    """A syntax whose documents are made of pieces: what the page says of itself, the controls, time labels,
    ``closing``, data. All but the data may name the metadata graph."""

    own: Callable[[str, Sequence[TripleText]], str]
    controls: Callable[[str, Sequence[TripleText]], str]
    labels: Callable[[str, Sequence[TripleText]], str]
    data: Callable[[Sequence[Quad]], str]
    closing: str = ""

    def write(self, data: Sequence[Quad], metadata: Metadata) -> str:
        """A whole document."""
        graph, own, controls, labels = metadata
        said = f"{self.own(graph, own)}{self.controls(graph, controls)}{self.labels(graph, labels)}"
        return f"{said}{self.closing}{self.data(data)}"


def _quad_lines(graph: str, triples: Sequence[TripleText]) -> str:
    return "".join([f"{s} {p} {o} {graph} .\n" for s, p, o in triples])


def _quads(data: Sequence[Quad]) -> str:
    return "".join([f"{s} {p} {o} {g} .\n" if g else f"{s} {p} {o} .\n" for s, p, o, g in data])


def _lines(graph: str, triples: Sequence[TripleText]) -> str:
    """Triples alone: graph names are lost, and metadata lie beside the data."""
    return "".join([f"{s} {p} {o} .\n" for s, p, o in triples])


def _grouped(graph: str, triples: Sequence[TripleText]) -> str:
    return _by_subject(triples)


def _nothing(graph: str, triples: Sequence[TripleText]) -> str:
    """Without graphs, labels would lie among the data."""
    return ""


def _trig_data(data: Sequence[Quad]) -> str:
    graphs: dict[str, list[TripleText]] = {"": []}
    for quad in data:
        graphs.setdefault(quad[3], []).append(quad[:3])
    parts = [_by_subject(graphs.pop(""))]
    parts += [f"{name} {{\n{_by_subject(triples)}}}\n" for name, triples in graphs.items()]
    return "".join(parts)


SYNTAXES: Mapping[str, Syntax] = {
    "application/trig": Syntax(
        own=lambda graph, triples: f"{graph} {{\n{_by_subject(triples)}",
        controls=_lines,
        labels=_grouped,
        data=_trig_data,
        closing="}\n",
    ),
    "application/n-quads": Syntax(_quad_lines, _quad_lines, _quad_lines, _quads),
    "text/turtle": Syntax(_grouped, _lines, _nothing, lambda data: _by_subject([quad[:3] for quad in data])),
    "application/n-triples": Syntax(
        _lines, _lines, _nothing, lambda data: _lines("", [quad[:3] for quad in data])
    ),
}
"""Those written piece by piece; JSON-LD is written whole."""


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


def write_document(media_type: str, data: Sequence[Quad], metadata: Metadata) -> str:
    """A document in any RDF syntax that is offered."""
    syntax = SYNTAXES.get(media_type)
    return write_jsonld(data, metadata) if syntax is None else syntax.write(data, metadata)
