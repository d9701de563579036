"""Fragments written as N-Quads, converted to the other RDF syntaxes, and as HTML to browse.

A page of two triples carries some forty of metadata and controls, which differ from those of other pages
in a few terms alone. The text around those terms, a template with gaps, is made once for each set of them
that applies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
from weir.rdf.formats.guarded_parser import rewritten
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

NQUADS = "application/n-quads"
"""What documents are written in, and then converted."""


@lru_cache(maxsize=1024)
def media_type_for(accept: str) -> str | None:
    """The media type to serve for an Accept header; None where nothing fits (406)."""
    return negotiate(accept, OFFERED)


def lines(quads: Iterable[Quad]) -> str:
    """Quads as N-Quads."""
    return "".join([f"{s} {p} {o} {g} .\n" if g else f"{s} {p} {o} .\n" for s, p, o, g in quads])


def _said(graph: str, triples: Iterable[TripleText]) -> str:
    return lines((*triple, graph) for triple in triples)


def write_document(media_type: str, data: Sequence[Quad], metadata: Metadata) -> bytes:
    """A document in any RDF syntax that is offered."""
    graph, own, controls = metadata
    return converted(encoded(f"{_said(graph, [*own, *controls])}{lines(data)}"), media_type)


def converted(document: bytes, media_type: str) -> bytes:
    """N-Quads in another syntax. Where that has no graphs, metadata lie beside the data."""
    if media_type == NQUADS:
        return document
    return rewritten(document, ox.RdfFormat.N_QUADS, media_type)


_Key: TypeAlias = tuple[Dataset, str, str, int, bool, bool, tuple[str, ...]]
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
    ) -> bytes:
        """The document of one page, as ``write_document`` writes it from its metadata.

        Where the syntax has no graphs, labels are left out: they would lie among the data.
        """
        values = values_of(about)
        own, chosen, controls = self.of(dataset, about, tuple(values))
        filled: bytes = own % chosen({name: value.encode() for name, value in values.items()})
        apart = media_type not in ("text/turtle", "application/n-triples")
        said = _said(about.graph, (quad[:3] for quad in labels)) if apart else ""
        return converted(filled + controls + encoded(f"{said}{lines(data)}"), media_type)

    def of(self, dataset: Dataset, about: Described, names: tuple[str, ...]) -> Template:
        """The template of a page for which there are values of these names."""
        request, _, address, title, _, _, page_size, _ = about
        key = (dataset, address, title, page_size, about.brief, not request.fragment, names)
        return self._made.get(key) or self._make(key, about)

    def _make(self, key: _Key, about: Described) -> Template:
        graph, own, controls = metadata_of(about, {name: f"\0{name}\0" for name in key[-1]})
        text = _said(graph, own).replace("%", "%%")
        names = re.findall(r"\0(\w+)\0", text)
        template = Template(
            own=encoded(re.sub(r"\0\w+\0", "%b", text)),
            chosen=itemgetter(*names),
            controls=encoded(_said(graph, controls)),
        )
        if len(self._made) >= _MOST:
            self._made.clear()
        self._made[key] = template
        return template


def encoded(text: str) -> bytes:
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


def index_page(datasets: Sequence[tuple[str, str]]) -> str:
    """The list of data sets: address, title."""
    items = [f'<li><a href="{escape(address)}">{escape(name)}</a></li>' for address, name in datasets]
    return _document("Weir fragments", ["<h1>Weir fragments</h1>", "<ul>", *items, "</ul>"])


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
