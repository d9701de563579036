"""One document by GET: redirects, limits, and hosts that may not be asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from weir.errors import RemoteError
from weir.linked.http.allowed_hosts import Allowed, Forbidden
from weir.linked.http.client import open_document

pytestmark = pytest.mark.network

HERE = Allowed(private=frozenset({"127.0.0.1"}))


class Handler(BaseHTTPRequestHandler):
    """``/moved`` leads to ``/there``, ``/away`` to another host, ``/loop`` to itself."""

    def do_GET(self) -> None:
        targets = {"/moved": "/there", "/loop": "/loop", "/away": "http://example.com/"}
        targets["/in"] = f"http://127.0.0.1:{self.server.server_address[1]}/there"  # type: ignore[attr-defined]
        body = b"text" if self.path == "/there" else b""
        self.send_response(302 if self.path in targets else 200 if body else 404)
        if self.path in targets:
            self.send_header("Location", targets[self.path])
        self.send_header("Content-Type", "Text/Turtle; charset=utf-8")
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


def get(url: str, allowed: Allowed | None = None, max_bytes: int = 100) -> tuple[str, str, bytes]:
    with open_document(url, accept="*/*", timeout=5.0, max_bytes=max_bytes, allowed=allowed) as document:
        return document.url, document.media_type, b"".join(document.chunks)


@pytest.mark.parametrize("allowed", [None, HERE])
def test_a_document_knows_where_it_was_found(site: str, allowed: Allowed | None) -> None:
    assert get(f"{site}/moved", allowed) == (f"{site}/there", "text/turtle", b"text")


@pytest.mark.parametrize(("path", "problem"), [("/loop", "cannot fetch"), ("/none", "status 404")])
def test_what_cannot_be_had_is_told(site: str, path: str, problem: str) -> None:
    with pytest.raises(RemoteError, match=problem):
        get(site + path)


def test_a_document_is_bounded(site: str) -> None:
    with pytest.raises(RemoteError, match="larger than 3 bytes"):
        get(f"{site}/there", max_bytes=3)


def test_every_step_must_be_allowed(site: str) -> None:
    with pytest.raises(Forbidden, match=r"example\.com is not allowed"):
        get(f"{site}/away", HERE)


def test_an_allowed_name_may_not_lead_to_an_inner_address(site: str) -> None:
    with pytest.raises(Forbidden, match="inner address"):
        get(f"{site}/there", Allowed(hosts=frozenset({"127.0.0.1"})))


def test_a_redirect_to_an_inner_address_is_not_followed(site: str) -> None:
    with pytest.raises(Forbidden, match="inner address"):
        get(site.replace("127.0.0.1", "localhost") + "/in")
