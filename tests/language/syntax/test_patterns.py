"""Groups in braces, as a tree."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language.syntax import tree
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.patterns import PatternParser
from weir.rdf.terms import IRI, XSD, Literal, Variable

X, ONE = Variable("x"), Literal("1", XSD + "integer")


def read(text: str) -> tuple[tree.Element, ...]:
    return PatternParser(Tokens(Source(text)), None, None).group().elements


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("{ FILTER (?x) }", tree.Filter(2, X)),
        ("{ OPTIONAL {} }", tree.Optional(2, tree.Group(11, ()))),
        ("{ MINUS {} }", tree.Minus(2, tree.Group(8, ()))),
        ("{ GRAPH ?x {} }", tree.Graph(2, X, tree.Group(11, ()))),
        ("{ SERVICE SILENT <e> {} }", tree.Service(2, IRI("e"), True, tree.Group(21, ()))),
        ("{ WINDOW <e> {} }", tree.Window(2, IRI("e"), tree.Group(13, ()))),
        ("{ BIND (1 AS ?x) }", tree.Bind(2, ONE, X)),
        ("{ VALUES ?x { 1 UNDEF } }", tree.Values(2, (X,), ((ONE,), (None,)))),
        ("{ {} UNION {} }", tree.Union(2, (tree.Group(2, ()), tree.Group(11, ())))),
    ],
)
def test_elements(text: str, element: tree.Element) -> None:
    assert read(text) == (element,)


def test_triples_between_filters_are_two_blocks() -> None:
    kinds = [type(element) for element in read("{ ?x <p> 1 . FILTER (1) ?x <p> 1, 2 }")]
    assert kinds == [tree.Triples, tree.Filter, tree.Triples]


@pytest.mark.parametrize(
    ("text", "primary"),
    [
        ("{ ?x <p> 1 ?x <p> 1 }", "expected '.' or '}'"),
        ("{ . }", "expected a pattern or '}'"),
        ("{ VALUES (?x ?x) {} }", "VALUES names a variable twice"),
        ("{ VALUES (?x) { (1 2) } }", "2 values for 1 variables"),
        ("{ VALUES ?x { _:a } }", "expected an IRI, a literal, a triple term or UNDEF"),
    ],
)
def test_what_is_refused(text: str, primary: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        read(text)
    assert primary in caught.value.primary
