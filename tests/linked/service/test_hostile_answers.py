"""An endpoint whose answers are well-formed JSON and no good: each is a failed call, none becomes a term."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service_servers import moody
from weir.language.algebra.patterns import BGP, Service, TriplePattern
from weir.linked.service.config import SECOND, ServiceConfig
from weir.linked.service.endpoint import RemoteLoop
from weir.linked.service.resolver import ServiceResolver
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, RDF_LANGSTRING, XSD, Variable

pytestmark = pytest.mark.network

USER = "http://e/u"
INJECTED = "http://e/a> <http://e/p> <http://e/o> .\n<http://e/evil"


def answer(value: dict[str, Any]) -> bytes:
    row = {"u": {"type": "uri", "value": USER}, "n": value}
    return json.dumps({"head": {"vars": ["u", "n"]}, "results": {"bindings": [row]}}).encode()


def literal(value: str, **parts: str) -> dict[str, Any]:
    return {"type": "literal", "value": value, **parts}


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = literal("x")
    for _ in range(depth):
        parts = {place: {"type": "uri", "value": USER} for place in ("subject", "predicate")}
        inner = {"type": "triple", "value": {**parts, "object": inner}}
    return inner


def asked(body: bytes, headers: dict[str, str] | None = None, **settings: Any) -> tuple[list[str], int]:
    """The texts that the answer gave for ``?n``, and how many calls failed."""
    loop = RemoteLoop()
    try:
        with moody() as server:
            server.body, server.headers = body, headers or {}
            config = ServiceConfig(retries=0, deadline=30.0, timeout=30.0, **settings)
            dictionary = Dictionary()
            resolver = ServiceResolver(dictionary, {server.endpoint: config}, loop=loop)
            pattern = BGP((TriplePattern(Variable("u"), IRI("http://e/p"), Variable("n")),))
            call = resolver.call("q", Service(IRI(server.endpoint), pattern), ("u",), width=SECOND)
            rows = call.rows({"u": dictionary.encode_terms([IRI(USER)])}, 1, SECOND)
            return list(dictionary.texts(rows.columns["n"])), rows.freshness.failed
    finally:
        loop.close()


@pytest.mark.parametrize(
    "value",
    [
        {"type": "uri", "value": INJECTED},
        {"type": "uri", "value": "relative"},
        {"type": "uri", "value": ""},
        {"type": "uri", "value": "http://e/\x00"},
        {"type": "uri", "value": "http://e/\ud800"},
        literal("\ud800"),
        literal("x", **{"xml:lang": "en . <http://e/a> <http://e/b> <http://e/c> "}),
        literal("x", **{"xml:lang": "en", "its:dir": "up"}),
        literal("x", datatype=INJECTED),
        literal("x", datatype="relative"),
        literal("x", datatype=RDF_LANGSTRING),
        nested(101),
        nested(300),
    ],
)
def test_what_is_no_term_is_a_failed_call(value: dict[str, Any]) -> None:
    assert asked(answer(value)) == ([], 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (literal('"> <a> .\n'), '"\\"> <a> .\\n"'),
        (literal("x", **{"xml:lang": "EN"}), '"x"@en'),
        (literal("x", datatype="urn:t"), '"x"^^<urn:t>'),
        ({"type": "uri", "value": "urn:x"}, "<urn:x>"),
    ],
)
def test_what_is_one_comes_through(value: dict[str, Any], text: str) -> None:
    assert asked(answer(value)) == ([text], 0)


@pytest.mark.parametrize("text", ["P999999999999999D", "P99999999999999999DT999999999999999999H"])
def test_an_interval_that_no_clock_counts_is_a_failed_call(text: str) -> None:
    value = literal(text, datatype=XSD + "duration")
    assert asked(answer(value), interval_variable="n") == ([], 1)


@pytest.mark.parametrize("year", ["99999999999999", "-99999999999999"])
def test_a_time_that_no_clock_counts_is_taken_or_refused(year: str) -> None:
    value = literal(f"{year}-01-01T00:00:00Z", datatype=XSD + "dateTime")
    found, failed = asked(answer(value), expires_variable="n")
    assert len(found) + failed == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Cache-Control": "max-age=99999999999999"},
        {"Cache-Control": f"max-age={'9' * 400}"},
        {"Cache-Control": "max-age=-5, s-maxage=\N{ARABIC-INDIC DIGIT ONE}".encode().decode("latin-1")},
        {"Age": "9" * 30, "Cache-Control": "max-age=1"},
        {"Expires": "Fri, 31 Dec 99999 23:59:59 GMT", "Date": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"Date": "Fri, 31 Dec 9999 23:59:59 -2400"},
    ],
)
def test_headers_that_no_clock_counts_do_no_harm(headers: dict[str, str]) -> None:
    assert asked(answer(literal("x")), headers) == (['"x"'], 0)


def test_many_variables_and_many_empty_rows_do_not_fill_the_memory() -> None:
    head = json.dumps([f"v{n}" for n in range(100_000)])
    body = f'{{"head":{{"vars":{head}}},"results":{{"bindings":[{",".join(["{}"] * 400_000)}]}}}}'
    assert asked(body.encode(), max_bytes=16 << 20) == ([], 1)
