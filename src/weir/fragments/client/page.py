"""One page of a fragment, taken apart: data, count, next page, forms, and until when it holds.

In syntaxes with graphs the metadata lie in the graph whose primary topic is the fragment; in others they
lie beside the data, and only what the hypermedia vocabularies say is taken out. What a server sends is
believed as far as it can be checked: data that do not match the pattern asked for are dropped by the
caller, a count is only an estimate.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from urllib.parse import urljoin

from weir.errors import DataError, RemoteError
from weir.fragments.protocol.annotation import EXPIRATION, LABELS, Quad, read_time
from weir.fragments.protocol.controls import ANNOTATION, FOAF, HYDRA, SD, VOID, Form
from weir.fragments.protocol.documents import parse_document
from weir.rdf.terms import Literal, parse_term

_PRIMARY_TOPIC = f"<{FOAF}primaryTopic>"
_SUBSET = f"<{VOID}subset>"
_TOTALS = (f"<{HYDRA}totalItems>", f"<{VOID}triples>")
_NEXT = (f"<{HYDRA}next>", f"<{HYDRA}nextPage>")
_PER_PAGE = f"<{HYDRA}itemsPerPage>"
_HYPERMEDIA = (f"<{HYDRA}", f"<{VOID}", f"<{SD}")
_COUNT = re.compile(r'"\+?(\d{1,18})"(?:\^\^<[^<>]*>)?')


@dataclass(frozen=True, slots=True)
class Page:
    """``total`` is the server's estimate for the whole fragment, None where it gives none."""

    url: str
    data: tuple[Quad, ...]
    total: int | None
    per_page: int | None
    next: str | None
    forms: tuple[Form, ...]
    expires: int | None
    declared: tuple[str, ...] = ()
    """The annotations that the data set is said to use."""
    labels: tuple[Quad, ...] = ()
    """Time labels of the facts on the page that came with it."""

    @property
    def estimate(self) -> int:
        """A count that what was seen cannot contradict."""
        if self.next is None:
            return len(self.data)
        return max(self.total or 0, len(self.data) + 1)


def parse_page(url: str, body: bytes, media_type: str, most: int) -> Page:
    """The page that lies at ``url``; what cannot be read is a ``RemoteError``."""
    try:
        quads = parse_document(body, media_type, base=url, most=most)
    except DataError as error:
        raise RemoteError(f"the fragment {url} is malformed", detail=str(error)) from None
    graph = _metadata_graph(quads, url)
    if graph is None:
        controls = [quad for quad in quads if quad[1].startswith(_HYPERMEDIA) or quad[1] == _PRIMARY_TOPIC]
        described = {quad[0] for quad in controls}
        data = tuple(quad for quad in quads if quad[0] not in described)
        metadata = [quad for quad in quads if quad[0] in described]
    else:
        data = tuple(quad for quad in quads if quad[3] != graph)
        metadata = [quad for quad in quads if quad[3] == graph]
    return _page(url, data, metadata)


def _metadata_graph(quads: list[Quad], url: str) -> str | None:
    page = f"<{url}>"
    fragments = {s for s, p, o, _ in quads if p == _SUBSET and o == page} | {page}
    for s, p, o, g in quads:
        if p == _PRIMARY_TOPIC and g == s and o in fragments:
            return g
    return None


def _page(url: str, data: tuple[Quad, ...], metadata: list[Quad]) -> Page:
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    by_predicate: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for s, p, o, _ in metadata:
        said[s, p].append(o)
        by_predicate[p].append((s, o))
    page = f"<{url}>"
    following = next((o for p in _NEXT for o in said.get((page, p), ()) if o[0] == "<"), None)
    expires = said.get((page, EXPIRATION), ())
    return Page(
        url=url,
        data=data,
        total=_number(url, [o for p in _TOTALS for _, o in by_predicate.get(p, ())]),
        per_page=_number(url, [o for _, o in by_predicate.get(_PER_PAGE, ())]),
        next=urljoin(url, following[1:-1]) if following is not None else None,
        forms=tuple(_forms(said, by_predicate)),
        expires=_time(url, expires[0]) if expires else None,
        labels=tuple(quad for quad in metadata if quad[1] in LABELS and quad[3] and quad[0] != page),
        declared=tuple(o for _, o in by_predicate.get(f"<{ANNOTATION}>", ())),
    )


def _number(url: str, texts: list[str]) -> int | None:
    if not texts:
        return None
    match = _COUNT.fullmatch(texts[0])
    if match is None:
        raise RemoteError(f"the fragment {url} is malformed", detail=f"its count is {texts[0][:80]}")
    return int(match[1])


def _time(url: str, text: str) -> int:
    try:
        return read_time(text)
    except DataError as error:
        raise RemoteError(f"the fragment {url} is malformed", detail=error.primary) from None


def _forms(
    said: dict[tuple[str, str], list[str]], by_predicate: dict[str, list[tuple[str, str]]]
) -> list[Form]:
    forms = []
    for _, form in by_predicate.get(f"<{HYDRA}search>", ())[:16]:
        templates = said.get((form, f"<{HYDRA}template>"), ())
        mappings: dict[str, str] = {}
        for mapping in said.get((form, f"<{HYDRA}mapping>"), ())[:64]:
            variable = said.get((mapping, f"<{HYDRA}variable>"), ())
            meaning = said.get((mapping, f"<{HYDRA}property>"), ())
            if variable and meaning and variable[0][0] == '"' and meaning[0][0] == "<":
                mappings[meaning[0][1:-1]] = _lexical(variable[0])
        if len(templates) == 1 and templates[0][0] == '"':
            forms.append(Form(_lexical(templates[0]), mappings))
    return forms


def _lexical(text: str) -> str:
    term = parse_term(text)
    assert isinstance(term, Literal)
    return term.lexical
