"""One response: its body, how long it holds, and the headers that say so.

Its freshness for others is the validity of the facts in it: ``max-age`` runs out when the first of them
does. Headers but for Date and Content-Length are the same for many responses, so they are put together
once for each ``Head``.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

from weir.fragments.protocol.annotation import FOREVER
from weir.fragments.server.dataset import Dataset

Headers = list[tuple[bytes, bytes]]
HOST = re.compile(r"[A-Za-z0-9._~:\[\]-]{1,255}")
SECOND = 1_000_000
_WORTH_PACKING = 1000

CORS: Headers = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Date, Expires, Retry-After"),
]


class Head(NamedTuple):
    """All that headers depend on but for the present and the body's length.

    ``age`` (s) is how long others may use the response, ``until`` (s since 1970) the same as a time;
    without both they must ask each time.
    """

    status: int
    media_type: str
    etag: bytes
    packed: bool
    age: int | None
    until: int | None

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
            headers.append((b"cache-control", b"public, max-age=%d" % self.age))
            headers.append((b"expires", http_date(self.until)))
        return headers


@lru_cache(maxsize=1024)
def opening(head: Head, second: int) -> bytes:
    """A response in HTTP/1.1 that is sent in a second, up to where its length goes."""
    status = HTTPStatus(head.status)
    lines = [b"HTTP/1.1 %d %b" % (status, status.phrase.encode()), b"date: %b" % http_date(second)]
    return b"\r\n".join([*lines, *(b"%b: %b" % header for header in head.headers), b""])


@lru_cache(maxsize=1024)
def http_date(second: int) -> bytes:
    """A time as HTTP writes it."""
    return formatdate(second, usegmt=True).encode()


@dataclass(slots=True)
class Response:
    """``until`` (µs) is when a cache must ask again, ``age`` (µs) the same counted from when it is sent;
    without both it must always ask.

    The body stays in ``pieces``, which responses share for the most part, until it is sent a second time.
    """

    status: int
    media_type: str
    pieces: tuple[bytes, ...]
    etag: bytes = b""
    until: int | None = None
    age: int | None = None
    dataset: Dataset | None = None
    predicate: str | None = None
    version: tuple[int, int] = (0, 0)
    holds: int = FOREVER
    size: int = 0
    packed: bytes | None = None
    served: int = 0

    @property
    def body(self) -> bytes:
        pieces = self.pieces
        if len(pieces) == 1:
            return pieces[0]
        body = b"".join(pieces)
        if self.served:
            self.pieces = (body,)
        return body

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
        if until is None:
            return Head(status, self.media_type, etag, packed, None, None), body
        age = max(0, (until - now) // SECOND)
        return Head(status, self.media_type, etag, packed, age, until // SECOND), body


def failure(status: int, message: str) -> Response:
    """An error that says what was wrong."""
    return Response(status, "text/plain", (f"{message}\n".encode(),))


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
