"""The parts of the service that need no job: access, limits, checks of messages, negotiation, addresses."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import Headers

import weir
from weir.errors import UsageError
from weir.runtime.ingest.sources.feeds import Place
from weir.runtime.ingest.sources.log_source import LogSource
from weir.server.activity import bounds_of, ticks_of
from weir.server.api.access import Access, Token, is_loopback
from weir.server.api.application import application
from weir.server.api.result_formats import jsonld, nquads
from weir.server.api.status_routes import prometheus_text, read_examples
from weir.server.api.stream_catalog import document
from weir.server.drawing import counted, plan_graph, windows_of
from weir.server.limits import Limits, Rates, check_query
from weir.server.problems import Problem
from weir.server.pushed_streams import Inflow, check_lines
from weir.server.resource_ids import is_id, slug
from weir.server.service import Service
from weir.server.settings import Settings, read_settings

READ, ADMIN = "r" * 20, "a" * 20
TOKENS = (Token(READ, "read", "reader"), Token(ADMIN, "admin", "chief"))


def test_without_tokens_only_this_machine_is_served() -> None:
    with pytest.raises(UsageError, match="open to everybody"):
        Access(host="0.0.0.0")
    Access(TOKENS, host="0.0.0.0")
    access = Access()
    assert access.admit("GET", Headers({"host": "localhost:8080"})) is None
    assert access.admit("GET", Headers({"host": "[::1]:8080"})) is None
    with pytest.raises(Problem, match="own machine"):
        access.admit("GET", Headers({"host": "weir.example"}))
    with pytest.raises(Problem, match="another page"):
        access.admit("POST", Headers({"host": "localhost", "origin": "http://evil.example"}))
    access.admit("POST", Headers({"host": "localhost:1", "origin": "http://localhost:1"}))
    assert not is_loopback("127.0.0.1.evil.example")


def test_tokens_have_scopes(tmp_path: Path) -> None:
    asyncio.run(scopes(tmp_path))


async def scopes(tmp_path: Path) -> None:
    service = Service(
        Settings(host="0.0.0.0", data=tmp_path / "d", tokens=TOKENS, limits=Limits(burst=40, requests=0.001))
    )
    transport = httpx.ASGITransport(application(service))
    client = httpx.AsyncClient(transport=transport, base_url="http://weir.example")
    assert (await client.get("/api/streams")).status_code == 401
    assert (await client.get("/api/streams")).headers["www-authenticate"] == "Bearer"
    wrong = await client.get("/api/streams", headers={"authorization": "Bearer nonsense"})
    assert (wrong.status_code, wrong.headers["content-type"]) == (401, "application/problem+json")
    reader = {"authorization": f"Bearer {READ}"}
    assert (await client.post("/api/streams", json={"iri": "http://e/s"}, headers=reader)).status_code == 403
    assert (await client.post("/api/parse", json={"text": "ASK {}"}, headers=reader)).status_code == 200
    starting = await client.get("/api/streams", headers=reader)
    assert (starting.status_code, starting.json()["title"]) == (503, "the service is starting")
    assert (await client.get("/")).status_code == 200
    assert (await client.get(f"/api/streams?access_token={READ}")).status_code == 401
    assert (await client.get(f"/api/queries/q/results?access_token={READ}")).status_code == 503
    invalid = await client.post(
        "/api/streams", json={"iri": "no iri"}, headers={"authorization": f"Bearer {ADMIN}"}
    )
    assert (invalid.status_code, invalid.json()["errors"][0]["place"]) == (422, "body/iri")
    assert (await client.get("/nowhere", headers=reader)).headers[
        "content-type"
    ] == "application/problem+json"
    codes = [(await client.get("/api/streams", headers=reader)).status_code for _ in range(60)]
    assert codes[-1] == 429
    large = await client.post(
        "/api/parse", content=b"x" * (40 << 20), headers={"authorization": f"Bearer {ADMIN}"}
    )
    assert large.status_code == 413


def test_settings_come_from_a_file_and_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "weir.toml"
    path.write_text(
        f'port = 9000\n[limits]\nqueries = 3\n[[tokens]]\ntoken = "{READ}"\n[allow]\nhosts = ["e.org"]\n'
        '[services."http://e.org/sparql"]\nbudget = 3\n'
    )
    settings = read_settings(path, port=None, host="127.0.0.2")
    assert (settings.port, settings.host, settings.limits.queries) == (9000, "127.0.0.2", 3)
    assert settings.tokens[0].scope == "read"
    for text, words in (
        ("ports = 1", "unknown setting"),
        ("[limits]\nbody = 'x'", "is a number"),
        ("[[tokens]]\ntoken = 'short'", "shorter than 16"),
        ("port = ", "cannot read"),
        ("port = 'x'", "is a int"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=words):
            read_settings(path)


def test_rates_are_a_bucket() -> None:
    now = [0.0]
    rates = Rates(2, 3, lambda: now[0])
    assert [rates.take("a") for _ in range(3)] == [0, 0, 0]
    assert rates.take("a") == pytest.approx(0.5)
    assert rates.take("b") == 0
    now[0] = 0.5
    assert rates.take("a") == 0


@pytest.mark.parametrize(
    ("window", "words"),
    [("RANGE 3h", "longer than"), ("TRIPLES 20000000", "counts more"), ("ALL", "for ever")],
)
def test_windows_have_limits(window: str, words: str) -> None:
    query = weir.parse(f"SELECT * {{ STREAM <http://e/s> [{window}] {{ ?a ?b ?c }} }}")
    with pytest.raises(UsageError, match=words):
        check_query(query, Limits(window=3600, unbounded=False))


def test_stream_lines_are_checked_one_by_one_where_one_is_bad() -> None:
    good = b'1000\t<http://e/a> <http://e/b> "c" .\n1000\t<http://e/a> <http://e/b> "d" .\n2000\t\n'
    checked = check_lines(good)
    assert checked.messages == [(1_000_000, 2), (2_000_000, 0)]
    assert checked.data == good
    mixed = b"# note\n\n" + good.replace(b"2000", b"2001-01-01T00:00:00Z") + b"x\n5\tbad\nno\t<a>\n"
    found = check_lines(mixed)
    assert [each.line for each in found.rejected] == [6, 7, 8]
    assert found.messages[1] == (978_307_200_000_000, 0)
    assert found.data.count(b"\n") == 3
    assert check_lines(b"").messages == []


def test_a_live_stream_gets_heartbeats_and_a_replayed_one_does_not(tmp_path: Path) -> None:
    from_log = LogSource(folder=str(tmp_path))
    now = [1_000_000.0]
    with from_log.writer(Place("s", tmp_path, "s")) as writer:
        flow = Inflow(writer, clock=lambda: now[0])
        future, _ = flow.push(b"1000\t<http://e/a> <http://e/b> <http://e/c> .\n", "application/x-tnq")
        assert future is not None and future.result(30) >= 0
        size = writer.reached
        now[0] += 2
        flow.beat()
        assert writer.reached == size
        body = b"%d\t<http://e/a> <http://e/b> <http://e/c> .\n" % (now[0] * 1000)
        flow.push(body, "application/x-tnq")[0].result(30)  # type: ignore[union-attr]
        size = writer.reached
        now[0] += 2
        flow.beat()
        writer.append(b"", format="tnq")
        assert writer.reached > size
        assert flow.rate > 0
        refused = flow.push(b"<a> <b", "text/turtle")
        assert refused[0] is None and refused[1].rejected


def test_ids_are_safe_and_stable() -> None:
    assert slug("query1") == "query1"
    assert slug("http://e/streams/rfid") == slug("http://e/streams/rfid") != slug("http://f/streams/rfid")
    for name in ("http://e/ü?x=1#", "a b", "../../etc", "", ".", "x" * 200):
        assert is_id(slug(name)), slug(name)


def test_shape_of_a_query() -> None:
    query = weir.parse(
        "SELECT ?a (COUNT(*) AS ?n) (MAX(?c) AS ?m) FROM NAMED WINDOW <w> ON <http://e/s> "
        "[RANGE PT10S STEP PT2S] { WINDOW <w> { ?a ?b ?c } } GROUP BY ?a"
    )
    assert counted(query) == ["n"]
    graph = plan_graph(query, ["http://e/s"])
    assert graph["edges"][-1][1] == "out"
    assert windows_of(query)[0]["step"] == 2000.0
    (window,) = query.dataset.windows
    second = 1_000_000
    assert bounds_of(window, 7 * second) == (-2 * second, 8 * second)
    assert bounds_of(window, 8 * second) == (0, 10 * second)
    assert sorted(ticks_of(window, 7 * second, [1 * second]))[-2:] == [4 * second, 6 * second]


def test_results_as_quads_keep_their_times() -> None:
    lines = [
        {"query": "q x", "at": "1970-01-01T00:00:01.000Z", "op": "R", "position": 4,
         "bindings": {"a": {"type": "literal", "value": "x\n", "xml:lang": "en"},
                      "b": {"type": "bnode", "value": "z"}}},
        {"query": "q x", "at": "1970-01-01T00:00:01.000Z", "op": "R", "position": 5,
         "triples": ["<http://e/a> <http://e/b> \"1\" ."]},
        {"query": "q x", "at": "1970-01-01T00:00:02.000Z", "op": "R", "position": 6, "boolean": True},
    ]  # fmt: skip
    text = nquads(lines).decode()
    assert text.count("generatedAtTime") == 2
    assert len(text.splitlines()) == 2 + 2 + 1 + 1
    assert len(json.loads(jsonld(lines))) >= 2


def test_examples_parse_in_their_dialects() -> None:
    for example in read_examples():
        query = weir.parse(example["text"], dialect=example["dialect"])
        assert list(query.streams) == example["streams"]
        assert not check_lines(example["sample"].encode()).rejected


def test_prometheus_text_and_descriptions() -> None:
    told = {
        "batches": 3, "streams": {'a"b': {"messages": 4}}, "accepted": {}, "backlog": {},
        "queries": {"q": {"results": 1, "routes": {}}},
    }  # fmt: skip
    text = prometheus_text(told)
    assert 'weir_stream_messages_total{stream="a\\"b"} 4' in text
    assert "weir_query_results_total" in text
    triple = [("<http://e/a>", "<http://e/b>", "<http://e/c>")]
    assert b"http://e/c" in document(triple, "application/rdf+xml")
