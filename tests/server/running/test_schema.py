"""Requests made up from the OpenAPI description: whatever is sent, the server does not fail."""

from __future__ import annotations

import random
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.stateful import run_state_machine_as_test

from fuzz_child import mutated
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
    """RDF, queries and updates, mutated: by what was made up for the body, so that it is made again."""
    return mutated(random.Random(repr(value)))[:150_000]


CALM = settings(
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)


def tried(operation: Any, base: str, examples: int = 6) -> set[int]:
    """The status codes that some requests of an operation lead to; a failure of the server is an error."""
    codes: set[int] = set()

    @settings(CALM, max_examples=examples)
    @given(case=operation.as_strategy())
    def send(case: schemathesis.Case) -> None:
        codes.add(judged(case.call(base_url=base, timeout=60), case))

    send()
    return codes


def judged(answer: Any, case: schemathesis.Case) -> int:
    """The status of an answer, which is no failure of the server and tells of others as it should."""
    status: int = answer.status_code
    assert status < 500, (case.as_curl_command(), answer.text)
    if status >= 400:
        assert answer.headers["content-type"][0] == "application/problem+json", answer.text
    return status


def test_no_request_makes_the_server_fail(server: Server, api: httpx.Client) -> None:
    schema = schemathesis.openapi.from_dict(api.get("/openapi.json").json())
    operations = [found.ok() for found in schema.get_all_operations()]
    seen = {each.label: tried(each, server.base) for each in operations}
    assert len(seen) > 20
    assert any(code < 300 for codes in seen.values() for code in codes)


def test_no_sequence_of_requests_makes_the_server_fail(server: Server, api: httpx.Client) -> None:
    """What one request made (a stream, a query) is what the next ones are about."""
    schema = schemathesis.openapi.from_url(f"{server.base}/openapi.json")
    codes: list[int] = []

    class Visitor(schema.as_state_machine()):  # type: ignore[misc]
        def validate_response(self, response: Any, case: schemathesis.Case, **_: Any) -> None:
            codes.append(judged(response, case))

    run_state_machine_as_test(Visitor, settings=settings(CALM, max_examples=8, stateful_step_count=10))
    assert len(codes) > 20 and any(code < 300 for code in codes)
    assert api.get("/health").status_code == 200
