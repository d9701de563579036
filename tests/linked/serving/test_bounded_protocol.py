"""Floods of header bytes against a real server: each is refused, and the server goes on."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from weir.linked.serving import bounded_protocol
from weir.linked.serving.bounded_protocol import HEAD_BYTES, HEAD_FIELDS, bounded_options

pytestmark = pytest.mark.network


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off", **bounded_options(50))
    listening = config.bind_socket()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: server.run([listening]))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join()


def answer(port: int, *pieces: bytes) -> bytes:
    """What the server says; empty where it only closes the connection."""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        said = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            while more := connection.recv(65_536):
                said += more
                if b"ok" in said:
                    break
        except (ConnectionResetError, BrokenPipeError):
            pass
        return said


GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


def test_an_ordinary_request_is_answered(port: int) -> None:
    fields = b"".join(b"X-%d: y\r\n" % n for n in range(HEAD_FIELDS - 1))
    assert b"200 OK" in answer(port, GET + fields + b"\r\n")
    assert b"200 OK" in answer(port, GET[:9], GET[9:], b"\r\n")


@pytest.mark.parametrize(
    "pieces",
    [
        [GET, b"".join(b"X-%d: y\r\n" % n for n in range(HEAD_FIELDS + 1)), b"\r\n"],
        [GET, b"X: " + b"y" * (HEAD_BYTES + 1), b"\r\n\r\n"],
        [GET, b"X: ", *[b"y" * 10_000] * 200],
        [b"GET /" + b"y" * (HEAD_BYTES + 1) + b" HTTP/1.1\r\n\r\n"],
        [b"G" * 200_000],
    ],
)
def test_a_flood_of_header_bytes_is_refused(port: int, pieces: list[bytes]) -> None:
    assert b"200 OK" not in answer(port, *pieces)
    assert b"200 OK" in answer(port, GET + b"\r\n")


@pytest.mark.parametrize("begun", [b"", GET])
def test_a_head_that_does_not_come_to_its_end_is_given_up(
    port: int, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_protocol, "HEAD_SECONDS", 0.1)
    assert b"did not come to its end" in answer(port, begun)
