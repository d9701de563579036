"""Results over HTTP: polls, and where a follower begins."""

from __future__ import annotations

import json
from pathlib import Path

import pyoxigraph as ox
import pytest

from server_kit import answers, call, still_service
from weir.rdf.formats.guarded_parser import rewritten
from weir.runtime.output.subscriptions import Channel, Chunk, RecentLines
from weir.server.api.result_routes import (
    BATCHES,
    EVENTS,
    batch,
    events,
    nquads,
    position_of,
    shortened,
    sparql_json,
)
from weir.server.service import Service

CHUNK = Chunk(4, 6, b'{"n":1}\n{"n":2}\n', missed=3)


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """A service with a query that has five results."""
    made = still_service(tmp_path)
    made.register("SELECT ?n { STREAM <http://e/s> [NOW] { ?a ?b ?n } }", "q", "cqels", "auto")
    made.log.write(0, [answers("q", 0, 5)])
    return made


def test_a_follower_begins_where_it_asks_to() -> None:
    lines = RecentLines(5)
    lines.append([b"{}\n"] * 8)
    channel = Channel(lines)
    assert position_of(channel, None, None, 8) == 8
    assert position_of(channel, 4, None, 8) == 4
    assert position_of(channel, 99, None, 8) == 8
    assert position_of(channel, -2, None, 8) == 6
    assert position_of(channel, -9, None, 8) == 3
    assert position_of(channel, 4, "6", 8) == 7
    assert position_of(channel, 4, "nonsense", 8) == 4


def test_a_poll_gets_a_batch_and_where_to_go_on(service: Service) -> None:
    first = call(service, "GET", "/api/queries/q/results?limit=2")
    assert [each["n"] for each in first.json()["results"]] == [0, 1]
    assert first.headers["weir-next"] == "2"
    rest = call(service, "GET", "/api/queries/q/results?from=2").json()
    assert ([each["n"] for each in rest["results"]], rest["next"]) == ([2, 3, 4], 5)
    assert call(service, "GET", "/api/queries/q/results?from=5&wait=0.01").json()["results"] == []


def test_results_in_other_syntaxes(service: Service) -> None:
    at = {"at": "1970-01-01T00:00:00.000Z", "op": "R"}
    uri = {"type": "uri", "value": "http://e/x"}
    service.log.write(1, [answers("q", 5, 1, bindings={"n": uri}, **at)])
    address = "/api/queries/q/results?from=5"
    kind = "application/sparql-results+json"
    assert json.loads(call(service, "GET", address, headers={"accept": kind}).text)["results"] == {
        "bindings": [{"n": uri}]
    }
    quads = call(service, "GET", address, headers={"accept": "application/n-quads"}).text
    assert "<http://e/x>" in quads
    assert call(service, "GET", address, headers={"accept": "image/png"}).status_code == 406


def test_results_of_no_query(service: Service) -> None:
    assert call(service, "GET", "/api/queries/other/results").status_code == 404


def test_events_have_positions_and_tell_what_was_missed() -> None:
    assert events(CHUNK) == (
        b'event: missed\ndata: {"missed":3,"next":4}\n\n'
        b'id: 4\ndata: {"n":1,"position":4}\n\n'
        b'id: 5\ndata: {"n":2,"position":5}\n\n'
    )
    assert EVENTS.first(7) == b"retry: 1000\n: from 7\n\n"


def test_a_batch_tells_where_to_go_on() -> None:
    assert json.loads(batch(CHUNK)) == {
        "results": [{"n": 1, "position": 4}, {"n": 2, "position": 5}],
        "next": 6,
        "missed": 3,
    }
    assert json.loads(BATCHES.silent(6)) == {"results": [], "next": 6, "missed": 0}
    assert shortened(CHUNK, 1) == Chunk(4, 5, b'{"n":1}\n', missed=3)


def test_sparql_results_have_their_times_beside_them() -> None:
    row = {"at": "t", "op": "R", "position": 1, "bindings": {"a": {"type": "uri", "value": "http://e/a"}}}
    made = sparql_json([row], ["a"])
    assert made["results"]["bindings"] == [row["bindings"]]
    assert made["weir"] == [{"at": "t", "op": "R", "position": 1}]
    assert sparql_json([{"boolean": True, "at": "t"}], [])["boolean"] is True


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
    assert len(json.loads(rewritten(nquads(lines), ox.RdfFormat.N_QUADS, "application/ld+json"))) >= 2
