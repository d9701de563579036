"""Property paths over a small graph: a → b → c → a by p, and a → c by q."""

from __future__ import annotations

import pytest

from weir.kernel.reference.datasets import Graph, pairs
from weir.language.algebra.patterns import (
    Alternative,
    Inverse,
    Link,
    NegatedSet,
    OneOrMore,
    Path,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from weir.rdf.terms import IRI

A, B, C, P, Q = (IRI(name) for name in "abcpq")
GRAPH = Graph([(A, P, B), (B, P, C), (C, P, A), (A, Q, C)])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (Link(Q), "ac"),
        (Inverse(Link(Q)), "ca"),
        (Sequence(Link(P), Link(P)), "ac ba cb"),
        (Alternative(Link(P), Link(Q)), "ab bc ca ac"),
        (NegatedSet((P,), ()), "ac"),
        (NegatedSet((), (P,)), "ca"),
        (ZeroOrOne(Link(Q)), "aa bb cc ac"),
        (OneOrMore(Link(Q)), "ac"),
        (ZeroOrMore(Link(Q)), "aa bb cc ac"),
    ],
)
def test_pairs_of_nodes_that_a_path_connects(path: Path, expected: str) -> None:
    found = sorted(x.value + y.value for x, y in pairs(path, None, None, GRAPH))
    assert found == sorted(expected.split())


def test_a_path_of_any_length_reaches_each_node_once() -> None:
    assert sorted(y.value for _, y in pairs(OneOrMore(Link(P)), A, None, GRAPH)) == ["a", "b", "c"]
    assert [x.value for x, _ in pairs(OneOrMore(Link(Q)), None, C, GRAPH)] == ["a"]


def test_a_known_end_reaches_itself_though_the_graph_lacks_it() -> None:
    stranger = IRI("stranger")
    assert list(pairs(ZeroOrMore(Link(P)), stranger, None, GRAPH)) == [(stranger, stranger)]
