"""Static graphs over HTTP; what needs no graphs. The rest runs against a real job."""

from __future__ import annotations

from pathlib import Path

import pytest

from server_kit import call, still_service
from weir.server.api.graph_routes import moment


def test_the_default_graph_is_always_there(tmp_path: Path) -> None:
    assert call(still_service(tmp_path), "GET", "/api/graphs").json() == {
        "graphs": [{"id": "default", "iri": None, "triples": 0}]
    }


@pytest.mark.parametrize(
    ("method", "path", "media_type", "body", "status"),
    [
        ("POST", "/api/graphs/update", "text/plain", b"INSERT DATA {}", 415),
        ("POST", "/api/graphs/update", "application/sparql-update", b"\xff", 422),
        ("POST", "/api/graphs/g", "image/png", b"x", 415),
        ("POST", "/api/graphs/g", "application/json", b'{"url": "http://elsewhere.org/g.ttl"}', 403),
        ("PUT", "/api/graphs/g", "application/json", b'{"link": "http://e/"}', 422),
        ("POST", "/api/graphs/g", "application/json", b"[" * 10_000, 422),
        ("POST", "/api/graphs/g", "application/json", b'{"url": "\\ud800"}', 422),
        ("DELETE", "/api/graphs/g", "text/turtle", b"", 404),
        ("POST", "/sparql", "text/turtle", b"ASK {}", 415),
        ("POST", "/sparql", "application/x-www-form-urlencoded", b"quary=ASK", 400),
        ("POST", "/sparql", "application/sparql-query", b"ASK {", 422),
        ("POST", "/sparql", "application/sparql-query", b"ASK { SERVICE <http://e/> {} }", 403),
    ],
)
def test_what_cannot_be_done_is_a_problem(
    method: str, path: str, media_type: str, body: bytes, status: int, tmp_path: Path
) -> None:
    answer = call(still_service(tmp_path), method, path, content=body, headers={"content-type": media_type})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_moment_is_milliseconds_or_a_text() -> None:
    assert moment(None) is None
    assert moment("1000") == 1_000_000
    assert moment("2001-01-01T00:00:00Z") == "2001-01-01T00:00:00Z"
