"""The service end to end: a real server, real Spark, everything over HTTP."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

import weir
from server_kit import Server, Subscriber, until

pytestmark = [pytest.mark.spark, pytest.mark.network]

LV = "http://deri.org/floorplan/"
DIALECTS = {
    "rspql": (
        "REGISTER RSTREAM <counts> AS SELECT ?room (COUNT(*) AS ?n) "
        "FROM NAMED WINDOW <w> ON <http://e/doors> [RANGE PT2S STEP PT1S] "
        "WHERE { WINDOW <w> { ?who <http://e/in> ?room } } GROUP BY ?room"
    ),
    "cqels": "SELECT ?who ?room WHERE { STREAM <http://e/doors> [NOW] { ?who <http://e/in> ?room } }",
    "csparql": (
        "REGISTER QUERY seen AS SELECT ?who FROM STREAM <http://e/doors> [RANGE 2s STEP 1s] "
        "WHERE { ?who <http://e/in> ?room }"
    ),
    "sparqlstream": (
        "CONSTRUCT ISTREAM { ?room <http://e/has> ?who } FROM NAMED STREAM <http://e/doors> "
        "[NOW - 2 S SLIDE 1 S] WHERE { ?who <http://e/in> ?room }"
    ),
}


def line(at: int, who: str, room: str) -> str:
    return f"{at}\t<http://e/{who}> <http://e/in> <http://e/{room}> .\n"


@pytest.fixture(scope="module")
def ids(api: httpx.Client) -> dict[str, str]:
    """A stream, and a query in each dialect."""
    made = api.post("/api/streams", json={"iri": "http://e/doors", "id": "doors"})
    assert made.status_code == 201, made.text
    assert made.headers["location"] == "/api/streams/doors"
    found = {}
    for dialect, text in DIALECTS.items():
        made = api.post("/api/queries", json={"text": text, "dialect": dialect, "name": dialect})
        assert made.status_code == 201, made.text
        found[dialect] = made.json()["id"]
    body = "".join(line(1_000_000 + 500 * n, f"p{n}", f"r{n % 2}") for n in range(9))
    pushed = api.post(
        "/api/streams/doors/messages", content=body, headers={"content-type": "application/x-tnq"}
    )
    assert (pushed.status_code, pushed.json()) == (202, {"accepted": 9, "rejected": []})
    until(lambda: all(query(api, id)["position"] for id in found.values()), 120)
    return found


def query(api: httpx.Client, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/queries/{id}").json()
    return found


def results(api: httpx.Client, id: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/queries/{id}/results", params=options).json()
    return found


def test_a_query_of_each_dialect_answers(api: httpx.Client, ids: dict[str, str]) -> None:
    assert ids == {"rspql": "counts", "cqels": "cqels", "csparql": "seen", "sparqlstream": "sparqlstream"}
    first = results(api, "counts", limit=2)
    assert first["next"] == 2
    assert [each["at"] for each in first["results"]] == ["1970-01-01T00:16:41.000Z"] * 2
    assert [each["bindings"]["n"]["value"] for each in first["results"]] == ["1", "1"]
    assert results(api, "cqels")["results"][0]["op"] == "I"
    assert results(api, "sparqlstream")["results"][0]["triples"][0].endswith(" .")
    listed = {each["id"]: each for each in api.get("/api/queries").json()["queries"]}
    assert (listed["counts"]["form"], listed["counts"]["numeric"]) == ("SELECT", ["n"])
    assert listed["sparqlstream"]["form"] == "CONSTRUCT"
    assert {each["dialect"] for each in listed.values()} >= set(DIALECTS)


def test_results_in_other_syntaxes(api: httpx.Client, ids: dict[str, str]) -> None:
    address = "/api/queries/counts/results?limit=2"
    table = api.get(address, headers={"accept": "application/sparql-results+json"})
    assert table.json()["head"]["vars"] == ["room", "n"]
    assert len(table.json()["results"]["bindings"]) == 2
    assert table.headers["weir-next"] == "2"
    quads = api.get(address, headers={"accept": "application/n-quads"}).text
    assert quads.count("<urn:weir:column:n>") == 2
    assert "generatedAtTime" in quads
    linked = api.get(address, headers={"accept": "application/ld+json"}).json()
    assert any("@graph" in each for each in linked)
    assert api.get(address, headers={"accept": "image/png"}).status_code == 406


def test_a_poll_waits_for_what_comes(api: httpx.Client, ids: dict[str, str]) -> None:
    end = query(api, "cqels")["position"]
    began = time.monotonic()
    assert results(api, "cqels", **{"from": end, "wait": 0.3}) == {"results": [], "next": end, "missed": 0}
    assert 0.25 < time.monotonic() - began < 30
    body = line(2_000_000, "late", "r9") + line(2_001_000, "x", "r9")
    threading.Timer(0.2, lambda: push(api, body)).start()
    found = results(api, "cqels", **{"from": end, "wait": 60})
    assert found["results"][0]["position"] == end
    assert "http://e/late" in [each["bindings"]["who"]["value"] for each in found["results"]]


def push(api: httpx.Client, body: str, kind: str = "application/x-tnq", **options: str) -> httpx.Response:
    return api.post(
        "/api/streams/doors/messages", content=body, headers={"content-type": kind}, params=options
    )


def test_events_and_sockets_give_the_same_from_any_position(
    server: Server, api: httpx.Client, ids: dict[str, str]
) -> None:
    expected = results(api, "counts", limit=10_000)["results"]
    assert len(expected) > 5
    with (
        Subscriber(server.base, "counts", start=0) as all_of_it,
        Subscriber(server.base, "counts", last=3) as part,
    ):
        until(lambda: len(all_of_it.seen) >= len(expected) and len(part.seen) >= len(expected) - 4)
        assert [each["position"] for each in all_of_it.seen][: len(expected)] == list(range(len(expected)))
        assert all_of_it.seen[: len(expected)] == expected
        assert part.seen[0]["position"] == 4
    address = server.base.replace("http", "ws") + "/api/queries/counts/results/ws?from=2"
    with connect(address) as socket:
        told = json.loads(socket.recv(timeout=30))
    assert told["results"][0] == expected[2]
    assert told["missed"] == 0


def test_messages_in_any_format(api: httpx.Client, ids: dict[str, str]) -> None:
    before = query(api, "cqels")["position"]
    at = "1970-01-01T01:00:0"
    bodies = {
        "text/turtle": "<http://e/a> <http://e/in> <http://e/t> .",
        "application/n-triples": "<http://e/b> <http://e/in> <http://e/t> .\n",
        "application/trig": "GRAPH <http://e/g> { <http://e/c> <http://e/in> <http://e/t> }",
        "application/ld+json": '{"@id": "http://e/d", "http://e/in": {"@id": "http://e/t"}}',
        "application/rdf+xml": (
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
            '<rdf:Description rdf:about="http://e/f"><e:in rdf:resource="http://e/t"/></rdf:Description></rdf:RDF>'
        ),
    }
    for second, (kind, body) in enumerate(bodies.items()):
        answer = push(api, body, kind, time=f"{at}{second}Z")
        assert (answer.status_code, answer.json()["accepted"]) == (202, 1), answer.text
    push(api, "3700000\t\n")

    def seen() -> str:
        found = results(api, "cqels", **{"from": before})["results"]
        return "".join(each["bindings"]["who"]["value"][-1] for each in found)

    until(lambda: seen().endswith("abcdf"), 60)


@pytest.mark.parametrize(
    ("body", "kind", "status", "words"),
    [
        ("1\tnonsense\n", "application/x-tnq", 422, "no line was good"),
        ("<a> <b", "text/turtle", 422, ""),
        ("x", "image/png", 415, "unknown type"),
        ("1\t<http://e/a> <http://e/b> <http://e/c> .\n" * 6000, "application/x-tnq", 413, "too long"),
    ],
)
def test_bad_messages_are_problems(
    api: httpx.Client, ids: dict[str, str], body: str, kind: str, status: int, words: str
) -> None:
    answer = push(api, body, kind)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.text


def test_of_good_and_bad_lines_the_good_are_taken(api: httpx.Client, ids: dict[str, str]) -> None:
    answer = push(api, "4000000\t<http://e/a> <http://e/b> <http://e/c> .\n4000001\tbad\nworse\n")
    assert answer.status_code == 202
    told = answer.json()
    assert told["accepted"] == 1
    assert [each["line"] for each in told["rejected"]] == [2, 3]


def test_syntax_errors_have_a_place(api: httpx.Client) -> None:
    for path in ("/api/queries", "/api/parse"):
        answer = api.post(path, json={"text": "SELECT ?x\nWHERE { ?x <p }"})
        assert answer.status_code == 422
        told = answer.json()
        assert (told["line"], told["status"]) == (2, 422)
        assert told["column"] > 1 and told["length"] >= 1
    good = api.post("/api/parse", json={"text": DIALECTS["cqels"]}).json()
    assert (good["ok"], good["dialect"], good["windows"][0]["kind"]) == (True, "cqels", "now")
    other = api.post("/api/translate", json={"text": DIALECTS["cqels"], "to": "rspql"})
    assert "FROM NAMED WINDOW" in other.json()["text"]
    lacking = api.post("/api/translate", json={"text": DIALECTS["cqels"], "to": "csparql"})
    assert lacking.status_code == 422


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("SELECT * { ?s ?p ?o }", 422, "no window"),
        (DIALECTS["csparql"].replace("seen", "x").replace("2s", "2h"), 422, "longer than"),
        (DIALECTS["cqels"].replace("doors", "nowhere"), 422, "nowhere"),
        (DIALECTS["rspql"], 409, "counts"),
        (
            DIALECTS["cqels"].replace("} }", "} SERVICE <http://10.0.0.1/sparql> { ?who ?p ?o } }"),
            403,
            "10.0.0.1",
        ),
    ],
)
def test_queries_that_are_refused(
    api: httpx.Client, ids: dict[str, str], text: str, status: int, words: str
) -> None:
    answer = api.post("/api/queries", json={"text": text})
    assert answer.status_code == status, answer.text
    assert words in answer.text


def test_graphs_are_loaded_updated_and_asked(api: httpx.Client) -> None:
    turtle = {"content-type": "text/turtle"}
    assert api.put(
        "/api/graphs/default", content="<http://e/a> <http://e/p> 1, 2 .", headers=turtle
    ).is_success
    assert api.put(
        "/api/graphs/default", content="<http://e/a> <http://e/p> 2, 3 .", headers=turtle
    ).is_success
    assert api.post(
        "/api/graphs/people?iri=http://e/people", content="<http://e/b> a 4 .", headers=turtle
    ).is_success
    update = "DELETE DATA { <http://e/a> <http://e/p> 2 } ; INSERT DATA { <http://e/a> <http://e/p> 5 }"
    kind = {"content-type": "application/sparql-update"}
    assert api.post("/api/graphs/update", content=update, headers=kind).json()["update"] > 0
    text = "SELECT ?o { <http://e/a> <http://e/p> ?o } ORDER BY ?o"
    table = api.get("/sparql", params={"query": text}, headers={"accept": "text/csv"})
    assert table.text.split() == ["o", "3", "5"]
    form = api.post("/sparql", data={"query": "ASK { GRAPH <http://e/people> { ?s ?p 4 } }"})
    assert form.json()["boolean"] is True
    construct = "CONSTRUCT { ?s ?p ?o } FROM <http://e/people> { ?s ?p ?o }"
    made = api.post(
        "/sparql",
        content=construct,
        headers={"content-type": "application/sparql-query", "accept": "application/n-triples"},
    )
    assert made.text.startswith("<http://e/b>")
    named = api.get(
        "/sparql", params={"query": "SELECT * { ?s ?p ?o }", "default-graph-uri": "http://e/people"}
    )
    assert len(named.json()["results"]["bindings"]) == 1
    building = api.put("/api/graphs/building", content="<http://e/c> a 5 .", headers=turtle)
    assert building.status_code == 200
    named = {each["id"]: each["iri"] for each in api.get("/api/graphs").json()["graphs"]}
    assert named["default"] is None and named["people"] == "http://e/people"
    assert named["building"] == "urn:weir:graph:building"
    again = api.put("/api/graphs/other?iri=http://e/people", content="", headers=turtle)
    assert (again.status_code, "'people'" in again.text) == (409, True)
    assert api.delete("/api/graphs/people-9").status_code == 404
    assert api.get("/sparql", params={"query": "SELECT * {"}).json()["line"] == 1
    bad = api.put("/api/graphs/default", content="<a> <b", headers=turtle)
    assert bad.status_code == 422


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "http://localhost:9/x", "file:///etc/passwd"]
)
def test_graphs_come_from_allowed_hosts_only(api: httpx.Client, url: str) -> None:
    answer = api.put("/api/graphs/fetched", json={"url": url})
    assert answer.status_code in (403, 422)
    assert "allow" in answer.text or "address" in answer.text


def test_queries_are_paused_resumed_published_and_dropped(api: httpx.Client, ids: dict[str, str]) -> None:
    text = DIALECTS["cqels"].replace("?who ?room WHERE", "?who WHERE")
    assert api.post("/api/queries", json={"text": text, "name": "passing"}).status_code == 201
    assert api.post("/api/queries/passing/pause").json()["paused"] is True
    assert api.post("/api/queries/passing/resume").json()["paused"] is False
    published = api.put("/api/queries/passing/fragments", json={"lifetime": 60})
    assert published.json()["dataset"] == "/fragments/passing"
    page = api.get("/fragments/passing", headers={"accept": "text/turtle"})
    assert page.status_code == 200 and '"implicitgraphs/expiration"' in page.text
    shown = {"annotation": "reification", "labeling": "interval"}
    assert api.put("/api/queries/passing/fragments", json=shown).status_code == 200
    page = api.get("/fragments/passing", headers={"accept": "text/turtle"})
    assert '"reification/interval"' in page.text
    assert api.put("/api/queries/passing/fragments", json={"annotation": "none"}).status_code == 422
    assert api.delete("/api/queries/passing/fragments").status_code == 204
    assert api.delete("/api/queries/passing").status_code == 204
    assert api.get("/api/queries/passing").status_code == 404
    assert api.delete("/api/streams/doors").status_code == 409


def test_published_results_are_followed(server: Server, api: httpx.Client) -> None:
    """What a query answers on Spark reaches a client of its fragments."""
    assert api.post("/api/streams", json={"iri": "http://e/gates", "id": "gates"}).status_code == 201
    text = "SELECT ?who WHERE { STREAM <http://e/gates> [NOW] { ?who <http://e/in> ?room } }"
    assert api.post("/api/queries", json={"text": text, "name": "arrivals"}).status_code == 201
    shown = {"lifetime": 600, "labeling": "interval"}
    assert api.put("/api/queries/arrivals/fragments", json=shown).status_code == 200
    body = "".join(line(2_000_000 + 500 * n, f"p{n}", "r") for n in range(4))
    tnq = {"content-type": "application/x-tnq"}
    assert api.post("/api/streams/gates/messages", content=body, headers=tnq).status_code == 202
    page = "/fragments/arrivals"
    until(lambda: "http://e/p1" in api.get(page, headers={"accept": "text/turtle"}).text, 120)
    asked = "SELECT ?who { ?row <urn:weir:arrivals:result:who> ?who }"
    update = next(iter(weir.follow(asked, f"{server.base}{page}")))
    assert {"http://e/p0", "http://e/p1"} <= {row["who"].value for row in update.added}
    assert api.delete("/api/queries/arrivals").status_code == 204
    assert api.delete("/api/streams/gates").status_code == 204


def test_streams_are_described(api: httpx.Client, ids: dict[str, str]) -> None:
    text = api.get("/api/streams/doors", headers={"accept": "text/turtle"}).text
    assert "vocals:StreamDescriptor" in text and "dcat:accessURL" in text
    linked = api.get("/api/streams", headers={"accept": "application/ld+json"}).json()
    assert any(each["@id"] == "http://e/doors" for each in linked)
    told = api.get("/api/streams/doors").json()
    assert told["messages"] >= 9
    assert told["source"] == "log"


def test_plan_activity_and_metrics(api: httpx.Client, ids: dict[str, str]) -> None:
    explained = api.get("/api/queries/counts/explain").json()
    assert "== algebra ==" in explained["text"]
    kinds = {node["kind"] for node in explained["plan"]["nodes"]}
    assert {"window", "group", "output"} <= kinds
    known = {node["id"] for node in explained["plan"]["nodes"]}
    assert {end for edge in explained["plan"]["edges"] for end in edge} <= known
    assert explained["windows"][0] | {"report": ""} == {
        "name": "w", "stream": "http://e/doors", "kind": "range", "width": 2000.0, "step": 1000.0,
        "report": "", "text": "RANGE PT2S STEP PT1S",
    }  # fmt: skip
    activity = api.get("/api/queries/counts/activity").json()
    assert activity["windows"][0]["messages"]
    assert activity["ticks"]
    assert {each["id"] for each in activity["operators"]} == known
    told = api.get("/api/metrics").json()
    assert told["accepted"]["http://e/doors"] >= 9
    text = api.get("/metrics").text
    assert 'weir_stream_messages_total{stream="http://e/doors"}' in text
    assert api.get("/api/services").json() == {"services": []}
    assert "/api/queries/{id}/results" in api.get("/docs").text
    assert api.get("/").status_code == 200
    titles = [each["title"] for each in api.get("/api/examples").json()["examples"]]
    assert len(titles) >= 4


def test_other_pages_and_other_names_are_turned_away(server: Server, api: httpx.Client) -> None:
    foreign = api.post("/api/parse", json={"text": "ASK {}"}, headers={"origin": "http://evil.example"})
    assert foreign.status_code == 403
    rebound = api.get("/api/streams", headers={"host": "evil.example"})
    assert rebound.status_code == 403
    assert (
        "access-control-allow-origin" not in api.get("/api/streams", headers={"origin": "http://x"}).headers
    )


def test_what_is_large_stays_where_it_is_until_it_is_read(
    server: Server, api: httpx.Client, ids: dict[str, str]
) -> None:
    text = (
        "REGISTER RSTREAM <large> AS SELECT ?who ?text FROM NAMED WINDOW <w> ON <http://e/doors> "
        "[RANGE PT1S STEP PT1S] WHERE { WINDOW <w> { ?who <http://e/in> <http://e/hall> } "
        f'BIND("{"x" * 600}" AS ?text) }}'
    )
    assert api.post("/api/queries", json={"text": text}).status_code == 201
    try:
        people = [f"v{number}" for number in range(2000)]
        body = "".join(line(5_000_100, who, "hall") for who in people) + line(5_002_000, "x", "hall")
        assert push(api, body).status_code == 202
        until(lambda: query(api, "large")["position"] == len(people), 120)
        folder = server.folder / "data" / "results" / "large"
        assert {path.suffix for path in folder.iterdir()} == {".part"}
        with Subscriber(server.base, "large", start=0) as subscriber:
            until(lambda: len(subscriber.seen) >= len(people))
        assert {path.suffix for path in folder.iterdir()} == {".jsonl"}
        seen = [each["bindings"]["who"]["value"] for each in subscriber.seen]
        assert seen == sorted(f"http://e/{who}" for who in people)
    finally:
        api.delete("/api/queries/large")
