"""Graphs at URLs: fetched whole into a file, within limits of size and time, and read from there.

Only http and https are followed. The format comes from the content type, or else from the ending of the
URL's path. The file lies beside a note of its address, which is the base of relative IRIs, and its name
depends on the URL alone, so that blank nodes of an unchanged document stay the same.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import httpx

from weir.errors import DataError, RemoteError, UsageError
from weir.linked.graphs.files import DOCUMENTS, LINES, NOTE

TYPES = {
    "text/turtle": ".ttl",
    "application/n-triples": ".nt",
    "application/n-quads": ".nq",
    "application/trig": ".trig",
    "application/ld+json": ".jsonld",
    "application/rdf+xml": ".rdf",
}
_ACCEPT = ", ".join([*TYPES, "*/*;q=0.1"])
_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class RemoteGraph:
    """A document and what may be spent on it: seconds in all, and bytes.

    ``refresh`` is after how many seconds it is fetched again, None never.
    """

    url: str
    timeout: float = 60.0
    max_bytes: int = 256 << 20
    refresh: float | None = None

    def __post_init__(self) -> None:
        if not is_url(self.url):
            raise UsageError(f"not a URL that graphs are read from: {self.url}", hint="http and https are")
        if self.refresh is not None and self.refresh <= 0:
            raise UsageError("the time between refreshes must be positive")

    @property
    def stem(self) -> str:
        """The name of its file, but for the ending."""
        return hashlib.sha256(self.url.encode()).hexdigest()[:20]


def is_url(source: str) -> bool:
    """Whether a source is an address rather than a path."""
    parts = urlsplit(source)
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def kept(graph: RemoteGraph, folder: Path) -> Path | None:
    """The file into which the document was fetched before."""
    found = [path for path in folder.glob(f"{graph.stem}.*") if not path.name.endswith((NOTE, ".partial"))]
    return found[0] if found else None


def fetch(graph: RemoteGraph, folder: Path) -> Path:
    """Fetch a document into ``folder``; the file, there whole or not at all (raises ``RemoteError``)."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{graph.stem}.partial"
    deadline = time.monotonic() + graph.timeout
    try:
        with (
            httpx.Client(follow_redirects=True, max_redirects=_REDIRECTS, timeout=graph.timeout) as client,
            client.stream("GET", graph.url, headers={"Accept": _ACCEPT}) as response,
        ):
            if response.status_code != 200:
                raise RemoteError(f"{graph.url} answered with status {response.status_code}")
            suffix = _suffix(graph, response)
            with open(partial, "wb") as file:
                _copy(graph, response, file.write, deadline)
            base = str(response.url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise RemoteError(
            f"cannot fetch the graph at {graph.url}", detail=f"{type(error).__name__}: {error}"
        ) from None
    target = folder / f"{graph.stem}{suffix}"
    target.with_name(target.name + NOTE).write_text(base)
    os.replace(partial, target)
    return target


def _copy(
    graph: RemoteGraph, response: httpx.Response, write: Callable[[bytes], object], deadline: float
) -> None:
    size = 0
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > graph.max_bytes:
            raise RemoteError(
                f"the graph at {graph.url} is larger than {graph.max_bytes:,} bytes",
                hint="fetch it to a file and load that, or raise max_bytes",
            )
        if time.monotonic() > deadline:
            raise RemoteError(f"the graph at {graph.url} took longer than {graph.timeout:g} s")
        write(chunk)


def _suffix(graph: RemoteGraph, response: httpx.Response) -> str:
    """The ending that stands for the document's format."""
    declared = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared in TYPES:
        return TYPES[declared]
    endings = PurePosixPath(urlsplit(graph.url).path.lower()).suffixes
    packed = ".gz" if endings[-1:] == [".gz"] else ""
    last = endings[-2:-1] if packed else endings[-1:]
    if last and last[0] in {**LINES, **DOCUMENTS}:
        return last[0] + packed
    raise DataError(
        f"the document at {graph.url} is of an unknown format",
        detail=f"its content type is {declared or 'not given'}",
        hint=f"known types: {', '.join(TYPES)}",
    )
