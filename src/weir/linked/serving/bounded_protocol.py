"""HTTP/1.1 under uvicorn with a bound on the heads of requests: their size, their fields and their time.

uvicorn's own protocol takes a head of any length for as long as it comes. Here one that is too long, has too
many fields or does not come to its end is refused, and its connection is closed.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 1 << 16
HEAD_FIELDS = 100
HEAD_SECONDS = 20.0


class BoundedProtocol(HttpToolsProtocol):
    """One connection; ``_begun`` counts the bytes that came since its last complete head."""

    _begun = 0
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_timer is not None:
            self._begun += len(data)
        super().data_received(data)
        if self._head_timer is not None and self._begun > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        self._wait_for_head()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > HEAD_BYTES:
            raise ValueError("the address is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= HEAD_FIELDS or len(name) + len(value) > HEAD_BYTES:
            raise ValueError("too many header fields")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._head_came()
        super().on_headers_complete()

    def _wait_for_head(self) -> None:
        if self._head_timer is None:
            self._begun = 0
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._late)

    def _head_came(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _late(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self.send_400_response("The head of the request did not come to its end.")


def bounded_options(connections: int) -> dict[str, Any]:
    """Options for uvicorn's ``Config``: bounded heads, and no more than so many connections."""
    return {"http": BoundedProtocol, "limit_concurrency": connections}
