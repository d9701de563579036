"""One document by GET, from ordinary code: redirects step by step, limits of size and time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urljoin

import httpx

from weir.errors import RemoteError
from weir.linked.http.allowed_hosts import Allowed, plain_session
from weir.linked.http.client import media_type

_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class RemoteDocument:
    """A document that is being read: ``url`` after redirects, and its bytes as they come."""

    url: str
    media_type: str
    chunks: Iterator[bytes]


@contextmanager
def open_document(
    url: str, *, accept: str, timeout: float, max_bytes: int, allowed: Allowed | None = None
) -> Iterator[RemoteDocument]:
    """Ask for a document; the time-out is that of the whole reading. Without ``allowed`` any host is asked.

    Every address on the way is checked. Raises ``RemoteError``, also while the chunks are read.
    """
    deadline = time.monotonic() + timeout
    try:
        with plain_session(allowed, timeout) as http:
            response = _followed(http, url, accept, allowed)
            try:
                if response.status_code != 200:
                    raise RemoteError(f"{url} answered with status {response.status_code}")
                chunks = _bounded(response, url, timeout, deadline, max_bytes)
                yield RemoteDocument(str(response.url), media_type(response.headers), chunks)
            finally:
                response.close()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise RemoteError(f"cannot fetch {url}", detail=f"{type(error).__name__}: {error}") from None


def _followed(http: httpx.Client, url: str, accept: str, allowed: Allowed | None) -> httpx.Response:
    following = url
    for _ in range(_REDIRECTS + 1):
        if allowed is not None:
            allowed.check(following)
        response = http.send(http.build_request("GET", following, headers={"Accept": accept}), stream=True)
        if not response.has_redirect_location:
            return response
        response.close()
        following = urljoin(following, response.headers["location"])
    raise RemoteError(f"cannot fetch {url}", detail="it is moved too often")


def _bounded(
    response: httpx.Response, url: str, timeout: float, deadline: float, max_bytes: int
) -> Iterator[bytes]:
    size = 0
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > max_bytes:
            raise RemoteError(
                f"the document at {url} is larger than {max_bytes:,} bytes",
                hint="fetch it to a file and load that, or raise max_bytes",
            )
        if time.monotonic() > deadline:
            raise RemoteError(f"the document at {url} took longer than {timeout:g} s")
        yield chunk
