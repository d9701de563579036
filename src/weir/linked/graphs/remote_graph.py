"""Graphs at URLs: fetched whole into a file, within limits of size and time, and read from there.

Only http and https are followed. The format comes from the content type, or else from the ending of the
URL's path. The file lies beside a note of its address, which is the base of relative IRIs, and its name
depends on the URL alone, so that blank nodes of an unchanged document stay the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from weir.errors import DataError, UsageError
from weir.linked.graphs.graph_files import DOCUMENTS, LINES, NOTE
from weir.linked.http import open_document
from weir.linked.http.allowed_hosts import Allowed
from weir.storage import replace_file, writing

TYPES = {
    "text/turtle": ".ttl",
    "application/n-triples": ".nt",
    "application/n-quads": ".nq",
    "application/trig": ".trig",
    "application/ld+json": ".jsonld",
    "application/rdf+xml": ".rdf",
}
_ACCEPT = ", ".join([*TYPES, "*/*;q=0.1"])


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
    found = [path for path in folder.glob(f"{graph.stem}.*") if not path.name.endswith(NOTE)]
    return found[0] if found else None


def fetch(graph: RemoteGraph, folder: Path, allowed: Allowed | None = None) -> Path:
    """Fetch a document into ``folder``, from an allowed host; the file, there whole or not at all.

    Raises ``RemoteError``, and ``DataError`` where the format is unknown.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open_document(
        graph.url, accept=_ACCEPT, timeout=graph.timeout, max_bytes=graph.max_bytes, allowed=allowed
    ) as document:
        target = folder / f"{graph.stem}{_suffix(graph, document.media_type)}"
        with writing(target, durable=False) as file:
            file.writelines(document.chunks)
            replace_file(target.with_name(target.name + NOTE), document.url.encode(), durable=False)
    return target


def _suffix(graph: RemoteGraph, declared: str) -> str:
    """The ending that stands for the document's format: by its declared type, else as its URL ends."""
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
