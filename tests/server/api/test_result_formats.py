"""Results as they go out."""

from __future__ import annotations

import json

from weir.runtime.output.subscriptions import Chunk
from weir.server.api.result_formats import (
    BATCHES,
    EVENTS,
    batch,
    events,
    jsonld,
    nquads,
    shortened,
    sparql_json,
)

CHUNK = Chunk(4, 6, b'{"n":1}\n{"n":2}\n', missed=3)


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
    assert len(json.loads(jsonld(lines))) >= 2
