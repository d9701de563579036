"""Terms as values of forms, URI templates, implicit graphs; pages taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import EX, EXAMPLES
from weir.errors import DataError, RemoteError
from weir.fragments.client.page import parse_page
from weir.fragments.protocol.controls import (
    OBJECT,
    PREDICATE,
    SUBJECT,
    Form,
    check_form,
    expand,
    implicit_address,
    text_of,
    value_of,
)
from weir.fragments.protocol.documents import parse_document
from weir.fragments.server.dataset import implicit_names
from weir.rdf.terms import Literal, Variable

literals = st.builds(
    lambda lexical, kind: (
        Literal(lexical)
        if kind is None
        else Literal.tagged(lexical, kind)
        if len(kind) == 2
        else Literal(lexical, kind)
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from([None, "en", "http://www.w3.org/2001/XMLSchema#integer"]),
)


@settings(max_examples=200 * EXAMPLES)
@given(literals)
def test_literals_survive_a_form(literal: Literal) -> None:
    assert text_of(value_of(str(literal))) == str(literal)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("http://example.org/a", "<http://example.org/a>"),
        ("<http://example.org/a>", "<http://example.org/a>"),
        ('"a"', '"a"'),
        ('"a"@EN', '"a"@en'),
        ('"1"^^http://t', '"1"^^<http://t>'),
        ('"1"^^<http://t>', '"1"^^<http://t>'),
        ('"say "hi""', '"say \\"hi\\""'),
        ("?x", Variable("x")),
        ("$x", Variable("x")),
        ("_:b", Variable(".b")),
        ('"', None),
        ('"a"@', None),
        ('"a"^^', None),
        ("a b", None),
        ("<>", None),
    ],
)
def test_values(value: str, text: object) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("template", "address"),
    [
        ("http://h/d{?s,p,o}", "http://h/d?s=a%20b&o=%C3%A9%2F"),
        ("http://h/d?x=1{&s,p}", "http://h/d?x=1&s=a%20b"),
        ("http://h/{s}/{p}", "http://h/a%20b/"),
        ("http://h/d{?p}", "http://h/d"),
        ("http://h{/s}{#o}", "http://h/a%20b#%C3%A9/"),
        ("http://h/d{;s}{.o}{+o}", "http://h/d;s=a%20b.%C3%A9%2F%C3%A9/"),
    ],
)
def test_templates(template: str, address: str) -> None:
    assert expand(template, {"s": "a b", "o": "é/"}) == address


triples = st.tuples(
    st.sampled_from([f"<{EX}s>", f"<{EX}s?x=1&y=2#z>"]),
    st.just(f"<{EX}p>"),
    st.one_of(literals.map(str), st.just(f"<{EX}é+%20>")),
)


@settings(max_examples=150 * EXAMPLES)
@given(triples)
def test_server_and_client_name_implicit_graphs_alike(triple: tuple[str, str, str]) -> None:
    form = Form(
        "http://h/d{?subject,predicate,object,graph}",
        {SUBJECT: "subject", PREDICATE: "predicate", OBJECT: "object"},
    )
    names = implicit_names("", "http://h/d")
    name = names.address(triple)
    assert name == implicit_address(form, "http://h/d", triple)
    assert names.triple(name) == triple


def test_forms_without_a_triple_pattern() -> None:
    with pytest.raises(RemoteError, match="lacks a field"):
        check_form(Form("http://h/{?q}", {SUBJECT: "q"}))


def test_canonical_lines_are_split_as_the_parser_does() -> None:
    lines = (
        f'<{EX}s> <{EX}p> "a \\"b\\" \\\\ \\n ☃"@en-us <{EX}g> .\n'
        f'_:b0 <{EX}p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n<{EX}s> <{EX}p> <{EX}o> _:g .\n'
    )
    fast = parse_document(lines.encode(), "application/n-quads")
    slow = parse_document(("# not canonical\n" + lines).encode(), "application/n-quads")
    assert fast == slow and len(fast) == 3


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('<a:s> <a:p> "x"^^<http://www.w3.org/2001/XMLSchema#string> .', '"x"'),
        ('<a:s> <a:p> "\\u00e9\\t"@EN .', '"é\t"@en'),
        ('<a:s>\t<a:p>  "x" .', '"x"'),
    ],
)
def test_other_lines_become_canonical(line: str, text: str) -> None:
    ((_, _, found, _),) = parse_document(f"{line}\n".encode(), "application/n-quads")
    assert found == text


@pytest.mark.parametrize(
    "line", ["<s> <a:p> <a:o> .", "<a:s> <a:p> .", '"x" <a:p> <a:o> .', "<a:s> _:b <a:o> .", "x"]
)
def test_malformed_lines(line: str) -> None:
    with pytest.raises(DataError, match="malformed"):
        parse_document(f"{line}\n".encode(), "application/n-quads")


def test_relative_links_and_missing_metadata() -> None:
    url = "http://h/d?page=1"
    body = (
        "@prefix hydra: <http://www.w3.org/ns/hydra/core#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> ."
        "<#m> { <#m> foaf:primaryTopic <http://h/d?page=1> . <http://h/d?page=1> hydra:next <?page=2> . }"
        "<a:s> <a:p> <a:o> ."
    )
    page = parse_page(url, body.encode(), "application/trig", 100)
    assert page.next == "http://h/d?page=2" and page.total is None and page.forms == ()
    assert page.data == (("<a:s>", "<a:p>", "<a:o>", ""),) and page.estimate == 2
