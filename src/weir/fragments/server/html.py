"""Fragments to browse: a form, a table of quads whose terms link to their own fragments, page links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlencode

from weir.fragments.protocol.annotation import FOREVER, Quad, time_text
from weir.fragments.protocol.controls import readable, value_of
from weir.fragments.server.metadata import Described
from weir.rdf.terms import Variable

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25em .6em;"
    "border-bottom:1px solid #ddd;overflow-wrap:anywhere}a{color:#05a;text-decoration:none}"
    "label{display:inline-block;margin:.2em 1em .2em 0}input{font:inherit;width:22em}nav a{margin-right:1em}"
)
_NAMES = ("subject", "predicate", "object", "graph")


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
        for name, value in zip(_NAMES, filled, strict=True)
    ]
    first = (request.page - 1) * about.page_size
    shown = f"{first + 1} to {first + len(data)} of {about.total}" if data else f"none of {about.total}"
    until = "" if about.changes >= FOREVER else f", valid until {escape(readable(time_text(about.changes)))}"
    links = [
        f'<a href="{escape(about.numbered(number))}" rel="{rel}">{rel} page</a>'
        for rel, number in (("previous", about.preceding), ("next", about.following))
        if number is not None
    ]
    head = "".join(f"<th>{name}</th>" for name in _NAMES)
    rows = [
        "<tr>" + "".join(_cell(about.dataset, *pair) for pair in zip(_NAMES, quad, strict=True)) + "</tr>"
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
