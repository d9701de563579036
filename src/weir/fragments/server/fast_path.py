"""The fast path under uvicorn: ordinary GETs answered without HTTP parsing and the ASGI round trip.

Those cost several times what a fragment does, whose head is short and whose response is mostly ready.
``FastPath.answer`` looks at what arrives: a complete, ordinary GET is answered at once, to the byte as the
application does; anything else (other methods, bodies, upgrades, split heads, HTTP/1.0, paths outside the
mount point) is declined and takes uvicorn's own way. Whatever wraps the ASGI application (middleware,
access logs) does not see what is answered here: a service that has a gate before its fragments gives it as
``Doorkeeper``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol

import uvicorn

from weir.fragments.protocol.annotation import FOREVER, QuadPattern
from weir.fragments.protocol.controls import text_of
from weir.fragments.server.app import FragmentsApp
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.metadata import LONG, Described
from weir.fragments.server.request import UNSAFE, decoded, parse_request
from weir.fragments.server.responses import (
    Head,
    Responder,
    Response,
    etag,
    opening,
    understands_gzip,
)
from weir.fragments.server.serialize import NQUADS, encoded, lines, media_type_for
from weir.fragments.server.withdrawals import WITHDRAWALS
from weir.linked.http.headers import SECOND
from weir.linked.serving.bounded_protocol import BoundedProtocol

_REST = re.compile(rb"(?:[!#-'*+.^-z|~A-Z0-9-]+:[ \t]*[^\x00-\x08\x0a-\x1f\x7f]*\r\n)*\r\n")
_ODD = re.compile(
    rb"^(?:connection[ \t]*:(?![ \t]*keep-alive[ \t]*\r)|(?:upgrade|expect|transfer-encoding"
    rb"|content-length|te|range|if-match|if-range|if-unmodified-since)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_FIELDS = re.compile(
    rb"^(host|accept|accept-encoding|if-none-match|authorization):[ \t]*(.*?)[ \t]*\r$",
    re.IGNORECASE | re.MULTILINE,
)
_SAFE = bytes(code for code in range(0x21, 0x7F) if code != 0x23 and not UNSAFE.match(chr(code)))
"""What a target here consists of: all that may stand in an IRI, but no fragment identifier."""
_LONGEST = 65_536
_ONCE = 65_536
_WANTS = 1024
_WANTS_LONGEST = 4096
_STRING = re.compile(r'"[^"\\\n\r]*"(?:@[a-z]{1,8}(?:-[a-z0-9]{1,8})*)?')
"""Literals whose text is the same in a form's field and in N-Triples."""


class Doorkeeper(Protocol):
    """Who may ask, where that is not everybody."""

    def known(self, headers: Mapping[str, str]) -> str | None:
        """The name under which who asks with these fields is counted, empty for its address; None where it
        is not let in."""

    def takes(self, client: str) -> bool:
        """Count one request more; whether it is taken."""


class Wants(NamedTuple):
    """What the header fields of a request ask for, and who asks by them; a client's requests mostly have the
    same ones."""

    base: str
    accept: str
    tags: bytes | None
    packs: bool
    client: str = ""


class FastPath:
    """Turns heads of requests into bytes of responses for one application mounted at one path.

    A head that is new is answered from ``StaticPages`` where it can be. One that comes again is remembered
    with the response it led to, which is sent again while it is current: a crawler, who asks for
    everything once, pushes nothing out. ``extra`` headers go with every response.
    """

    def __init__(
        self,
        app: FragmentsApp,
        mount: str = "",
        scheme: str = "http",
        gate: Doorkeeper | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        self.app = app
        self.mount = mount.rstrip("/")
        self.scheme = scheme
        self.gate = gate
        fields = tuple((name.encode(), value.encode()) for name, value in (extra or {}).items())
        self._opening = partial(opening, shared=app.cors, extra=fields)
        self._heads: dict[bytes, tuple[Response, Wants]] = {}
        self._held = 0
        self._once: set[int] = set()
        self._wants = lru_cache(maxsize=_WANTS)(self._parse)
        self._pages = lru_cache(maxsize=_WANTS)(self._static_pages)

    def answer(self, head: bytes, address: str = "") -> bytes | None:
        """The response to a complete head from an address; None where it is declined."""
        app = self.app
        now = app.clock()
        known = self._heads.get(head)
        if known is not None:
            response, wants = known
            dataset = response.dataset
            if response.current(now) and dataset and app.datasets.get(dataset.name) is dataset:
                if self.gate is not None and not self.gate.takes(wants.client or address):
                    return None
                app.responder.counters["requests"] += 1
                app.responder.counters["hits"] += 1
                return self._bytes(response, now, wants)
            del self._heads[head]
        line, _, rest = head.partition(b"\r\n")
        asked = self._wants(rest) if len(rest) <= _WANTS_LONGEST else self._parse(rest)
        if asked is None or not line.endswith(b" HTTP/1.1") or len(head) > _LONGEST:
            return None
        if line.translate(None, _SAFE) != b"  ":
            return None
        path, _, query = line[4:-9].decode("ascii").partition("?")
        if not path.startswith(f"{self.mount}/") or "%" in path or path.endswith(f"/{WITHDRAWALS}"):
            return None
        if self.gate is not None and not self.gate.takes(asked.client or address):
            return None
        mark = hash(head)
        if mark not in self._once:
            if len(self._once) >= _ONCE:
                self._once.clear()
            self._once.add(mark)
            dataset = app.datasets.get(path[len(self.mount) + 1 :])
            pages = None if dataset is None else self._pages(dataset, asked)
            answer = None if pages is None else pages.answer(query, now, int(time.time()))
            if answer is not None:
                return answer
        response = app.get(asked.base, path[len(self.mount) :], query, asked.accept)
        if response.dataset is not None:
            self._held += len(head) + len(response.body)
            if self._held > app.limits.cache_bytes:
                self._heads.clear()
                self._held = 0
            self._heads[head] = (response, asked)
        return self._bytes(response, now, asked)

    def _bytes(self, response: Response, now: int, wants: Wants) -> bytes:
        head, body = response.reply(now, wants.tags, wants.packs)
        start: bytes = self._opening(head, int(time.time()))
        if head.status == 304:
            return start + b"\r\n"
        return b"%bcontent-length: %d\r\n\r\n%b" % (start, len(body), body)

    def _static_pages(self, dataset: Dataset, wants: Wants) -> StaticPages | None:
        """The pages for what is wanted of a data set; None where there can be none."""
        if media_type_for(wants.accept) != NQUADS or wants.tags is not None:
            return None
        return StaticPages(self.app.responder, dataset, wants.base, self._opening)

    def _parse(self, rest: bytes) -> Wants | None:
        """What a request's head asks for after its first line; None where it is declined."""
        if not _REST.fullmatch(rest) or _ODD.search(rest):
            return None
        fields: dict[bytes, bytes] = {}
        for name, value in _FIELDS.findall(rest):
            if fields.setdefault(name.lower(), value) is not value:
                return None
        base = self.app.base_of(self.scheme, fields.get(b"host", b""), self.mount)
        if base is None:
            return None
        client: str | None = ""
        if self.gate is not None:
            client = self.gate.known(
                {name.decode(): value.decode("latin-1") for name, value in fields.items()}
            )
        if client is None:
            return None
        accept = fields.get(b"accept", b"").decode("latin-1")
        packs = understands_gzip(fields.get(b"accept-encoding", b""))
        return Wants(base, accept, fields.get(b"if-none-match"), packs, client)


class StaticPages:
    """The most frequent requests: one pattern of static triples whose matches fit on one page, in N-Quads.

    All such fragments of one data set at one address are the same but for the address, the count and the
    triples, so the rest is put together once.
    """

    def __init__(
        self,
        responder: Responder,
        dataset: Dataset,
        base: str,
        opening: Callable[[Head, int], bytes] = opening,
    ) -> None:
        self.responder = responder
        self.opening = opening
        self.dataset = dataset
        self.base = base
        self.address = address = f"{base}/{dataset.name}"
        limits = dataset.limits
        self.longest = min(LONG - len(address) - 1, limits.query_string, limits.term)
        self.version = (-1, -1)
        self.moment = (-1, -1)
        self.openings = (b"", b"")

    def answer(self, query: str, now: int, second: int) -> bytes | None:
        """The response to a ``safe`` query string at a time; None where it is something else."""
        pattern = plain_pattern(query) if 0 < len(query) <= self.longest else None
        if pattern is None:
            return None
        dataset = self.dataset
        with dataset.lock:
            index, version = dataset.static, dataset.version(pattern[1])
        if version[1]:
            return None
        run = index.find(pattern)
        total = 0 if run is None else run.high - run.low
        if total > dataset.page_size:
            return None
        if version != self.version:
            self._describe(query, version)
        moment = (now // SECOND, second)
        if moment != self.moment:
            self._date(moment)
        data = encoded(lines([] if run is None else index.slice(run, 0, total)))
        values = {"page": f"{self.address}?{query}".encode(), "total": b"%d" % total}
        own, chosen, controls = self.template
        said = own % chosen(values)
        length = b"content-length: %d\r\n\r\n" % (len(said) + len(controls) + len(data))
        self.responder.counters["requests"] += 1
        return b"".join((self.openings[total > 0], length, said, controls, data))

    def _describe(self, query: str, version: tuple[int, int]) -> None:
        dataset = self.dataset
        about = Described.of(dataset, parse_request(query, dataset, 0), self.base, 0, FOREVER)
        self.template = self.responder.templates.of(dataset, about, ("page", "total"))
        self.version, self.moment = version, (-1, -1)

    def _date(self, moment: tuple[int, int]) -> None:
        """What comes before the length, without matches and with some, for a second by the application's
        clock and the wall's."""
        tag = etag(self.dataset.nonce, NQUADS, self.version, FOREVER)
        static, revalidate = self.dataset.static_age, self.dataset.revalidate
        ages = [age // SECOND for age in (min(static, revalidate), static)]
        nothing, some = (Head(200, NQUADS, tag, False, age, moment[0] + age) for age in ages)
        self.moment = moment
        self.openings = self.opening(nothing, moment[1]), self.opening(some, moment[1])


def plain_pattern(query: str) -> QuadPattern | None:
    """The triple pattern of a query string; None where it asks for anything else, or is malformed."""
    found: dict[str, str | None] = {"subject": None, "predicate": None, "object": None}
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        value = decoded(value)
        term = value if _STRING.fullmatch(value) else text_of(value) if value else None
        if not isinstance(term, str) or name not in found:
            return None
        found[name] = term
    return found["subject"], found["predicate"], found["object"], None


def protocol(path: FastPath) -> type[BoundedProtocol]:
    """A protocol for uvicorn's ``http`` option that tries the fast path first."""

    class FragmentsProtocol(BoundedProtocol):
        inside = False
        answered = 0.0

        def data_received(self, data: bytes) -> None:
            free = (
                not self.inside
                and not self.pipeline
                and (self.cycle is None or self.cycle.response_complete)
                and (self.limit_concurrency is None or len(self.connections) <= self.limit_concurrency)
            )
            if free and data.startswith(b"GET /") and data.endswith(b"\r\n\r\n"):
                answer = path.answer(data, self.client[0] if self.client else "?")
                if answer is not None:
                    self._head_came()
                    self.transport.write(answer)
                    self.answered = self.loop.time()
                    if self.timeout_keep_alive_task is None:
                        self._watch(self.timeout_keep_alive)
                    return
            super().data_received(data)

        def _watch(self, seconds: float) -> None:
            self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

        def timeout_keep_alive_handler(self) -> None:
            """One timer for many requests: it waits on where one was answered since it was set."""
            left = self.answered + self.timeout_keep_alive - self.loop.time()
            if left > 0.0 and not self.transport.is_closing():
                self._watch(left)
            else:
                super().timeout_keep_alive_handler()

        def on_message_begin(self) -> None:
            self.inside = True
            super().on_message_begin()

        def on_message_complete(self) -> None:
            self.inside = False
            super().on_message_complete()

    return FragmentsProtocol


def server(app: FragmentsApp, host: str = "127.0.0.1", port: int = 8080, **options: Any) -> uvicorn.Server:
    """A uvicorn server of one fragments application, with the fast path; ``.run()`` serves."""
    settings: dict[str, Any] = {"access_log": False, "log_level": "warning", "ws": "none", "lifespan": "off"}
    config = uvicorn.Config(app, host=host, port=port, http=protocol(FastPath(app)), **settings | options)
    return uvicorn.Server(config)
