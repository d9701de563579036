"""Requests to responses, without a server: negotiation, selection, caching, headers.

A response is cached under what was asked, with the version of the facts it depends on and the time up to
which it holds; one look-up tells whether it can be sent again. Its freshness for others is the validity of
the facts in it: ``max-age`` runs out when the first of them does, and soon enough for others to notice what
changes before its time. Headers but for Date and Content-Length
are the same for many responses, so they are put together once for each ``Head``.
"""

from __future__ import annotations

import gzip
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

from weir.errors import DataError, UsageError
from weir.fragments.protocol.annotation import FOREVER, Quad
from weir.fragments.server.dataset import Dataset, Selection
from weir.fragments.server.metadata import Described
from weir.fragments.server.request import FragmentRequest, TooLarge, parse_request
from weir.fragments.server.serialize import (
    HTML,
    OFFERED,
    Templates,
    fragment_page,
    media_type_for,
)
from weir.linked.http.headers import SECOND, negotiate

Headers = list[tuple[bytes, bytes]]
HOST = re.compile(r"[A-Za-z0-9._~:\[\]-]{1,255}")
_WORTH_PACKING = 1000
_SETTLED = 60 * SECOND

CORS: Headers = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Date, Expires, Retry-After"),
]


class Head(NamedTuple):
    """All that headers depend on but for the present and the body's length.

    ``age`` (s) is how long others may use the response, ``until`` (s since 1970) the same as a time;
    without both they must ask each time. What is ``immutable`` need never be asked for again.
    """

    status: int
    media_type: str
    etag: bytes
    packed: bool
    age: int | None
    until: int | None
    immutable: bool = False

    @property
    def headers(self) -> Headers:
        """Everything but Date and Content-Length."""
        headers: Headers = []
        if self.status != 304:
            headers.append((b"content-type", f"{self.media_type}; charset=utf-8".encode()))
            if self.packed:
                headers.append((b"content-encoding", b"gzip"))
        if self.etag:
            headers.append((b"etag", self.etag))
        headers += [(b"vary", b"Accept, Accept-Encoding"), *CORS]
        if self.age is None or self.until is None:
            headers.append((b"cache-control", b"no-cache" if self.etag else b"no-store"))
        else:
            lasting = b", immutable" if self.immutable else b""
            headers.append((b"cache-control", b"public, max-age=%d%b" % (self.age, lasting)))
            headers.append((b"expires", http_date(self.until)))
        return headers


@lru_cache(maxsize=1024)
def opening(
    head: Head, second: int, shared: bool = True, extra: tuple[tuple[bytes, bytes], ...] = ()
) -> bytes:
    """A response in HTTP/1.1 that is sent in a second, up to where its length goes.

    Where it is not ``shared``, pages of other sites may not read it; ``extra`` are more headers.
    """
    status = HTTPStatus(head.status)
    lines = [b"HTTP/1.1 %d %b" % (status, status.phrase.encode()), b"date: %b" % http_date(second)]
    headers = [each for each in head.headers if shared or each not in CORS]
    return b"\r\n".join([*lines, *(b"%b: %b" % header for header in (*headers, *extra)), b""])


@lru_cache(maxsize=1024)
def http_date(second: int) -> bytes:
    """A time as HTTP writes it."""
    return formatdate(second, usegmt=True).encode()


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
    immutable: bool = False

    def current(self, now: int) -> bool:
        """Whether it would be the same if made again now."""
        return (
            now < self.holds
            and self.dataset is not None
            and self.dataset.version(self.predicate) == self.version
        )

    def reply(self, now: int, tags: bytes | None = None, packs: bool = False) -> tuple[Head, bytes]:
        """What is sent: the head and the body.

        ``tags`` is If-None-Match; ``packs`` says that the client understands gzip, which is used from the
        second time on: packing once pays for what is sent often.
        """
        status, body, etag, packed = self.status, self.body, self.etag, False
        if packs and etag and len(body) > _WORTH_PACKING:
            if self.packed is None and self.served:
                self.packed = gzip.compress(body, 5, mtime=0)
            if self.packed is not None:
                body, etag, packed = self.packed, etag[:-1] + b'-gz"', True
        self.served += 1
        if tags is not None and self.etag:
            for tag in (etag, self.etag, self.etag[:-1] + b'-gz"'):
                if unchanged(tag, tags):
                    status, body, etag = 304, b"", tag
                    break
        until = self.until if self.age is None else now + self.age
        if self.until is not None and self.dataset is not None:
            until = min(self.until, now + self.dataset.revalidate)
        if until is None:
            return Head(status, self.media_type, etag, packed, None, None), body
        age = max(0, (until - now) // SECOND)
        return Head(status, self.media_type, etag, packed, age, until // SECOND, self.immutable), body


def failure(status: int, message: str) -> Response:
    """An error that says what was wrong."""
    return Response(status, "text/plain", f"{message}\n".encode())


def understands_gzip(header: bytes) -> bool:
    """Whether Accept-Encoding allows gzip, by name and not with quality 0."""
    return bool(header.strip()) and negotiate(header.decode("latin-1"), ("gzip",)) is not None


def unchanged(etag: bytes, header: bytes) -> bool:
    """Whether If-None-Match names this representation (RFC 9110, section 13.1.2)."""
    if header.strip() == b"*":
        return True
    return any(tag.strip().removeprefix(b"W/") == etag for tag in header.split(b","))


class Responder:
    """Answers GET for fragments of one data set after the other; holds the cache they share."""

    def __init__(self, clock: Callable[[], int], cache_bytes: int) -> None:
        self.clock = clock
        self.cache_bytes = cache_bytes
        self.templates = Templates()
        self._cache: OrderedDict[tuple[str, str, str], Response] = OrderedDict()
        self._held = 0
        self.counters = {"requests": 0, "hits": 0}

    def respond(self, dataset: Dataset, base: str, query: str, accept: str) -> Response:
        """The page of ``dataset`` for a query string, where the server lies at ``base``."""
        now = self.clock()
        self.counters["requests"] += 1
        key = (f"{base}/{dataset.name}", query, accept)
        cached = self._cache.get(key)
        if cached is not None:
            if cached.dataset is dataset and cached.current(now):
                self._cache.move_to_end(key)
                self.counters["hits"] += 1
                return cached
            self._drop(key)
        media_type = media_type_for(accept)
        if media_type is None:
            return failure(406, "none of the RDF syntaxes nor HTML is acceptable")
        try:
            request = parse_request(query, dataset, now)
            response = self._make(dataset, request, base, media_type, now)
        except TooLarge as error:
            return failure(error.status, str(error))
        except UsageError as error:
            return failure(400, str(error))
        except DataError as error:
            return failure(406, str(error))
        if response.status == 200:
            self._keep(key, response)
        return response

    def _make(
        self, dataset: Dataset, request: FragmentRequest, base: str, media_type: str, now: int
    ) -> Response:
        predicate, fixed, address = request.predicate, request.fixed, f"{base}/{dataset.name}"
        with dataset.lock:
            version = dataset.version(predicate)
            selection = dataset.select(request.patterns, now, request.instant, address)
            total = selection.total
            labels: list[Quad] = []
            offset = (request.page - 1) * dataset.page_size
            if request.overlapping:
                distinct = _distinct(selection, dataset.limits.overlap)
                total, data = len(distinct), distinct[offset : offset + dataset.page_size]
            else:
                data = selection.page(offset, dataset.page_size)
                if dataset.store.segments:
                    labels = selection.labels(offset, dataset.page_size)
        if request.page > 1 and not data:
            return failure(404, f"no such page: {request.page}")
        changes = selection.changes
        about = Described.of(dataset, request, base, total, changes)
        if media_type == HTML:
            body = fragment_page(about, data).encode("utf-8", "replace")
        else:
            body = self.templates.write(dataset, media_type, about, data, labels)
        response = Response(200, media_type, body, etag(dataset.nonce, media_type, version, changes))
        response.dataset, response.predicate, response.version = dataset, predicate, version
        if not version[1] or not dataset.dynamic(request.patterns, predicate, address):
            response.age = dataset.static_age if total else min(dataset.static_age, dataset.revalidate)
        elif not fixed:
            response.until = changes if changes < FOREVER else None
        elif request.instant is not None and request.instant < now - _SETTLED:
            response.age = _SETTLED
        if not fixed:
            response.holds = changes
        return response

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


@lru_cache(maxsize=1024)
def etag(nonce: bytes, media_type: str, version: tuple[int, int], changes: int) -> bytes:
    """A tag of all that the body at one address depends on: the syntax, the facts' version, and between
    which of their boundaries the present lies (that is told by the next one)."""
    return b'"%s-%d-%x-%x-%x"' % (nonce, OFFERED.index(media_type), *version, changes % 2**64)


def _size(key: tuple[str, str, str], response: Response) -> int:
    return len(response.body) + sum(map(len, key)) + 600


def _distinct(selection: Selection, most: int) -> list[Quad]:
    if selection.total > most:
        raise TooLarge(f"more than {most} quads match bindings that overlap")
    return list(dict.fromkeys(selection.page(0, most)))
