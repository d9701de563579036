"""A service that is guarded: tokens on every way in, and a query that keeps more than it may."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from server_kit import Server, until
from service_servers import moody

pytestmark = [pytest.mark.spark, pytest.mark.network]

READ, ADMIN = "r" * 20, "a" * 20
CONFIG = f"""
[limits]
state_rows = 1000
[[tokens]]
token = "{READ}"
scope = "read"
[[tokens]]
token = "{ADMIN}"
scope = "admin"
[allow]
hosts = ["localhost"]
"""
TNQ = {"content-type": "application/x-tnq"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("guarded"), CONFIG).start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def chief(guarded: Server) -> Iterator[httpx.Client]:
    """A client with all rights; a stream, a modest query and one that keeps an hour."""
    headers = {"authorization": f"Bearer {ADMIN}"}
    with httpx.Client(base_url=guarded.base, timeout=120, headers=headers) as client:
        client.post("/api/streams", json={"iri": "http://e/s", "id": "s"}).raise_for_status()
        for name, window in (("modest", "NOW"), ("greedy", "RANGE 1h")):
            text = f"SELECT ?a ?b WHERE {{ STREAM <http://e/s> [{window}] {{ ?a <http://e/p> ?b }} }}"
            made = client.post("/api/queries", json={"text": text, "name": name, "dialect": "cqels"})
            assert made.status_code == 201, made.text
        yield client


def push(client: httpx.Client, first: int, count: int) -> None:
    numbers = range(first, first + count)
    body = "".join(f"{1_000_000 + n}\t<http://e/a{n}> <http://e/p> <http://e/b{n}> .\n" for n in numbers)
    client.post("/api/streams/s/messages", content=body, headers=TNQ).raise_for_status()


def query(client: httpx.Client, name: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/queries/{name}").json()
    return found


def received(address: str, headers: dict[str, str] | None = None) -> Any:
    with connect(address, additional_headers=headers or {}, open_timeout=30) as socket:
        return json.loads(socket.recv(timeout=60))


def test_sockets_and_events_need_a_token(guarded: Server, chief: httpx.Client) -> None:
    push(chief, 0, 3)
    until(lambda: query(chief, "modest")["position"], 120)
    plain = f"{guarded.base}/api/queries/modest/results"
    socket = plain.replace("http", "ws", 1) + "/ws?from=0"
    for address in (socket, f"{socket}&access_token=wrong"):
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            received(address)
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        received(socket, {"authorization": "Bearer nonsense"})
    told = received(f"{socket}&access_token={READ}")
    assert told == received(socket, {"authorization": f"Bearer {READ}"})
    assert told["results"][0]["bindings"]["a"]["value"] == "http://e/a0"
    events = {"accept": "text/event-stream"}
    assert httpx.get(plain, headers=events).status_code == 401
    reader = {"authorization": f"Bearer {READ}"}
    with httpx.stream("GET", plain, headers={**events, **reader}, timeout=30) as stream:
        assert stream.status_code == 200
    assert httpx.delete(f"{guarded.base}/api/queries/modest", headers=reader).status_code == 403


def test_a_query_that_keeps_too_much_fails_and_the_others_go_on(chief: httpx.Client) -> None:
    push(chief, 10, 3000)
    until(lambda: query(chief, "greedy")["failed"], 120)
    assert 'weir_query_failed{query="greedy"} 1.0' in chief.get("/metrics").text
    assert "more than 1,000" in query(chief, "greedy")["reason"]
    assert not query(chief, "modest")["failed"]
    reached = query(chief, "modest")["position"]
    push(chief, 4000, 3)
    until(lambda: query(chief, "modest")["position"] > reached, 120)
    resumed = chief.post("/api/queries/greedy/resume")
    assert (resumed.status_code, resumed.json()["failed"], resumed.json()["reason"]) == (200, False, None)
    before = query(chief, "greedy")
    push(chief, 4100, 3)
    until(lambda: query(chief, "greedy")["position"] > before["position"], 120)
    assert not query(chief, "greedy")["failed"], "what it kept before it failed is held against it"


def test_a_worker_asks_no_inner_address_even_of_an_allowed_host(chief: httpx.Client) -> None:
    with moody() as inner:
        endpoint = inner.endpoint.replace("127.0.0.1", "localhost")
        text = (
            "SELECT ?a WHERE { STREAM <http://e/s> [NOW] { ?a <http://e/p> ?b } "
            f"SERVICE <{endpoint}> {{ ?a <http://e/q> ?c }} }}"
        )
        made = chief.post("/api/queries", json={"text": text, "name": "forged", "dialect": "cqels"})
        assert made.status_code == 201, made.text
        reached = query(chief, "modest")["position"]
        push(chief, 4200, 3)
        until(lambda: query(chief, "modest")["position"] > reached, 120)
        until(lambda: query(chief, "forged")["evaluations"], 120)
        assert (inner.requests, query(chief, "forged")["results"]) == (0, 0)
