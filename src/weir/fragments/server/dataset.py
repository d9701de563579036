"""A data set behind fragments: a static index, dynamic facts, and one annotation that tells them apart."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from weir.errors import UsageError
from weir.fragments.ldes import Members
from weir.fragments.protocol.annotation import (
    FOREVER,
    LABELS,
    REIFIED,
    SINGLETON_OF,
    Annotation,
    Fact,
    Labeling,
    Quad,
    QuadPattern,
    TripleText,
)
from weir.fragments.server.annotated import Names, Part, View
from weir.fragments.server.fact_log import FactLog
from weir.fragments.server.facts import FactStore, Retention
from weir.fragments.server.quad_index import Index
from weir.rdf.formats.guarded_parser import parse_document
from weir.rdf.formats.media import format_of_path

_VOCABULARY = LABELS | {SINGLETON_OF, *REIFIED}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server refuses to spend on one request, one push or one data set, checked before the work."""

    query_string: int = 65_536
    """Bytes of a query string; beyond it, 414."""
    term: int = 8_192
    """Characters of one term in a pattern; beyond it, 414."""
    bindings: int = 512
    """Solution mappings of one bindings-restricted request; beyond it, 400."""
    page: int = 1_000_000
    """The greatest page number; beyond it, 400."""
    overlap: int = 100_000
    """Quads put together for one request whose bindings overlap each other; beyond it, 413."""
    push_bytes: int = 16 * 2**20
    """Bytes of a pushed document; beyond it, 413."""
    push_facts: int = 200_000
    """Facts of one push; beyond it, 413."""
    cache_bytes: int = 64 * 2**20
    """Bytes of serialised fragments kept."""
    listeners: int = 10_000
    """Clients that are told of withdrawals at once; beyond it, 503."""
    ahead: int = 366 * 86_400_000_000
    """How far (µs) beyond the present a pushed fact may start; beyond it, 400: a wrong clock."""


class Selection(NamedTuple):
    """What a request matches: how much, in which parts, and until when if nothing is pushed."""

    total: int
    parts: Sequence[Part]
    changes: int

    def page(self, offset: int, limit: int) -> list[Quad]:
        """The quads ``offset`` to ``offset + limit``."""
        return [quad for part, low, high in self._ranges(offset, limit) for quad in part.quads(low, high)]

    def labels(self, offset: int, limit: int) -> list[Quad]:
        """The time labels of the facts whose statements are on a page."""
        return [
            quad
            for part, low, high in self._ranges(offset, limit)
            if part.labels is not None
            for quad in part.labels(low, high)
        ]

    def _ranges(self, offset: int, limit: int) -> Iterator[tuple[Part, int, int]]:
        for part in self.parts:
            if limit <= 0:
                return
            if offset < part.length:
                high = min(part.length, offset + limit)
                yield part, offset, high
                limit -= high - offset
                offset = 0
            else:
                offset -= part.length


class Dataset:
    """One published data set. Safe to change from another thread than the one that serves it.

    Blank nodes get IRIs (RDF 1.1, section 3.5): a fragment of a blank node could never be asked for. A label
    means the same node in all that a data set is given (``publish`` keeps documents apart).

    With a ``folder`` facts are on its disk before they are published, and are there again with their numbers
    when the data set is made again.

    Its event stream (LDES) has the latest ``members`` changes of facts; 0 is for no event stream.

    A fact may be taken back before its time, or come unexpected: ``revalidate`` (µs) is for how long a cache
    may not notice. Facts may come for what is static as well, so it is the same for static triples, unless
    ``static_age`` (µs) is longer: a promise that no fact will match them, or that this may go unnoticed.
    A pushed triple that is also static is left out, because it holds for ever already.
    """

    def __init__(
        self,
        name: str,
        static: Iterable[Quad] = (),
        *,
        annotation: Annotation | None = None,
        title: str | None = None,
        retention: Retention | None = None,
        page_size: int = 100,
        limits: Limits | None = None,
        revalidate: int = 10_000_000,
        static_age: int | None = None,
        folder: Path | None = None,
        members: int = 100_000,
    ) -> None:
        if not name or quote(name, safe="") != name:
            raise UsageError(f"{name!r} is no name for a data set", hint="use letters, digits, '-', '_'")
        if page_size < 1:
            raise UsageError("a page holds at least one triple")
        self.name = name
        self.title = title or name
        self.page_size = page_size
        self.limits = limits or Limits()
        self.revalidate = revalidate
        self.static_age = revalidate if static_age is None else static_age
        self.annotation = annotation or Annotation()
        if self.annotation.flat:
            raise UsageError("the prototype's flat intervals are read, not written")
        history = self.annotation.labeling is Labeling.INTERVAL
        retention = retention or Retention(history=history)
        if retention.history != history:
            raise UsageError("history is kept exactly with interval labeling")
        self.prefix = f"urn:weir:{name}:"
        self.nonce = os.urandom(6).hex().encode()
        self.lock = threading.RLock()
        self.static = Index.build((self._skolem(quad) for quad in static), distinct=True)
        self.static_version = 0
        self.closed = False
        self._writing = threading.RLock()
        self._log = None if folder is None else FactLog(folder, retention, members=members)
        kept = Members(members, retention.age)
        self.store = FactStore(retention, kept) if self._log is None else self._log.store
        self._views: dict[str, View] = {}
        self._listeners: list[Callable[[frozenset[str]], None]] = []

    @staticmethod
    def read(path: str | Path) -> list[Quad]:
        """The quads of a file, by its suffix."""
        file = Path(path)
        found = format_of_path(file)
        if found is None or found.syntax is None:
            raise UsageError(f"cannot tell the RDF syntax of {file}", hint="use .nq, .ttl or the like")
        return parse_document(file.read_bytes(), found.media_types[0], base=file.resolve().as_uri())

    def _skolem(self, quad: Quad) -> Quad:
        s, p, o, g = (f"<{self.prefix}genid:{t[2:]}>" if t.startswith("_:") else t for t in quad)
        return s, p, o, g

    def replace_static(self, quads: Iterable[Quad]) -> None:
        """Publish other static data."""
        index = Index.build((self._skolem(quad) for quad in quads), distinct=True)
        with self.lock:
            self.static = index
            self.static_version += 1

    def push(self, facts: Sequence[Fact], now: int, *, supersede: bool = False) -> int:
        """Add facts; ``supersede`` ends older ones of equal subject and predicate. How many were new."""
        fresh = [
            fact
            for fact in (Fact(*self._skolem((*f.triple, ""))[:3], f.start, f.end) for f in facts)
            if self.static.find((*fact.triple, "")) is None
        ]
        if not fresh:
            return 0
        with self._writing:
            self._check_open()
            if self._log is not None:
                self._log.push(fresh, now, supersede)
            with self.lock:
                if supersede:
                    self.store.supersede(fresh)
                added = self.store.add(fresh, now)
            if self._log is not None:
                self._log.compact()
        self._tell_withdrawn()
        return added

    def end(self, triples: Iterable[TripleText], at: int, now: int | None = None) -> int:
        """End facts at an instant; that is published ``now``, or at that instant."""
        named = [self._skolem((*triple, ""))[:3] for triple in triples]
        if not named:
            return 0
        now = at if now is None else now
        with self._writing:
            self._check_open()
            if self._log is not None:
                self._log.end(named, at, now)
            with self.lock:
                ended = self.store.end(named, at, now)
            if self._log is not None:
                self._log.compact()
        self._tell_withdrawn()
        return ended

    def close(self) -> None:
        """Let go of the folder; nothing more can be pushed."""
        with self._writing:
            self.closed = True
            if self._log is not None:
                self._log.close()

    def _check_open(self) -> None:
        if self.closed:
            raise UsageError(f"the data set {self.name} is closed", hint="make it anew to push facts")

    def on_withdrawal(self, listener: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        """Call ``listener`` with the predicates of facts that were ended before their time, whenever some
        were; what is returned takes it off again."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell_withdrawn(self) -> None:
        with self.lock:
            withdrawn, self.store.withdrawn = frozenset(self.store.withdrawn), set()
        for listener in list(self._listeners) if withdrawn else ():
            listener(withdrawn)

    def version(self, predicate: str | None) -> tuple[int, int]:
        """What a fragment's content depends on beside time: changes as its predicate's facts do."""
        if predicate is None or predicate in _VOCABULARY or predicate.startswith(f"<{self.prefix}"):
            return self.static_version, self.store.version
        return self.static_version, self.store.predicate_versions.get(predicate, 0)

    def dynamic(self, patterns: Sequence[QuadPattern], predicate: str | None, address: str) -> bool:
        """Whether facts that were ever pushed could match one of these patterns, all of one predicate."""
        if not self.version(predicate)[1]:
            return False
        view = self._view(address)
        return any(view.concerns(pattern) for pattern in patterns)

    def select(
        self, patterns: Sequence[QuadPattern], now: int, instant: int | None, address: str
    ) -> Selection:
        """What any of the patterns matches; the patterns must not overlap."""
        with self.lock:
            parts: list[Part] = []
            changes = FOREVER
            view = self._view(address) if self.store.segments else None
            told = {predicate: self.version(predicate)[1] for predicate in {one[1] for one in patterns}}
            for pattern in patterns:
                run = self.static.find(pattern)
                if run is not None:
                    parts.append(Part(run.high - run.low, partial(self.static.slice, run)))
                if view is not None and told[pattern[1]]:
                    found, boundary = view.select(pattern, now, instant)
                    parts += found
                    changes = min(changes, boundary)
            return Selection(sum([part.length for part in parts]), parts, changes)

    def _view(self, address: str) -> View:
        view = self._views.get(address)
        if view is None:
            if len(self._views) >= 64:
                self._views.clear()
            view = self._views[address] = View(self.store, self.annotation, Names(self.prefix, address))
        return view
