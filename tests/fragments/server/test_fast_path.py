"""The fast path under uvicorn: the same answers as the application gives, and a way round for the rest."""

from __future__ import annotations

import itertools
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import httpx
import pytest

from fragments_kit import EX, SECOND, T0
from fragments_peers import serving
from weir.fragments.client import follow
from weir.fragments.protocol.annotation import Fact
from weir.fragments.server import Dataset, FastPath, FragmentsApp, Limits, server
from weir.linked.http import WallClock

pytestmark = pytest.mark.network
STATIC = [(f"<{EX}s{n}>", f"<{EX}label>", f'"thing {n}"', "") for n in range(250)]


@pytest.fixture(scope="module")
def app() -> FragmentsApp:
    return FragmentsApp([Dataset("d", STATIC)], push=True)


@pytest.fixture(scope="module")
def base(app: FragmentsApp) -> Iterator[str]:
    with serving(lambda port: server(app, port=port)) as address:
        yield address


def raw(base: str, *parts: bytes, pause: float = 0.05) -> bytes:
    """What comes back for bytes sent in pieces on one connection."""
    host, _, port = base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as sock:
        for part in parts:
            sock.sendall(part)
            time.sleep(pause)
        sock.shutdown(socket.SHUT_WR)
        found = b""
        while piece := sock.recv(65_536):
            found += piece
    return found


def request(path: str, *extra: str, version: str = "1.1", method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/{version}", "Host: weir.test", "Accept: application/n-quads", *extra]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_it_answers_as_the_application_does(app: FragmentsApp) -> None:
    fast = FastPath(app)
    for path in ("/d", "/d?page=2", "/d?subject=http%3A%2F%2Fexample.org%2Fs1", "/none", "/d?page=x", "/"):
        answer = fast.answer(request(path))
        assert answer is not None
        head, _, body = answer.partition(b"\r\n\r\n")
        path_only, _, query = path.partition("?")
        expected = app.get("http://weir.test", path_only, query, "application/n-quads")
        assert head.startswith(f"HTTP/1.1 {expected.status} ".encode()) and body == expected.body
        assert f"content-length: {len(body)}".encode() in head


@pytest.mark.parametrize(
    "head",
    [
        request("/d", "Connection: close"),
        request("/d", "Connection: keep-alive, Upgrade"),
        request("/d", "Upgrade: websocket"),
        request("/d", "Content-Length: 3") + b"abc",
        request("/d", "Transfer-Encoding: chunked"),
        request("/d", "Expect: 100-continue"),
        request("/d", " folded: header"),
        request("/d", "Host: twice"),
        request("/d", version="1.0"),
        request("/d", method="POST"),
        request("/%64"),
        request("http://weir.test/d"),
        request("/d?x=" + "y" * 70_000),
        request("/d").replace(b"Host: weir.test", b"Host: we ir"),
        request("/d") + request("/d"),
        b"GET /d\r\n\r\n",
    ],
)
def test_what_is_not_plain_goes_the_other_way(app: FragmentsApp, head: bytes) -> None:
    assert FastPath(app).answer(head) is None


def test_keep_alive_is_plain(app: FragmentsApp) -> None:
    assert FastPath(app).answer(request("/d", "Connection: keep-alive", "Accept-Encoding: gzip")) is not None


def test_a_mounted_path_leaves_other_paths_alone(app: FragmentsApp) -> None:
    fast = FastPath(app, "/fragments")
    assert fast.answer(request("/d")) is None and fast.answer(request("/fragmentsx/d")) is None
    answer = fast.answer(request("/fragments/d"))
    assert answer is not None and b"<http://weir.test/fragments/d#dataset>" in answer


def test_remembered_answers_give_way_to_changes() -> None:
    now = T0
    app = FragmentsApp([Dataset("d")], clock=lambda: now)
    fast = FastPath(app)
    head = request(f"/d?predicate={EX}delay")
    assert b'"0"^^' in (fast.answer(head) or b"")
    app.datasets["d"].push([Fact(f"<{EX}s>", f"<{EX}delay>", '"5"', now, now + SECOND)], now)
    assert b'delay> "5"' in (fast.answer(head) or b"")
    now += SECOND
    assert b'delay> "5"' not in (fast.answer(head) or b"")


def test_a_data_set_that_was_taken_down_is_gone() -> None:
    app = FragmentsApp([Dataset("d", STATIC)])
    fast = FastPath(app)
    assert b"thing 7" in (fast.answer(request("/d")) or b"")
    app.remove("d")
    assert (fast.answer(request("/d")) or b"").startswith(b"HTTP/1.1 404")
    app.add(Dataset("d"))
    assert b"thing 7" not in (fast.answer(request("/d")) or b"")


def test_remembered_heads_are_bounded() -> None:
    app = FragmentsApp([Dataset("d", STATIC)], limits=Limits(cache_bytes=100_000))
    fast = FastPath(app)
    for number in range(600):
        fast.answer(request(f"/d?x={number // 2}"))
    assert sum(len(head) + len(response.body) for head, (response, _) in fast._heads.items()) < 150_000


def test_remembered_headers_are_bounded(app: FragmentsApp) -> None:
    fast = FastPath(app)
    for number in range(3000):
        assert fast.answer(request("/d", f"X-Number: {number}")) is not None
        assert fast.answer(request("/d", f"X-Number: {number}", "Connection: close")) is None
    assert fast.answer(request("/d", "X-Long: " + "x" * 10_000)) is not None
    assert fast._wants.cache_info().currsize <= 1024


def test_an_idle_connection_is_closed_and_a_busy_one_is_not(app: FragmentsApp) -> None:
    with (
        serving(lambda port: server(app, port=port, timeout_keep_alive=1)) as address,
        closing(HTTPConnection(address.removeprefix("http://"), timeout=5)) as connection,
    ):
        connection.connect()
        connection.auto_open = 0
        # The first goes the other way, whose timer must not end those in the fast.
        for path in ("/%64", "/d", "/d?page=2", "/d?page=3", "/d"):
            connection.request("GET", path)
            assert connection.getresponse().read()
            time.sleep(0.45)
        began = time.monotonic()
        assert connection.sock.recv(1) == b""
        assert 0.2 < time.monotonic() - began < 3


def test_keep_alive_pipelining_split_heads_and_close(base: str) -> None:
    assert raw(base, request("/d"), request("/d?page=2"), request("/d?page=3")).count(b"HTTP/1.1 200") == 3
    assert raw(base, request("/d") + request("/d?page=2")).count(b"HTTP/1.1 200") == 2
    head = request("/d")
    assert raw(base, head[:30], head[30:], request("/d")).count(b"HTTP/1.1 200") == 2
    closed = raw(base, request("/d", "Connection: close"))
    assert closed.count(b"HTTP/1.1 200") == 1 and b"connection: close" in closed.lower()
    assert b"HTTP/1.1 400" in raw(base, b"NONSENSE\r\n\r\n")
    body = f'<{EX}s1> <{EX}delay> "5" .'.encode()
    push = request(
        "/d?lifetime=60", "Content-Type: text/turtle", f"Content-Length: {len(body)}", method="POST"
    )
    mixed = raw(base, push + body, request(f"/d?predicate={EX}delay"))
    assert mixed.count(b"HTTP/1.1 200") == 2 and b'delay> "5"' in mixed


def test_conditional_requests_on_the_fast_path(base: str) -> None:
    with httpx.Client() as client:
        first = client.get(f"{base}/d")
        again = client.get(f"{base}/d", headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304 and not again.content and "date" in again.headers


def test_a_query_is_followed_over_a_real_connection(app: FragmentsApp, base: str) -> None:
    """Real clock: two versions of a fact, a third of a second apart."""
    now = WallClock.now()
    steps = [now, now + 400_000, now + 10 * SECOND]
    facts = [
        Fact(f"<{EX}train>", f"<{EX}late>", f'"{n}"', start, end)
        for n, (start, end) in enumerate(itertools.pairwise(steps))
    ]
    app.datasets["d"].push(facts, now)
    seen = []
    for update in follow(f"SELECT ?x {{ ?s <{EX}late> ?x }}", f"{base}/d"):
        seen.append((update.at, [str(row["x"]) for row in update.added]))  # type: ignore[index, call-overload]
        if len(seen) == 2:
            break
    assert [values for _, values in seen] == [['"0"'], ['"1"']]
    assert 0 <= seen[1][0] - steps[1] < SECOND
