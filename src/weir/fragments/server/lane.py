"""A fast lane under uvicorn: plain GETs of fragments answered without parsing them twice or a task each.

A fragment request is one short head and a response that is mostly ready, so HTTP parsing and the ASGI
round trip cost several times what the fragment does. This protocol looks at what arrives: a complete,
ordinary GET is answered at once; anything else (other methods, bodies, upgrades, split heads, HTTP/1.0,
paths outside the mount point) takes uvicorn's own way. Whatever wraps the ASGI application (middleware,
access logs) does not see requests in the lane, so it is for serving fragments that need none.
"""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from weir.fragments.server.app import FragmentsApp
from weir.fragments.server.formats import SYNTAXES, negotiate
from weir.fragments.server.plain import Sheet
from weir.fragments.server.request import UNSAFE
from weir.fragments.server.response import Response, opening, understands_gzip

_REST = re.compile(rb"(?:[!#-'*+.^-z|~A-Z0-9-]+:[ \t]*[^\x00-\x08\x0a-\x1f\x7f]*\r\n)*\r\n")
_ODD = re.compile(
    rb"^(?:connection[ \t]*:(?![ \t]*keep-alive[ \t]*\r)|(?:upgrade|expect|transfer-encoding"
    rb"|content-length|te|range|if-match|if-range|if-unmodified-since)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_FIELDS = re.compile(
    rb"^(host|accept|accept-encoding|if-none-match):[ \t]*(.*?)[ \t]*\r$", re.IGNORECASE | re.MULTILINE
)
_SAFE = bytes(code for code in range(0x21, 0x7F) if code != 0x23 and not UNSAFE.match(chr(code)))
"""What a target in this lane consists of: all that may stand in an IRI, but no fragment identifier."""
_LONGEST = 65_536
_ONCE = 65_536
_WANTS = 1024
_WANTS_LONGEST = 4096


class Wants(NamedTuple):
    """What the header fields of a request ask for; a client's requests mostly have the same ones."""

    base: str
    accept: str
    tags: bytes | None
    packs: bool


class Lane:
    """Turns heads of requests into bytes of responses for one application mounted at one path.

    A head that is new is answered from a ``Sheet`` where it can be. One that comes again is remembered with
    the response it led to, which is sent again while it is current: a crawler, who asks for everything
    once, pushes nothing out.
    """

    def __init__(self, app: FragmentsApp, mount: str = "", scheme: str = "http") -> None:
        self.app = app
        self.mount = mount.rstrip("/")
        self.scheme = scheme
        self._heads: dict[bytes, tuple[Response, bytes | None, bool]] = {}
        self._held = 0
        self._once: set[int] = set()
        self._wants: dict[bytes, Wants | None] = {}
        self._sheets: dict[tuple[Wants, str], Sheet] = {}

    def answer(self, head: bytes) -> bytes | None:
        """The response to a complete head; None where it is not for this lane."""
        app = self.app
        now = app.clock()
        known = self._heads.get(head)
        if known is not None:
            response, tags, packs = known
            if response.current(now) and self._published(response):
                app.responder.counters["requests"] += 1
                app.responder.counters["hits"] += 1
                return _bytes(response, now, tags, packs)
            del self._heads[head]
        line, _, rest = head.partition(b"\r\n")
        try:
            wants = self._wants[rest]
        except KeyError:
            wants = self._read(rest)
        if wants is None or not line.endswith(b" HTTP/1.1") or len(head) > _LONGEST:
            return None
        if line.translate(None, _SAFE) != b"  ":
            return None
        path, _, query = line[4:-9].decode("ascii").partition("?")
        if not path.startswith(f"{self.mount}/") or "%" in path:
            return None
        mark = hash(head)
        if mark not in self._once:
            if len(self._once) >= _ONCE:
                self._once.clear()
            self._once.add(mark)
            sheet = self._sheets.get((wants, path))
            if sheet is None or not self._published(sheet):
                sheet = self._sheet(wants, path)
            answer = None if sheet is None else sheet.answer(query, now, int(time.time()))
            if answer is not None:
                return answer
        base, accept, tags, packs = wants
        response = app.get(base, path[len(self.mount) :], query, accept)
        if response.dataset is not None:
            self._held += len(head) + response.size
            if self._held > app.limits.cache_bytes:
                self._heads.clear()
                self._held = 0
            self._heads[head] = (response, tags, packs)
        return _bytes(response, now, tags, packs)

    def _published(self, of: Response | Sheet) -> bool:
        dataset = of.dataset
        return dataset is not None and self.app.datasets.get(dataset.name) is dataset

    def _read(self, rest: bytes) -> Wants | None:
        """What a request's head asks for after its first line; None where it is not for this lane."""
        wants = self._parse(rest)
        if len(rest) <= _WANTS_LONGEST:
            if len(self._wants) >= _WANTS:
                self._wants.clear()
            self._wants[rest] = wants
        return wants

    def _sheet(self, wants: Wants, path: str) -> Sheet | None:
        """The sheet for what is wanted of the data set at a path; None where there can be none."""
        dataset = self.app.datasets.get(path[len(self.mount) + 1 :])
        media_type = negotiate(wants.accept)
        if dataset is None or media_type is None or media_type not in SYNTAXES or wants.tags is not None:
            return None
        if len(self._sheets) >= _WANTS:
            self._sheets.clear()
        sheet = Sheet(
            self.app.responder, dataset, f"{wants.base}/", f"{wants.base}/{dataset.name}", media_type
        )
        self._sheets[wants, path] = sheet
        return sheet

    def _parse(self, rest: bytes) -> Wants | None:
        if not _REST.fullmatch(rest) or _ODD.search(rest):
            return None
        fields: dict[bytes, bytes] = {}
        for name, value in _FIELDS.findall(rest):
            if fields.setdefault(name.lower(), value) is not value:
                return None
        base = self.app.base_of(self.scheme, fields.get(b"host", b""), self.mount)
        if base is None:
            return None
        accept = fields.get(b"accept", b"").decode("latin-1")
        packs = understands_gzip(fields.get(b"accept-encoding", b""))
        return Wants(base, accept, fields.get(b"if-none-match"), packs)


def _bytes(response: Response, now: int, tags: bytes | None, packs: bool) -> bytes:
    head, body = response.reply(now, tags, packs)
    start = opening(head, int(time.time()))
    if head.status == 304:
        return start + b"\r\n"
    return b"%bcontent-length: %d\r\n\r\n%b" % (start, len(body), body)


def protocol(lane: Lane) -> type[HttpToolsProtocol]:
    """A protocol for uvicorn's ``http`` option that tries the lane first."""

    class FragmentsProtocol(HttpToolsProtocol):
        inside = False
        answered = 0.0

        def data_received(self, data: bytes) -> None:
            free = (
                not self.inside and not self.pipeline and (self.cycle is None or self.cycle.response_complete)
            )
            if free and data.startswith(b"GET /") and data.endswith(b"\r\n\r\n"):
                answer = lane.answer(data)
                if answer is not None:
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
    """A uvicorn server of one fragments application, with the fast lane; ``.run()`` serves."""
    settings: dict[str, Any] = {"access_log": False, "log_level": "warning", "ws": "none", **options}
    config = uvicorn.Config(app, host=host, port=port, http=protocol(Lane(app)), **settings)
    return uvicorn.Server(config)
