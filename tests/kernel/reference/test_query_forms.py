"""Query forms: what goes out for solutions."""

from __future__ import annotations

from weir.kernel.reference.datasets import Graph
from weir.kernel.reference.query_forms import construct, describe
from weir.language.algebra.patterns import TriplePattern
from weir.rdf.terms import IRI, BlankNode, Literal, Variable

A, B, P = IRI("a"), IRI("b"), IRI("p")
X, Y = Variable("x"), Variable("y")


def test_construct_leaves_out_what_is_no_triple():
    template = [TriplePattern(X, P, Y)]
    solutions = [{"x": A, "y": B}, {"x": Literal("1"), "y": B}, {"x": A}, {"x": A, "y": B}]
    assert construct(template, solutions, "key") == [(A, P, B)]


def test_construct_makes_new_blank_nodes_for_each_solution():
    template = [TriplePattern(BlankNode("n"), P, X), TriplePattern(BlankNode("n"), P, P)]
    (one, _, value), (again, _, _), (two, _, _), _ = construct(template, [{"x": A}, {"x": B}], "key")
    assert (one, value) == (again, A)
    assert one != two


def test_describe_follows_blank_nodes():
    inner, other = BlankNode("i"), BlankNode("j")
    graph = Graph([(A, P, inner), (inner, P, B), (B, P, A), (other, P, A)])
    assert describe([X], [{"x": A}, {"x": Literal("1")}], graph) == [(A, P, inner), (inner, P, B)]
