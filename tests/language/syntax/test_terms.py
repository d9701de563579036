"""Terms and paths; relative IRIs."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language.algebra import patterns as a
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.terms import TYPE, TermParser, resolve
from weir.rdf.terms import IRI, XSD, Literal

P, Q = a.Link(IRI("http://e/p")), a.Link(IRI("http://e/q"))


def parser(text: str) -> TermParser:
    found = TermParser(Tokens(Source(text)), None, None)
    found.prefixes[""] = "http://e/"
    return found


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("'a\\n'", Literal("a\n")),
        ("'\\u00e9\\U0001F47E'", Literal("é👾")),
        ('"""a"b"""', Literal('a"b')),
        ("'a'@en", Literal.tagged("a", "en")),
        ("'a'@ar--rtl", Literal.tagged("a", "ar", "rtl")),
        ("'5'^^:n", Literal("5", "http://e/n")),
        ("-1.5", Literal("-1.5", XSD + "decimal")),
        ("TRUE", Literal("true", XSD + "boolean")),
    ],
)
def test_literals(text: str, term: object) -> None:
    assert parser(text).literal() == term


@pytest.mark.parametrize("text", ["'\\uD800'", "'\\U00110000'", "'a'@ar--up", "<http://e/\\u0020>"])
def test_what_is_no_term(text: str) -> None:
    with pytest.raises(SyntaxError):
        (parser(text).iri if text[0] == "<" else parser(text).literal)()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (":p", P),
        ("a", a.Link(TYPE)),
        (":p/:q|:q", a.Alternative(a.Sequence(P, Q), Q)),
        ("^:p*", a.Inverse(a.ZeroOrMore(P))),
        ("(:p/:q)?", a.ZeroOrOne(a.Sequence(P, Q))),
        (":p+", a.OneOrMore(P)),
        ("!(:p|^:q)", a.NegatedSet((P.iri,), (Q.iri,))),
        ("!:p", a.NegatedSet((P.iri,), ())),
    ],
)
def test_paths(text: str, path: a.Path) -> None:
    assert parser(text).path() == path


def test_an_unknown_prefix_is_named() -> None:
    with pytest.raises(SyntaxError) as caught:
        parser("foaf:name").iri()
    assert caught.value.hint == "declare it: PREFIX foaf: <http://xmlns.com/foaf/0.1/>"


BASE = "http://a/b/c/d;p?q"


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"),
    ],
)
def test_rfc_3986(reference: str, target: str) -> None:
    assert resolve(reference, BASE) == target


def test_without_a_base_nothing_changes() -> None:
    assert resolve("w1", None) == "w1"
    assert resolve("w1", "http://host") == "http://host/w1"
    assert resolve("w1", "urn:a") == "urn:w1"
