"""Small patterns to compare with, and the pattern that a group means."""

from __future__ import annotations

from weir.language.algebra import patterns as a
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.patterns import PatternParser
from weir.rdf.terms import IRI, XSD, Literal, Variable

X, Y, Z = (Variable(name) for name in "xyz")
P, Q = IRI("http://e/p"), IRI("http://e/q")
EMPTY = a.BGP(())
ONE = Literal("1", XSD + "integer")


def where(group: str) -> a.Pattern:
    """The pattern of a group; the prefix ``:`` is ``http://e/``."""
    parser = PatternParser(Tokens(Source(f"{{ {group} }}")), None, None)
    parser.prefixes[""] = "http://e/"
    return parser.group()


def bgp(*triples: tuple[a.Node, a.Node, a.Node]) -> a.BGP:
    return a.BGP(tuple(a.TriplePattern(*triple) for triple in triples))


def b(number: int) -> Variable:
    return Variable(f".b{number}")


XPY = bgp((X, P, Y))
XQZ = bgp((X, Q, Z))
