"""Requests made up from the OpenAPI description: whatever is sent, the server does not fail."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from server_kit import Server

pytestmark = [pytest.mark.spark, pytest.mark.network]


@schemathesis.serializer(
    "application/sparql-update",
    "application/sparql-query",
    "application/x-tnq",
    "text/tab-separated-values",
    "text/turtle",
    "application/trig",
    "application/n-triples",
    "application/n-quads",
    "application/rdf+xml",
    "application/x-ndjson",
)
def as_text(context: Any, value: Any) -> bytes:
    return str(value).encode(errors="replace")


def tried(operation: Any, base: str, examples: int = 6) -> set[int]:
    """The status codes that some requests of an operation lead to; a failure of the server is an error."""
    codes: set[int] = set()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(case=operation.as_strategy())
    def send(case: schemathesis.Case) -> None:
        answer = case.call(base_url=base, timeout=60)
        codes.add(answer.status_code)
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        if answer.status_code >= 400:
            assert answer.headers["content-type"][0] == "application/problem+json", answer.text

    send()
    return codes


def test_no_request_makes_the_server_fail(server: Server, api: httpx.Client) -> None:
    schema = schemathesis.openapi.from_dict(api.get("/openapi.json").json())
    operations = [found.ok() for found in schema.get_all_operations()]
    seen = {each.label: tried(each, server.base) for each in operations}
    assert len(seen) > 20
    assert any(code < 300 for codes in seen.values() for code in codes)
