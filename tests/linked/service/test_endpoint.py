"""The client against a real SPARQL server and against servers that misbehave; requests in the background."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import wait
from dataclasses import replace

import pytest

from service_servers import Mood, MoodyServer, moody
from weir.errors import RemoteError
from weir.linked.service.config import ServiceConfig
from weir.linked.service.endpoint import Answer, RemoteLoop, SparqlClient, shared_loop
from weir.rdf.terms import IRI, XSD, Literal
from weir_bench.oxigraph import Oxigraph, free_port

pytestmark = pytest.mark.network

QUICK = ServiceConfig(timeout=1.0, retries=2, backoff=0.01, failures=2, cool_down=0.2, longest_cool_down=0.4)


def ask(endpoint: str, config: ServiceConfig = QUICK, query: str = "SELECT * {}") -> Answer:
    async def run() -> Answer:
        client = SparqlClient(endpoint, config)
        try:
            return await client.select(query)
        finally:
            await client.close()

    return asyncio.run(run())


@pytest.fixture
def server() -> Iterator[MoodyServer]:
    with moody() as running:
        yield running


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("kind", ["json", "xml"])
def test_a_real_server_answers(method: str, kind: str) -> None:
    with Oxigraph() as oxigraph:
        oxigraph.load('<http://e/a> <http://e/p> 7 . <http://e/b> <http://e/p> "x\\ny"@EN .')
        headers = (("Accept", f"application/sparql-results+{kind}"),)
        config = replace(QUICK, method=method, headers=headers)
        query = "SELECT ?s ?o { VALUES ?s { <http://e/a> <http://e/b> } ?s <http://e/p> ?o } ORDER BY ?s"
        answer = ask(oxigraph.endpoint, config, query)
    assert list(answer.solutions.columns["s"]) == [IRI("http://e/a"), IRI("http://e/b")]
    assert list(answer.solutions.columns["o"]) == [
        Literal("7", XSD + "integer"),
        Literal.tagged("x\ny", "en"),
    ]
    assert answer.attempts == 1 and answer.valid_for is None


@pytest.mark.parametrize(
    "named", [{"ETag": '"one"'}, {"Last-Modified": "Tue, 17 Nov 2026 10:00:00 GMT"}], ids=["tag", "time"]
)
def test_an_answer_that_has_a_name_is_sent_once(server: MoodyServer, named: dict[str, str]) -> None:
    """Asked again, the server says that nothing changed; another name comes with another answer."""
    server.headers = named
    server.body = result(1)

    async def run(method: str) -> list[int]:
        client = SparqlClient(server.endpoint, replace(QUICK, method=method))
        try:
            found = [(await client.select("SELECT * {}")).solutions.length for _ in range(3)]
            server.headers = {
                name: value.replace("1", "2").replace("one", "two") for name, value in named.items()
            }
            server.body = result(2)
            return [*found, (await client.select("SELECT * {}")).solutions.length]
        finally:
            await client.close()

    assert asyncio.run(run("GET")) == [1, 1, 1, 2]
    assert server.unchanged == 2 and server.requests == 4
    assert asyncio.run(run("POST")) == [2, 2, 2, 2]
    assert server.unchanged == 2


@pytest.mark.parametrize(
    ("headers", "limit"), [({"X-SPARQL-MaxRows": "2"}, 0), ({"X-SPARQL-MaxRows": "9"}, 2), ({}, 2), ({}, 1)]
)
def test_half_an_answer_is_none(server: MoodyServer, headers: dict[str, str], limit: int) -> None:
    """A server says that it gave a part, or gives as many rows as it ever does."""
    server.headers, server.body = headers, result(2)
    assert ask(server.endpoint, replace(QUICK, row_limit=limit)).cut
    assert server.requests == 1


def test_an_answer_that_ran_out_of_time_is_none(server: MoodyServer) -> None:
    server.headers, server.body = {"X-SQL-State": "S1TAT"}, result(2)
    with pytest.raises(RemoteError, match="has cut its answer after 2 rows"):
        ask(server.endpoint)
    assert server.requests == 1


def test_a_short_answer_is_whole(server: MoodyServer) -> None:
    server.headers, server.body = {"X-SPARQL-MaxRows": "3", "X-SQL-State": "00000"}, result(2)
    answer = ask(server.endpoint, replace(QUICK, row_limit=3))
    assert answer.solutions.length == 2 and not answer.cut


def result(rows: int) -> bytes:
    bindings = [{"x": {"type": "literal", "value": str(n)}} for n in range(rows)]
    return json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": bindings}}).encode()


def test_a_query_that_does_not_parse_is_refused_at_once() -> None:
    with Oxigraph() as oxigraph, pytest.raises(RemoteError, match="refused"):
        ask(oxigraph.endpoint, query="SELECT nonsense")


@pytest.mark.parametrize("mood", [Mood.GARBAGE, Mood.CUT, Mood.BUSY, Mood.DEAF])
def test_passing_failures_are_tried_again(server: MoodyServer, mood: Mood) -> None:
    server.mood = mood
    with pytest.raises(RemoteError, match="failed"):
        ask(server.endpoint)
    assert server.requests == 3


def test_a_refusal_is_not_tried_again(server: MoodyServer) -> None:
    server.mood = Mood.REFUSE
    with pytest.raises(RemoteError, match="refused"):
        ask(server.endpoint)
    assert server.requests == 1


def test_a_retry_that_succeeds_is_an_answer(server: MoodyServer) -> None:
    server.mood = Mood.BUSY

    async def run() -> Answer:
        client = SparqlClient(server.endpoint, replace(QUICK, retries=20, backoff=0.05))
        waiting = asyncio.create_task(client.select("SELECT * {}"))
        while server.requests < 2:
            await asyncio.sleep(0.005)
        server.mood = Mood.PASS
        answer = await waiting
        await client.close()
        return answer

    assert asyncio.run(run()).attempts >= 3


def test_a_slow_server_times_out(server: MoodyServer) -> None:
    server.mood = Mood.SLOW
    started = time.monotonic()
    with pytest.raises(RemoteError) as caught:
        ask(server.endpoint, replace(QUICK, timeout=0.2, retries=1))
    assert "no answer" in str(caught.value) or "Timeout" in str(caught.value)
    assert time.monotonic() - started < 2


def test_nobody_listens() -> None:
    with pytest.raises(RemoteError, match="failed"):
        ask(f"http://127.0.0.1:{free_port()}/query")


@pytest.mark.parametrize("address", ["ftp://127.0.0.1/q", "nowhere", "http://[", "file:///etc/passwd"])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(RemoteError):
        ask(address)


def test_a_body_without_end_is_cut_off(server: MoodyServer) -> None:
    server.mood = Mood.HUGE
    with pytest.raises(RemoteError, match="more than 100000 bytes"):
        ask(server.endpoint, replace(QUICK, max_bytes=100_000))
    assert server.requests == 1


def test_the_breaker_opens_and_recovers(server: MoodyServer) -> None:
    server.mood = Mood.GARBAGE

    async def run() -> None:
        client = SparqlClient(server.endpoint, replace(QUICK, retries=0))
        for _ in range(2):
            with pytest.raises(RemoteError, match="failed"):
                await client.select("SELECT * {}")
        assert client.breaker.open
        asked = server.requests
        with pytest.raises(RemoteError, match="left alone"):
            await client.select("SELECT * {}")
        assert server.requests == asked
        server.mood = Mood.PASS
        await asyncio.sleep(0.25)
        await client.select("SELECT * {}")
        assert not client.breaker.open
        await client.close()

    asyncio.run(run())


def test_connections_are_pooled_and_bounded(server: MoodyServer) -> None:
    server.mood, server.delay = Mood.SLOW, 0.02

    async def run() -> None:
        client = SparqlClient(server.endpoint, replace(QUICK, connections=3))
        await asyncio.gather(*(client.select("SELECT * {}") for _ in range(12)))
        await client.close()

    asyncio.run(run())
    assert server.requests == 12
    assert 1 <= server.most_open <= 3


def test_stated_validity_comes_with_the_answer(server: MoodyServer) -> None:
    server.headers = {"Cache-Control": "public, max-age=60", "Age": "20"}
    assert ask(server.endpoint).valid_for == 40
    assert ask(server.endpoint, replace(QUICK, trust_headers=False)).valid_for is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_inner_addresses_are_not_asked_where_that_is_refused(server: MoodyServer, host: str) -> None:
    """The address is judged when the connection is made: a name that leads here then is refused too."""
    endpoint = server.endpoint.replace("127.0.0.1", host)
    with pytest.raises(RemoteError) as told:
        ask(endpoint, replace(QUICK, inner=False))
    assert "inner address" in f"{told.value} {told.value.detail}"
    assert server.requests == 0
    ask(endpoint)
    assert server.requests == 1


CONFIG = ServiceConfig(timeout=5.0, retries=0)


@pytest.fixture
def loop() -> Iterator[RemoteLoop]:
    running = RemoteLoop()
    yield running
    running.close()


def test_requests_are_answered_side_by_side(server: MoodyServer, loop: RemoteLoop) -> None:
    futures = [loop.submit(server.endpoint, CONFIG, "SELECT * {}") for _ in range(5)]
    assert [future.result(5).attempts for future in futures] == [1] * 5


def test_failures_are_told_by_the_future(server: MoodyServer, loop: RemoteLoop) -> None:
    server.mood = Mood.GARBAGE
    for endpoint in (server.endpoint, "http://["):
        assert isinstance(loop.submit(endpoint, CONFIG, "SELECT * {}").exception(5), RemoteError)


def test_a_loop_that_ends_gives_up_its_requests(server: MoodyServer, loop: RemoteLoop) -> None:
    server.mood = Mood.SLOW
    future = loop.submit(server.endpoint, CONFIG, "SELECT * {}")
    wait([future], 0.05)
    loop.close()
    assert future.cancelled()


def test_a_process_has_one_shared_loop() -> None:
    loop = shared_loop()
    assert isinstance(loop, RemoteLoop) and shared_loop() is loop
