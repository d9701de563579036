"""Terms, triples and paths as text."""

from __future__ import annotations

import pytest

from language.algebra_kit import where
from weir.language.algebra import patterns as a
from weir.language.writing.terms import Terms
from weir.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Variable


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (IRI("http://e/a"), "ex:a"),
        (IRI("http://e/a.b,c"), "<http://e/a.b,c>"),
        (IRI("http://other/a"), "<http://other/a>"),
        (Literal("5", XSD + "integer"), "5"),
        (Literal("five", XSD + "integer"), f'"five"^^<{XSD}integer>'),
        (Literal.tagged('a"\n', "en"), '"a\\"\\n"@en'),
        (Variable("x"), "?x"),
        (Variable(".b0"), "_:b0"),
        (BlankNode("b"), "_:b"),
    ],
)
def test_nodes(node: a.Node, text: str) -> None:
    assert Terms({"ex": "http://e/"}).node(node) == text


def test_only_prefixes_that_are_used_are_remembered() -> None:
    terms = Terms({"ex": "http://e/", "no": "http://n/"})
    terms.triple(a.TriplePattern(Variable("x"), IRI(RDF + "type"), IRI("http://e/C")))
    assert terms.used == {"ex": "http://e/"}


@pytest.mark.parametrize("path", ["(:p|:q)/:p", "^(:p/:q)*", "(^:p)+", "!(:p|^:q)", ":p|(:q|:p)", "(:p?)*"])
def test_a_path_comes_back_as_it_was(path: str) -> None:
    pattern = where(f"?x ({path})* ?y")
    assert isinstance(pattern, a.PathPattern)
    assert where(f"?x {Terms({}).path(pattern.path)} ?y") == pattern
