"""SPARQL results in JSON and XML as terms; whatever is not one of them is refused."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded
from weir.errors import DataError
from weir.linked.service.remote_query import parse_results
from weir.rdf.terms import IRI, XSD, BlankNode, Literal

JSON = b"""{"head": {"vars": ["s", "o"]}, "results": {"bindings": [
  {"s": {"type": "uri", "value": "http://e/a"}, "o": {"type": "literal", "value": "x"}},
  {"s": {"type": "bnode", "value": "b0"},
   "o": {"type": "literal", "value": "01", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}},
  {"o": {"type": "literal", "value": "y", "xml:lang": "EN"}},
  {"o": {"type": "typed-literal", "value": "1.5", "datatype": "http://www.w3.org/2001/XMLSchema#decimal"}}
]}}"""

XML = b"""<?xml version="1.0"?>
<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="s"/><variable name="o"/></head>
<results>
<result><binding name="s"><uri>http://e/a</uri></binding>
  <binding name="o"><literal>x</literal></binding></result>
<result><binding name="s"><bnode>b0</bnode></binding>
  <binding name="o"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">01</literal></binding></result>
<result><binding name="o"><literal xml:lang="EN">y</literal></binding></result>
<result><binding name="o">
  <literal datatype="http://www.w3.org/2001/XMLSchema#decimal">1.5</literal></binding></result>
</results></sparql>"""

SUBJECTS = [IRI("http://e/a"), BlankNode("b0"), None, None]
OBJECTS = [
    Literal("x"),
    Literal("01", XSD + "integer"),
    Literal.tagged("y", "en"),
    Literal("1.5", XSD + "decimal"),
]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (JSON, "application/sparql-results+json"),
        (JSON, "application/json"),
        (JSON, ""),
        (XML, "application/sparql-results+xml"),
        (XML, "text/plain"),
    ],
)
def test_both_formats_give_the_same_terms(body: bytes, kind: str) -> None:
    found = parse_results(body, kind)
    assert found.length == 4
    assert found.columns == {"s": SUBJECTS, "o": OBJECTS}


def test_no_variables_still_count_solutions() -> None:
    assert parse_results(b'{"head":{"vars":[]},"results":{"bindings":[{},{}]}}', "").length == 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"head":{"vars":["x"]}}',
        b'{"head":{"vars":[1]},"results":{"bindings":[]}}',
        b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":"y"}]}}',
        b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":7}}]}}',
        b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"triple","value":"t"}}]}}',
        b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri"}}]}}',
        b'{"head":{"vars":["x"]},"results":{"bindings":[null]}}',
        b"{" * 100_000,
    ],
)
def test_other_json_is_refused(body: bytes) -> None:
    with pytest.raises(DataError):
        parse_results(body, "application/sparql-results+json")


@pytest.mark.parametrize(
    "body",
    [
        b"<html></html>",
        b"<sparql xmlns='http://www.w3.org/2005/sparql-results#'/>",
        b"<sparql",
        XML.replace(b"<uri>", b"<triple>").replace(b"</uri>", b"</triple>"),
        XML.replace(b'name="s"><uri>', b'name="z"><uri>'),
        XML.replace(b"<uri>http://e/a</uri>", b""),
        XML.replace(b"http://e/a", b"http://e/a&gt; &lt;http://e/b"),
        XML.replace(b"http://e/a", b"a"),
        XML.replace(b'"EN"', b'"en . &lt;a"'),
        XML.replace(b"XMLSchema#integer", b"XMLSchema#integer&gt; ."),
        XML.replace(b"<uri>", b"<triple><subject>" * 20_000),
    ],
)
def test_other_xml_is_refused(body: bytes) -> None:
    with pytest.raises(DataError):
        parse_results(body, "application/sparql-results+xml")


def test_a_document_type_is_refused() -> None:
    bomb = b'<!DOCTYPE sparql [<!ENTITY a "aaaa">]>' + XML.partition(b"?>")[2].strip()
    with pytest.raises(DataError):
        parse_results(bomb, "application/sparql-results+xml")


@pytest.mark.parametrize("written", ["<literal> x </literal>", "<literal><![CDATA[ x ]]></literal>"])
def test_literals_of_xml_keep_their_spaces(written: str) -> None:
    body = XML.replace(b"<literal>x</literal>", written.encode())
    assert parse_results(body, "").columns["o"][0] == Literal(" x ")


def test_blank_nodes_may_have_any_label() -> None:
    binding = {"s": {"type": "bnode", "value": "nodeID://b10"}}
    body = json.dumps({"head": {"vars": ["s"]}, "results": {"bindings": [binding]}}).encode()
    assert parse_results(body, "").columns["s"] == [BlankNode("nodeID://b10")]


@bounded
@given(st.binary(max_size=60), st.sampled_from(["application/json", "text/xml", "", "text/html"]))
def test_noise_never_escapes_as_another_error(body: bytes, kind: str) -> None:
    with suppress(DataError):
        parse_results(body, kind)


@bounded
@given(st.lists(st.text(max_size=6), max_size=5))
def test_literals_come_through_to_the_letter(texts: list[str]) -> None:
    rows = [{"x": {"type": "literal", "value": text}} for text in texts]
    body = json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": rows}}).encode()
    assert parse_results(body, "application/json").columns["x"] == [Literal(text) for text in texts]
