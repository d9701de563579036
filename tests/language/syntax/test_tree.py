"""The syntax tree keeps the shape and the places of the text."""

from __future__ import annotations

from weir.language.syntax import tree
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.queries import QueryParser
from weir.rdf.terms import IRI, Variable

TEXT = "SELECT ?x { ?x <p> ?y FILTER (?y) }"


def test_a_whole_query() -> None:
    x, y = Variable("x"), Variable("y")
    triples = tree.Triples(12, (tree.Triple(15, x, IRI("p"), y),))
    where = tree.Group(10, (triples, tree.Filter(22, y)))
    body = tree.Select(0, (tree.Item(7, x, None),), False, False, where, tree.Modifiers())
    unit = tree.Unit(body, (), tree.Settings())
    assert QueryParser(Tokens(Source(TEXT)), None, None).unit() == unit
