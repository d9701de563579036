"""Fragments written in each RDF syntax, and as HTML to browse.

A page of two triples carries some forty of metadata and controls, which differ from those of other pages
in a few terms alone. The text around those terms, a template with gaps, is made once for each set of them
that applies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlencode

import pyoxigraph as ox

from weir.fragments.protocol.annotation import FOREVER, Quad, TripleText, time_lexical
from weir.fragments.protocol.controls import value_of
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.metadata import Described, Metadata, metadata_of, values_of
from weir.fragments.server.request import PLACES
from weir.linked.http.headers import negotiate
from weir.rdf.terms import Literal, Variable, parse_term

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
def media_type_for(accept: str) -> str | None:
    """The media type to serve for an Accept header; None where nothing fits (406)."""
    return negotiate(accept, OFFERED)


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
    lines = _encoded(SYNTAXES["application/n-quads"].write(data, metadata))
    quads = ox.parse(lines, format=ox.RdfFormat.N_QUADS, lenient=True)
    written = ox.serialize(quads, format=ox.RdfFormat.JSON_LD)
    assert written is not None
    return written.decode()


WITH_GRAPHS = frozenset(
    ("application/trig", "application/n-quads", "application/ld+json", "application/json")
)
"""Syntaxes that keep data and metadata apart."""


def write_document(media_type: str, data: Sequence[Quad], metadata: Metadata) -> str:
    """A document in any RDF syntax that is offered."""
    syntax = SYNTAXES.get(media_type)
    return write_jsonld(data, metadata) if syntax is None else syntax.write(data, metadata)


_Key: TypeAlias = tuple[Dataset, str, str, str, int, bool, bool, tuple[str, ...]]
_MOST = 1024


class Template(NamedTuple):
    """``own`` has a ``%b`` for each of the values that ``chosen`` takes; ``controls`` are always the same."""

    own: bytes
    chosen: Callable[[dict[str, bytes]], Any]
    controls: bytes


class Templates:
    """The templates of a server's data sets, by all that they depend on."""

    def __init__(self) -> None:
        self._made: dict[_Key, Template] = {}

    def write(
        self,
        dataset: Dataset,
        media_type: str,
        about: Described,
        data: Sequence[Quad],
        labels: Sequence[Quad] = (),
    ) -> tuple[bytes, ...]:
        """The document of one page in pieces, as ``write_document`` writes it from its metadata."""
        values = values_of(about)
        syntax = SYNTAXES.get(media_type)
        if syntax is None:
            return (_encoded(write_jsonld(data, metadata_of(about, values, labels))),)
        own, chosen, controls = self.of(dataset, media_type, about, tuple(values))
        filled = own % chosen({name: value.encode() for name, value in values.items()})
        said = syntax.labels(about.graph, [quad[:3] for quad in labels]) if labels else ""
        return filled, controls, _encoded(f"{said}{syntax.closing}{syntax.data(data)}")

    def of(self, dataset: Dataset, media_type: str, about: Described, names: tuple[str, ...]) -> Template:
        """The template of a page for which there are values of these names."""
        request, _, address, title, _, _, page_size, _ = about
        key = (dataset, media_type, address, title, page_size, about.brief, not request.fragment, names)
        return self._made.get(key) or self._make(key, SYNTAXES[media_type], about)

    def _make(self, key: _Key, syntax: Syntax, about: Described) -> Template:
        graph, own, controls, _ = metadata_of(about, {name: f"\0{name}\0" for name in key[-1]})
        text = syntax.own(graph, own).replace("%", "%%")
        names = re.findall(r"\0(\w+)\0", text)
        template = Template(
            own=_encoded(re.sub(r"\0\w+\0", "%b", text)),
            chosen=itemgetter(*names),
            controls=_encoded(syntax.controls(graph, controls)),
        )
        if len(self._made) >= _MOST:
            self._made.clear()
        self._made[key] = template
        return template


def _encoded(text: str) -> bytes:
    """Lone surrogates, which only broken clients and data have, are replaced."""
    return text.encode("utf-8", "replace")


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25em .6em;"
    "border-bottom:1px solid #ddd;overflow-wrap:anywhere}a{color:#05a;text-decoration:none}"
    "label{display:inline-block;margin:.2em 1em .2em 0}input{font:inherit;width:22em}nav a{margin-right:1em}"
)


def _document(title: str, body: Iterable[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n"
        "</body></html>\n"
    )


def index_page(title: str, datasets: Sequence[tuple[str, str, str]]) -> str:
    """The list of data sets: address, title, description."""
    items = [
        f'<li><a href="{escape(address)}">{escape(name)}</a> {escape(description)}</li>'
        for address, name, description in datasets
    ]
    return _document(title, [f"<h1>{escape(title)}</h1>", "<ul>", *items, "</ul>"])


def fragment_page(about: Described, data: Sequence[Quad]) -> str:
    """One page of a fragment."""
    request = about.request
    filled = ["" if p is None or isinstance(p, Variable) else value_of(p) for p in request.places]
    fields = [
        f'<label>{name} <input name="{name}" value="{escape(value)}"></label>'
        for name, value in zip(PLACES, filled, strict=True)
    ]
    first = (request.page - 1) * about.page_size
    shown = f"{first + 1} to {first + len(data)} of {about.total}" if data else f"none of {about.total}"
    until = "" if about.changes >= FOREVER else f", valid until {escape(time_lexical(about.changes))}"
    links = [
        f'<a href="{escape(about.numbered(number))}" rel="{rel}">{rel} page</a>'
        for rel, number in (("previous", about.preceding), ("next", about.following))
        if number is not None
    ]
    head = "".join(f"<th>{name}</th>" for name in PLACES)
    rows = [
        "<tr>" + "".join(_cell(about.dataset, *pair) for pair in zip(PLACES, quad, strict=True)) + "</tr>"
        for quad in data
    ]
    return _document(
        about.title,
        [
            f'<h1><a href="{escape(about.dataset)}">{escape(about.title)}</a></h1>',
            f'<form action="{escape(about.dataset)}" method="get">',
            *fields,
            "<button>find</button></form>",
            f"<p>{shown}{until}</p>",
            f"<nav>{''.join(links)}</nav>",
            f"<table><tr>{head}</tr>",
            *rows,
            "</table>",
        ],
    )


def _cell(dataset: str, name: str, text: str) -> str:
    link = f"{dataset}?{urlencode({name: value_of(text)})}"
    return f'<td><a href="{escape(link)}">{escape(readable(text))}</a></td>'


def readable(text: str) -> str:
    """A term for people: IRIs without brackets, literals by their lexical form."""
    if not text:
        return "(default)"
    term = parse_term(text)
    return term.lexical if isinstance(term, Literal) else text.strip("<>")
