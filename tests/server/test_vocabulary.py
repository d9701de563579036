"""What an editor completes, and what else a service in this process tells of streams, sinks and graphs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from server_kit import call, direct_service, until
from weir.server.service import Service
from weir.server.vocabulary import predicates_of

TNQ = {"content-type": "application/x-tnq"}
TEXT = """SELECT ?a ?n { STREAM <http://e/s> [RANGE 2s] { ?a <http://e/b> ?n }
GRAPH <http://e/g> { ?a <http://e/c> ?m } }"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "file.tnq").write_text("1000\t<http://e/x> <http://e/read> <http://e/y> .\n")
    with direct_service(folder, addresses=(str(folder),)) as running:
        running.add_stream("http://e/s", "s")
        yield running


def line(at: int, value: int) -> str:
    return f'{at}\t<http://e/x> <http://e/b> "{value}"^^<http://www.w3.org/2001/XMLSchema#integer> .'


def push(service: Service, *lines: str) -> None:
    body = "".join(f"{line}\n" for line in lines)
    assert call(service, "POST", "/api/streams/s/messages", content=body, headers=TNQ).status_code == 202


def test_predicates_of_lines_and_of_documents() -> None:
    assert list(predicates_of(b"1\t<a:s> <a:p> <a:o> .\n2\t<a:s> <a:q> <a:o> .\n", "tnq")) == ["a:p", "a:q"]
    assert list(predicates_of(b"<a:s> a <a:C> ; <a:p> 1 .", "turtle"))[1:] == ["a:p"]
    assert (list(predicates_of(b"<a:s> oh", "turtle")), list(predicates_of(b"", "tnq"))) == ([], [])


def test_predicates_were_seen_in_streams_files_graphs_and_queries(service: Service) -> None:
    source = f"{service.settings.addresses[0]}/file.tnq"
    made = call(service, "POST", "/api/streams", json={"iri": "http://e/f", "source": source})
    assert (made.status_code, made.json()["address"], made.json()["source"]) == (201, source, "files")
    turtle = {"content-type": "text/turtle"}
    graph = "<http://e/x> <http://e/c> 1, 2 ."
    call(service, "PUT", "/api/graphs/g?iri=http://e/g", content=graph, headers=turtle)
    push(service, line(1000, 1))
    call(service, "POST", "/api/queries", json={"text": TEXT, "name": "q"})
    told = call(service, "GET", "/api/vocabulary").json()
    seen = {each["iri"]: each["seen"] for each in told["predicates"]}
    assert seen["http://e/b"] == ["http://e/s", "queries"]
    assert seen["http://e/c"] == ["http://e/g", "queries"]
    assert seen["http://e/read"] == ["http://e/f"]
    assert told["prefixes"]["sosa"] == "http://www.w3.org/ns/sosa/"


def test_graphs_tell_their_sizes_after_updates(service: Service) -> None:
    def sizes() -> dict[str, int]:
        return {each["id"]: each["triples"] for each in call(service, "GET", "/api/graphs").json()["graphs"]}

    update = {"content-type": "application/sparql-update"}
    assert sizes() == {"default": 0, "g": 2}
    text = "INSERT DATA { GRAPH <http://e/g> { <http://e/y> <http://e/d> 1 } <http://e/z> <http://e/d> 1 }"
    call(service, "POST", "/api/graphs/update", content=text, headers=update)
    assert sizes() == {"default": 1, "g": 3}
    call(service, "DELETE", "/api/graphs/g")
    assert sizes()["g"] == 0


def test_an_address_that_is_not_allowed_is_refused(service: Service) -> None:
    for source in ("/etc/passwd", "mqtt://localhost/x", f"{service.settings.addresses[0]}/../../x"):
        told = call(service, "POST", "/api/streams", json={"iri": "http://e/n", "source": source})
        assert (told.status_code, "--allow" in told.json()["hint"]) == (403, True)
        assert call(service, "POST", "/api/sinks", json={"address": f"files:{source}"}).status_code == 403


def test_results_go_to_sinks_that_come_and_leave(service: Service) -> None:
    folder = f"{service.settings.addresses[0]}/out"
    address = f"files:{folder}"
    assert call(service, "POST", "/api/sinks", json={"address": address}).status_code == 201
    assert call(service, "POST", "/api/sinks", json={"address": address}).status_code == 409
    listed = call(service, "GET", "/api/sinks").json()["sinks"]
    assert listed == [{"address": address, "added": True, "failure": None}]
    text = "SELECT ?n { STREAM <http://e/s> [NOW] { ?a <http://e/b> ?n } }"
    call(service, "POST", "/api/queries", json={"text": text, "name": "now"})
    push(service, line(5000, 7), line(6000, 8))
    out = Path(folder) / "now.jsonl"
    until(lambda: out.exists() and out.read_text())
    assert json.loads(out.read_text().splitlines()[0])["bindings"]["n"]["value"] == "7"
    assert call(service, "DELETE", "/api/sinks", params={"address": address}).status_code == 204
    assert call(service, "DELETE", "/api/sinks", params={"address": address}).status_code == 404
    assert call(service, "GET", "/api/sinks").json()["sinks"] == []


def test_results_are_downloaded_as_csv_and_as_lines(service: Service) -> None:
    until(lambda: service.log.tail("now").end)
    csv = call(service, "GET", "/api/queries/now/results", headers={"accept": "text/csv"})
    assert csv.text.splitlines()[:2] == ["position,at,op,n", "0,1970-01-01T00:00:05.000Z,I,7"]
    later = call(service, "GET", "/api/queries/now/results?from=1", headers={"accept": "text/csv"})
    assert "position" not in later.text
    lines = call(service, "GET", "/api/queries/now/results", headers={"accept": "application/x-ndjson"})
    assert json.loads(lines.text.splitlines()[0])["position"] == 0


def test_queries_are_searched_sorted_and_listed_in_part(service: Service) -> None:
    def names(**asked: object) -> list[str]:
        told = call(service, "GET", "/api/queries", params=asked).json()
        return [told["total"], *(each["name"] for each in told["queries"])]

    call(service, "POST", "/api/queries/q/pause")
    assert names(search="now") == [1, "now"]
    assert names(search="e/g") == [1, "q"]
    assert names(status="paused") == [1, "q"]
    assert names(sort="name", limit=1) == [2, "now"]
    assert names(sort="since", offset=1) == [2, "q"]
    assert names(sort="results") == [2, "now", "q"]
    counts = call(service, "GET", "/api/queries", params={"limit": 0}).json()["counts"]
    assert counts == {"running": 1, "paused": 1, "failed": 0}


def test_how_long_a_push_took_to_be_evaluated(service: Service) -> None:
    push(service, line(9000, 9), line(10000, 9))
    until(lambda: call(service, "GET", "/api/queries/now").json()["latency"] is not None)
    told = call(service, "GET", "/api/queries/now").json()
    assert 0 <= told["latency"] < 60 and told["lag"] is not None


def test_every_operator_of_a_plan_has_a_live_count(service: Service) -> None:
    text = """SELECT ?a (COUNT(?n) AS ?k) { STREAM <http://e/s> [RANGE 60s STEP 1s] { ?a <http://e/b> ?n }
    OPTIONAL { ?a <http://e/c> ?m } FILTER(?n > 1) } GROUP BY ?a"""
    call(service, "POST", "/api/queries", json={"text": text, "name": "counts"})
    push(service, *(line(at * 1000, at) for at in range(20, 26)))

    def nodes() -> list[dict[str, object]]:
        return list(call(service, "GET", "/api/queries/counts/explain").json()["plan"]["nodes"])

    until(lambda: all(each["rows"] is not None for each in nodes()))
    until(lambda: all(each["rows"] for each in nodes() if each["kind"] != "static"))
    activity = call(service, "GET", "/api/queries/counts/activity").json()
    assert {"1970-01-01T00:00:21.000Z", "1970-01-01T00:00:24.000Z"} <= set(activity["ticks"])
