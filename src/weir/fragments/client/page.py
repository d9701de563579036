"""Pages of fragments: fetched within limits, and taken apart into data, count, next page, forms, expiry.

In syntaxes with graphs the metadata lie in the graph whose primary topic is the fragment; in others they
lie beside the data, and only what the hypermedia vocabularies say is taken out. What a server sends is
believed as far as it can be checked: data that do not match the pattern asked for are dropped by the
caller, a count is only an estimate.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from weir.errors import DataError, RemoteError
from weir.fragments.protocol import controls
from weir.fragments.protocol.annotation import EXPIRATION, LABELS, Quad, read_time
from weir.fragments.protocol.controls import HYDRA, SD, VOID, Form
from weir.linked.http import Clock, HttpCache, HttpClient, RequestLimits, Response
from weir.rdf.formats.guarded_parser import SYNTAXES, parse_document
from weir.rdf.terms import Literal, parse_term

if TYPE_CHECKING:
    import httpx

ACCEPT = (
    "application/n-quads, application/trig;q=0.9, application/ld+json;q=0.6, "
    "text/turtle;q=0.5, application/n-triples;q=0.5, application/rdf+xml;q=0.2"
)
_TOTALS = (controls.TOTAL_ITEMS, controls.TRIPLES)
_NEXT = (controls.NEXT, f"<{HYDRA}nextPage>")
_HYPERMEDIA = (f"<{HYDRA}", f"<{VOID}", f"<{SD}", controls.PRIMARY_TOPIC)
_COUNT = re.compile(r'"\+?(\d{1,18})"(?:\^\^<[^<>]*>)?')


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """What the client spends at most: no server, broken or hostile, can make it work for ever.

    An evaluation is bounded in ``requests``, ``quads`` read, ``rows`` of a join and ``seconds``; a fragment
    in ``pages``, and ``idle_pages`` in a row that bring nothing new; a page in bytes and quads; a request in
    ``attempts`` of ``timeout`` seconds each, with waits of at most ``retry_after`` seconds between them.
    ``concurrency`` requests are under way at once. An ``address`` has at most so many characters, and a
    bindings-restricted request (``bulk``) so many bindings.
    """

    requests: int = 20_000
    pages: int = 5_000
    idle_pages: int = 3
    quads: int = 5_000_000
    page_bytes: int = 16 * 2**20
    page_quads: int = 200_000
    rows: int = 2_000_000
    seconds: float = 300.0
    timeout: float = 20.0
    attempts: int = 4
    retry_after: float = 30.0
    concurrency: int = 8
    bulk: int = 100
    address: int = 8_000


class BeyondLimit(RemoteError):
    """An evaluation would cost more than its limits allow."""

    def __init__(self, primary: str, limit: str, detail: str | None = None) -> None:
        hint = f"make the query more selective, or raise the limit on {limit}"
        super().__init__(primary, detail=detail, hint=hint)


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
    withdrawals: str | None = None
    """Where the server tells of facts that are taken back."""
    labels: tuple[Quad, ...] = ()
    """Time labels of the facts on the page that came with it."""

    @property
    def estimate(self) -> int:
        """A count that what was seen cannot contradict."""
        if self.next is None:
            return len(self.data)
        return max(self.total or 0, len(self.data) + 1)


class Pages(HttpCache[Page]):
    """The pages of one source, cached as HTTP allows, within the budget of one evaluation.

    Going beyond a limit is a ``RemoteError`` that says which it was. With ``caching`` False nothing is kept
    from one evaluation to the next.
    """

    def __init__(
        self, http: httpx.AsyncClient, clock: Clock, limits: ClientLimits, *, caching: bool = True
    ) -> None:
        self.limits = limits
        self.requests = self.quads = self.bytes = 0
        bounds = RequestLimits(
            limits.timeout,
            limits.page_bytes,
            attempts=limits.attempts,
            backoff=0.4,
            longest_wait=limits.retry_after,
            concurrency=limits.concurrency,
        )
        client = HttpClient(http, bounds, clock=clock, spend=self._spend)
        super().__init__(client, self._page, ACCEPT, storing=caching)
        self.skew = client.skew

    def begin(self) -> None:
        """Start an evaluation: a new budget."""
        self.requests = self.quads = self.bytes = 0
        self.look_again()

    def _spend(self, url: str) -> None:
        self.requests += 1
        if self.requests > self.limits.requests:
            told = f"one evaluation needs more than {self.limits.requests} requests"
            raise BeyondLimit(told, "requests", f"the next would be {url}")

    def _page(self, response: Response) -> Page:
        url = response.url
        if response.media_type not in SYNTAXES:
            raise RemoteError(
                f"the fragment {url} is no RDF",
                detail=f"its media type is {response.media_type!r}",
                hint="check that the address is that of a fragments server",
            )
        page = parse_page(url, response.body, response.media_type, self.limits.page_quads)
        self.quads += len(page.data)
        self.bytes += len(response.body)
        if self.quads > self.limits.quads:
            told = f"one evaluation reads more than {self.limits.quads} quads"
            raise BeyondLimit(told, "quads", f"the last page was {url}")
        return page


def parse_page(url: str, body: bytes, media_type: str, most: int) -> Page:
    """The page that lies at ``url``; what cannot be read is a ``RemoteError``."""
    try:
        quads = parse_document(body, media_type, base=url, most=most)
    except DataError as error:
        raise RemoteError(f"the fragment {url} is malformed", detail=str(error)) from None
    graph = _metadata_graph(quads, url)
    if graph is None:
        described = {quad[0] for quad in quads if quad[1].startswith(_HYPERMEDIA)}
        data = tuple(quad for quad in quads if quad[0] not in described)
        metadata = [quad for quad in quads if quad[0] in described]
    else:
        data = tuple(quad for quad in quads if quad[3] != graph)
        metadata = [quad for quad in quads if quad[3] == graph]
    return _page(url, data, metadata)


def _metadata_graph(quads: list[Quad], url: str) -> str | None:
    page = f"<{url}>"
    fragments = {s for s, p, o, _ in quads if p == controls.SUBSET and o == page} | {page}
    for s, p, o, g in quads:
        if p == controls.PRIMARY_TOPIC and g == s and o in fragments:
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
        per_page=_number(url, [o for _, o in by_predicate.get(controls.ITEMS_PER_PAGE, ())]),
        next=urljoin(url, following[1:-1]) if following is not None else None,
        forms=tuple(_forms(said, by_predicate)),
        expires=label_time(page, expires[0]) if expires else None,
        labels=tuple(quad for quad in metadata if quad[1] in LABELS and quad[3] and quad[0] != page),
        declared=tuple(o for _, o in by_predicate.get(controls.ANNOTATION, ())),
        withdrawals=next(
            (urljoin(url, o[1:-1]) for _, o in by_predicate.get(controls.WITHDRAWALS, ()) if o[0] == "<"),
            None,
        ),
    )


def _number(url: str, texts: list[str]) -> int | None:
    if not texts:
        return None
    match = _COUNT.fullmatch(texts[0])
    if match is None:
        raise RemoteError(f"the fragment {url} is malformed", detail=f"its count is {texts[0][:80]}")
    return int(match[1])


def label_time(node: str, text: str) -> int:
    """The time that a label of a node states; a ``RemoteError`` where it is none."""
    try:
        return read_time(text)
    except DataError as error:
        raise RemoteError(f"the time label of {node} is malformed", detail=error.primary) from None


def _forms(
    said: dict[tuple[str, str], list[str]], by_predicate: dict[str, list[tuple[str, str]]]
) -> list[Form]:
    forms = []
    for _, form in by_predicate.get(controls.SEARCH, ())[:16]:
        templates = said.get((form, controls.TEMPLATE), ())
        mappings: dict[str, str] = {}
        for mapping in said.get((form, controls.MAPPING), ())[:64]:
            variable = said.get((mapping, controls.VARIABLE), ())
            meaning = said.get((mapping, controls.PROPERTY), ())
            if variable and meaning and variable[0][0] == '"' and meaning[0][0] == "<":
                mappings[meaning[0][1:-1]] = _lexical(variable[0])
        if len(templates) == 1 and templates[0][0] == '"':
            forms.append(Form(_lexical(templates[0]), mappings))
    return forms


def _lexical(text: str) -> str:
    term = parse_term(text)
    assert isinstance(term, Literal)
    return term.lexical
