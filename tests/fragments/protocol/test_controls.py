"""Terms as values of forms, URI templates, implicit graphs; pages taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import EX, EXAMPLES
from weir.errors import RemoteError
from weir.fragments.protocol.controls import (
    OBJECT,
    PREDICATE,
    SUBJECT,
    Form,
    text_of,
    value_of,
)
from weir.fragments.server.annotated import Names
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
    form = Form(template, {SUBJECT: "s", PREDICATE: "p", OBJECT: "o"})
    assert form.address({SUBJECT: "a b", OBJECT: "é/"}) == address


def test_a_malformed_template_is_the_servers_fault() -> None:
    with pytest.raises(RemoteError, match="malformed template"):
        Form("http://h/{?s:x}", {SUBJECT: "s"}).address({})


triples = st.tuples(
    st.sampled_from([f"<{EX}s>", f"<{EX}s?x=1&y=2#z>"]),
    st.just(f"<{EX}p>"),
    st.one_of(literals.map(str), st.just(f"<{EX}é+%20>")),
)


@settings(max_examples=150 * EXAMPLES)
@given(triples)
def test_server_and_client_name_implicit_graphs_alike(triple: tuple[str, str, str]) -> None:
    fields = {SUBJECT: "subject", PREDICATE: "predicate", OBJECT: "object"}
    form = Form("http://h/d{?subject,predicate,object,graph}", fields)
    names = Names("", "http://h/d")
    name = names.implicit(triple)
    assert name == form.implicit_graph(triple)
    assert names.triple(name) == triple
