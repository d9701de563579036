"""Results over HTTP: polls, and where a follower begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from server_kit import answers, call, still_service
from weir.runtime.output.subscriptions import Channel, RecentLines
from weir.server.api.result_routes import position_of
from weir.server.service import Service


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
