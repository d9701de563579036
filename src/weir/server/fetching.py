"""Graphs from URLs, fetched on behalf of others: allowed hosts, checked addresses, redirects step by step."""

from __future__ import annotations

import time
from pathlib import Path

import httpx

from weir.errors import RemoteError
from weir.linked.addresses import Allowed, client, steps
from weir.linked.graphs.remote import TYPES
from weir.server.limits import Limits
from weir.server.problems import Problem

_HOPS = 3


def fetch(url: str, folder: Path, allowed: Allowed, limits: Limits) -> Path:
    """A document as a file whose ending says its format; a host that is not allowed is a 403."""
    try:
        allowed.check(url)
        with client(allowed, limits.fetch) as session:
            return _follow(session, url, folder, allowed, limits)
    except RemoteError as error:
        forbidden = "not allowed" in error.primary or "inner" in error.primary
        raise Problem(403 if forbidden else 422, error.primary, error.detail, hint=error.hint) from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise Problem(422, "the document cannot be fetched", f"{type(error).__name__}: {error}") from None


def _follow(session: httpx.Client, url: str, folder: Path, allowed: Allowed, limits: Limits) -> Path:
    deadline = time.monotonic() + limits.fetch
    for _ in range(_HOPS + 1):
        with session.stream("GET", url, headers={"Accept": ", ".join(TYPES)}) as response:
            following = steps(url, response, allowed)
            if following is None:
                return _copy(response, url, folder, limits, deadline)
            url = following
    raise RemoteError("the document is moved too often", detail=url)


def _copy(response: httpx.Response, url: str, folder: Path, limits: Limits, deadline: float) -> Path:
    if response.status_code != 200:
        raise RemoteError(f"the document cannot be fetched: status {response.status_code}", detail=url)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in TYPES:
        raise RemoteError(f"the document has an unknown type: {media_type[:80] or 'none'}", detail=url)
    path = folder / f"fetched{TYPES[media_type]}"
    size = 0
    with open(path, "wb") as file:
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > limits.fetch_bytes:
                raise RemoteError(f"the document is longer than {limits.fetch_bytes:,} bytes", detail=url)
            if time.monotonic() > deadline:
                raise RemoteError(f"the document took longer than {limits.fetch:g} s", detail=url)
            file.write(chunk)
    return path
