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
from http import HTTPStatus
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from weir.server.fragments.app import FragmentsApp
from weir.server.fragments.respond import Response, http_date, understands_gzip

_HEAD = re.compile(
    rb"GET (/[!-~]*) HTTP/1\.1\r\n((?:[!#-'*+.^-z|~A-Z0-9-]+:[ \t]*[^\x00-\x08\x0a-\x1f\x7f]*\r\n)*)\r\n"
)
_ODD = re.compile(
    rb"^(?:connection[ \t]*:(?![ \t]*keep-alive[ \t]*\r)|(?:upgrade|expect|transfer-encoding"
    rb"|content-length|te|range|if-match|if-range|if-unmodified-since)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_FIELDS = re.compile(
    rb"^(host|accept|accept-encoding|if-none-match):[ \t]*(.*?)[ \t]*\r$", re.IGNORECASE | re.MULTILINE
)
_LONGEST = 65_536


class Lane:
    """Turns heads of requests into bytes of responses for one application mounted at one path.

    Equal heads are remembered with the response they led to, which is sent again while it is current.
    """

    def __init__(self, app: FragmentsApp, mount: str = "", scheme: str = "http") -> None:
        self.app = app
        self.mount = mount.rstrip("/")
        self.scheme = scheme
        self._heads: dict[bytes, tuple[Response, bytes | None, bool]] = {}
        self._held = 0

    def answer(self, head: bytes) -> bytes | None:
        """The response to a complete head; None where it is not for this lane."""
        now = self.app.clock()
        known = self._heads.get(head)
        if known is not None:
            response, tags, packs = known
            if response.current(now) and self._published(response):
                self.app.responder.counters["requests"] += 1
                self.app.responder.counters["hits"] += 1
                return _bytes(response, now, tags, packs)
            del self._heads[head]
        match = _HEAD.fullmatch(head)
        if match is None or len(head) > _LONGEST or _ODD.search(match[2]):
            return None
        target = match[1].decode("ascii")
        path, _, query = target.partition("?")
        if not path.startswith(f"{self.mount}/") or "%" in path or "#" in target:
            return None
        fields: dict[bytes, bytes] = {}
        for name, value in _FIELDS.findall(match[2]):
            if fields.setdefault(name.lower(), value) is not value:
                return None
        base = self.app.base_of(self.scheme, fields.get(b"host", b""), self.mount)
        if base is None:
            return None
        accept = fields.get(b"accept", b"").decode("latin-1")
        response = self.app.get(base, path[len(self.mount) :], query, accept)
        tags = fields.get(b"if-none-match")
        packs = understands_gzip(fields.get(b"accept-encoding", b""))
        if response.dataset is not None:
            self._held += len(head) + len(response.body)
            if self._held > self.app.limits.cache_bytes:
                self._heads.clear()
                self._held = 0
            self._heads[head] = (response, tags, packs)
        return _bytes(response, now, tags, packs)

    def _published(self, response: Response) -> bool:
        dataset = response.dataset
        return dataset is not None and self.app.datasets.get(dataset.name) is dataset


def _bytes(response: Response, now: int, tags: bytes | None, packs: bool) -> bytes:
    status, headers, body = response.reply(now, tags, packs)
    date = http_date(int(time.time()))
    parts = [b"HTTP/1.1 %d %s\r\ndate: %s\r\n" % (status, _PHRASES[status], date)]
    parts += [b"%s: %s\r\n" % header for header in headers]
    parts.append(b"\r\n")
    parts.append(body)
    return b"".join(parts)


_PHRASES = {status.value: status.phrase.encode() for status in HTTPStatus}


def protocol(lane: Lane) -> type[HttpToolsProtocol]:
    """A protocol for uvicorn's ``http`` option that tries the lane first."""

    class FragmentsProtocol(HttpToolsProtocol):
        inside = False

        def data_received(self, data: bytes) -> None:
            free = (
                not self.inside and not self.pipeline and (self.cycle is None or self.cycle.response_complete)
            )
            if free and data.startswith(b"GET /") and data.endswith(b"\r\n\r\n"):
                answer = lane.answer(data)
                if answer is not None:
                    self._unset_keepalive_if_required()
                    self.transport.write(answer)
                    self.timeout_keep_alive_task = self.loop.call_later(
                        self.timeout_keep_alive, self.timeout_keep_alive_handler
                    )
                    return
            super().data_received(data)

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
