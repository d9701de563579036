"""Requests to responses, without a server: negotiation, selection, caching, conditional requests.

A response is cached under what was asked, with the version of the facts it depends on and the time up to
which it holds; one look-up tells whether it can be sent again. Its freshness for others is the validity
of the facts in it: ``max-age`` runs out when the first of them does.
"""

from __future__ import annotations

import gzip
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache

from weir.errors import UsageError
from weir.rdf.annotation import FOREVER, Quad
from weir.server.fragments.dataset import Dataset, Selection
from weir.server.fragments.formats import HTML, OFFERED, WITH_GRAPHS, WRITERS, negotiate
from weir.server.fragments.html import fragment_page
from weir.server.fragments.metadata import Described, metadata_of
from weir.server.fragments.request import FragmentRequest, TooLarge, parse_request

Headers = list[tuple[bytes, bytes]]
HOST = re.compile(r"[A-Za-z0-9._~:\[\]-]{1,255}")
SECOND = 1_000_000
_SETTLED = 60 * SECOND

CORS: Headers = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Date, Expires, Retry-After"),
]


_COMMON: Headers = [(b"vary", b"Accept, Accept-Encoding"), *CORS]
_WORTH_PACKING = 1000


@lru_cache(maxsize=1024)
def http_date(second: int) -> bytes:
    """A time as HTTP writes it."""
    return formatdate(second, usegmt=True).encode()


@lru_cache(maxsize=64)
def _content_type(media_type: str) -> bytes:
    return f"{media_type}; charset=utf-8".encode()


@dataclass(slots=True)
class Response:
    """``until`` (µs) is when a cache must ask again, ``age`` (µs) the same counted from when it is sent;
    without both it must always ask."""

    status: int
    media_type: str
    body: bytes
    etag: bytes = b""
    until: int | None = None
    age: int | None = None
    dataset: Dataset | None = None
    predicate: str | None = None
    version: tuple[int, int] = (0, 0)
    holds: int = FOREVER
    packed: bytes | None = None
    served: int = 0

    def current(self, now: int) -> bool:
        """Whether it would be the same if made again now."""
        return (
            now < self.holds
            and self.dataset is not None
            and self.dataset.version(self.predicate) == self.version
        )

    def reply(self, now: int, tags: bytes | None = None, packs: bool = False) -> tuple[int, Headers, bytes]:
        """Status, headers (but for Date, which the server adds) and body.

        ``tags`` is If-None-Match; ``packs`` says that the client understands gzip, which is used from the
        second time on: packing once pays for what is sent often.
        """
        body, etag = self.body, self.etag
        headers: Headers = []
        if packs and len(body) > _WORTH_PACKING and etag:
            if self.packed is None and self.served:
                self.packed = gzip.compress(body, 5, mtime=0)
            if self.packed is not None:
                body, etag = self.packed, etag[:-1] + b'-gz"'
                headers.append((b"content-encoding", b"gzip"))
        self.served += 1
        if tags is not None and self.etag:
            for tag in (etag, self.etag, self.etag[:-1] + b'-gz"'):
                if unchanged(tag, tags):
                    return 304, [(b"etag", tag), *_COMMON, *self._freshness(now)], b""
        headers.append((b"content-type", _content_type(self.media_type)))
        headers.append((b"content-length", b"%d" % len(body)))
        if etag:
            headers.append((b"etag", etag))
        headers += _COMMON
        headers += self._freshness(now)
        return self.status, headers, body

    def _freshness(self, now: int) -> Headers:
        until = self.until if self.age is None else now + self.age
        if until is None:
            return [(b"cache-control", b"no-cache" if self.etag else b"no-store")]
        return [
            (b"cache-control", b"public, max-age=%d" % max(0, (until - now) // SECOND)),
            (b"expires", http_date(until // SECOND)),
        ]


def failure(status: int, message: str) -> Response:
    """An error that says what was wrong."""
    return Response(status, "text/plain", f"{message}\n".encode())


class Responder:
    """Answers GET for fragments of one data set after the other; holds the cache they share."""

    def __init__(self, clock: Callable[[], int], *, static_age: int, cache_bytes: int) -> None:
        self.clock = clock
        self.static_age = static_age * SECOND
        self.cache_bytes = cache_bytes
        self._cache: OrderedDict[tuple[str, str, str], Response] = OrderedDict()
        self._held = 0
        self.counters = {"requests": 0, "hits": 0}

    def respond(self, dataset: Dataset, index: str, address: str, query: str, accept: str) -> Response:
        """The page of ``dataset`` that lies at ``address`` for a query string."""
        now = self.clock()
        self.counters["requests"] += 1
        key = (address, query, accept)
        cached = self._cache.get(key)
        if cached is not None:
            if cached.dataset is dataset and cached.current(now):
                self._cache.move_to_end(key)
                self.counters["hits"] += 1
                return cached
            self._drop(key)
        media_type = negotiate(accept)
        if media_type is None:
            return failure(406, "none of the RDF syntaxes nor HTML is acceptable")
        try:
            request = parse_request(query, dataset, now)
            response = self._make(dataset, request, index, address, media_type, now)
        except TooLarge as error:
            return failure(error.status, str(error))
        except UsageError as error:
            return failure(400, str(error))
        if response.status == 200:
            self._keep(key, response)
        return response

    def _make(
        self,
        dataset: Dataset,
        request: FragmentRequest,
        index: str,
        address: str,
        media_type: str,
        now: int,
    ) -> Response:
        with dataset.lock:
            version = dataset.version(request.predicate)
            selection = dataset.select(request.patterns, now, request.instant, address)
            total = selection.total
            labels: list[Quad] = []
            offset = (request.page - 1) * dataset.page_size
            if request.overlapping:
                distinct = _distinct(selection, dataset.limits.overlap)
                total, data = len(distinct), distinct[offset : offset + dataset.page_size]
            else:
                data = selection.page(offset, dataset.page_size)
                if media_type in WITH_GRAPHS:
                    labels = selection.labels(offset, dataset.page_size)
        if request.page > 1 and not data:
            return failure(404, f"no such page: {request.page}")
        about = Described(
            request=request,
            home=index,
            dataset=address,
            title=dataset.title,
            annotation=dataset.annotation,
            total=total,
            page_size=dataset.page_size,
            changes=selection.changes,
        )
        if media_type == HTML:
            text = fragment_page(about, data)
        else:
            text = WRITERS[media_type](data, metadata_of(about, labels))
        until, age = self._freshness(dataset, request, selection, address, now)
        return Response(
            200,
            media_type,
            text.encode("utf-8", "replace"),
            etag=_etag(dataset, media_type, version, selection.changes),
            until=until,
            age=age,
            dataset=dataset,
            predicate=request.predicate,
            version=version,
            holds=FOREVER if request.fixed else selection.changes,
        )

    def _freshness(
        self, dataset: Dataset, request: FragmentRequest, selection: Selection, address: str, now: int
    ) -> tuple[int | None, int | None]:
        """When others must ask again, or after how long: as the facts' own validity says.

        What is asked about an instant just past may still be pushed, so it must be asked for again; later
        it is settled.
        """
        if not dataset.dynamic(request.patterns, request.predicate, address):
            return None, self.static_age
        if request.fixed and request.instant is not None:
            return None, _SETTLED if request.instant < now - _SETTLED else None
        return (selection.changes, None) if selection.changes < FOREVER else (None, None)

    def _keep(self, key: tuple[str, str, str], response: Response) -> None:
        size = _size(key, response)
        if size > self.cache_bytes // 8:
            return
        self._cache[key] = response
        self._held += size
        while self._held > self.cache_bytes:
            self._drop(next(iter(self._cache)))

    def _drop(self, key: tuple[str, str, str]) -> None:
        self._held -= _size(key, self._cache.pop(key))


def _etag(dataset: Dataset, media_type: str, version: tuple[int, int], changes: int) -> bytes:
    """A tag of all that the body at one address depends on: the syntax, the facts' version, and between
    which of their boundaries the present lies (that is told by the next one)."""
    return b'"%s-%d-%x-%x-%x"' % (dataset.nonce, OFFERED.index(media_type), *version, changes % 2**64)


def _size(key: tuple[str, str, str], response: Response) -> int:
    return len(response.body) + sum(map(len, key)) + 600


def _distinct(selection: Selection, most: int) -> list[Quad]:
    if selection.total > most:
        raise TooLarge(f"more than {most} quads match bindings that overlap")
    return list(dict.fromkeys(selection.page(0, most)))


def understands_gzip(header: bytes) -> bool:
    """Whether Accept-Encoding allows gzip, by name and not with quality 0."""
    for part in header.lower().split(b","):
        name, _, parameters = part.strip().partition(b";")
        if name.strip() == b"gzip":
            return parameters.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False


def unchanged(etag: bytes, header: bytes) -> bool:
    """Whether If-None-Match names this representation (RFC 9110, section 13.1.2)."""
    if header.strip() == b"*":
        return True
    return any(tag.strip().removeprefix(b"W/") == etag for tag in header.split(b","))
