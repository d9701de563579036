"""Servers whose answers have no end, or become too much before anybody can count."""

from __future__ import annotations

import asyncio
import gzip
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from weir.errors import RemoteError
from weir.linked.http.allowed_hosts import Allowed, following_session, session
from weir.linked.http.client import HttpClient, RequestLimits, open_document

pytestmark = pytest.mark.network

HERE = Allowed(private=frozenset({"127.0.0.1"}))
LIMITS = RequestLimits(timeout=20.0, max_bytes=1 << 20, attempts=1)
ZEROS = bytes(8 << 20)
BODIES = {
    "gzip": gzip.compress(b"text"),
    "deflate": zlib.compress(b"text"),
    "identity": b"text",
    "gzip, gzip": gzip.compress(gzip.compress(ZEROS)),
    "deflate, gzip": gzip.compress(zlib.compress(ZEROS)),
    "zstd": b"\x28\xb5\x2f\xfd",
    "br": b"\x8b",
}
GOOD = list(BODIES)[:3]


class Handler(BaseHTTPRequestHandler):
    """``/N`` has the N-th encoding; ``/endless`` leads to ``/0``, and goes on talking."""

    def do_GET(self) -> None:
        if self.path == "/endless":
            self.send_response(302)
            self.send_header("Location", "/0")
            self.end_headers()
            with suppress(OSError):
                while True:
                    self.wfile.write(ZEROS)
            return
        encoding, body = list(BODIES.items())[int(self.path[1:])]
        self.send_response(200)
        self.send_header("Content-Encoding", encoding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def document(url: str) -> bytes:
    with open_document(url, accept="*/*", timeout=20.0, max_bytes=1 << 20, allowed=HERE) as found:
        return b"".join(found.chunks)


def requested(url: str, http: httpx.AsyncClient) -> bytes:
    async def run() -> bytes:
        client = HttpClient(http, LIMITS)
        try:
            return await client.request(url, lambda response: response.body)
        finally:
            await client.close()

    return asyncio.run(run())


WAYS: dict[str, Callable[[str], bytes]] = {
    "document": document,
    "following": lambda url: requested(url, following_session(HERE, 2, 20.0)),
    "endpoint": lambda url: requested(url, session(2, 20.0, {}, verify=False)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("encoding", BODIES)
def test_only_one_layer_that_was_asked_for_is_decoded(site: str, encoding: str, way: str) -> None:
    address = f"{site}/{list(BODIES).index(encoding)}"
    if encoding in GOOD:
        assert WAYS[way](address) == b"text"
    else:
        with pytest.raises(RemoteError) as refused:
            WAYS[way](address)
        assert "was not asked for" in str(refused.value)


@pytest.mark.parametrize("way", ["document", "following"])
def test_what_a_redirect_says_is_not_read(site: str, way: str) -> None:
    assert WAYS[way](f"{site}/endless") == b"text"
