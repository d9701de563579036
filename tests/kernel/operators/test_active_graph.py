"""Property paths against the reference evaluator's pairs at each index."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, Bag, bag_at, check_each_index, relation_of, relations, thorough
from weir.kernel.operators.active_graph import PathFinder
from weir.kernel.operators.inputs.pattern_inputs import QUAD
from weir.kernel.reference.datasets import Graph, pairs
from weir.kernel.relations.relation import Relation, rename
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


def number(iri: IRI) -> int:
    return int(iri.value)


LINKS = st.integers(1, 2).map(lambda n: Link(IRI(str(n))))


SETS = st.tuples(
    st.lists(st.integers(1, 3).map(lambda n: IRI(str(n))), max_size=2).map(tuple),
    st.lists(st.integers(1, 3).map(lambda n: IRI(str(n))), max_size=2).map(tuple),
).map(lambda pair: NegatedSet(*pair))


PATHS = st.recursive(
    st.one_of(LINKS, SETS),
    lambda inner: st.one_of(
        inner.map(Inverse),
        st.builds(Sequence, inner, inner),
        st.builds(Alternative, inner, inner),
        inner.map(ZeroOrMore),
        inner.map(OneOrMore),
        inner.map(ZeroOrOne),
    ),
    max_leaves=3,
)


def term(value: int) -> IRI:
    return IRI(str(value))


def slow_paths(bag: Bag, subject: int | str, path: Path, object: int | str) -> Bag:
    """The reference evaluator's pairs."""
    graph = Graph((term(row["s"]), term(row["p"]), term(row["o"])) for row in map(dict, bag.elements()))
    start, end = (term(slot) if isinstance(slot, int) else None for slot in (subject, object))
    out: Bag = Counter()
    for pair in pairs(path, start, end, graph):
        found: dict[str, int] = {}
        for slot, reached in zip((subject, object), map(number, pair), strict=True):
            if (slot if isinstance(slot, int) else found.setdefault(slot, reached)) != reached:
                break
        else:
            out[frozenset(found.items())] += 1
    return out


EDGES = relations("spo", ids=st.integers(1, 4), unbound=False, most=9)


ENDS = st.one_of(st.sampled_from([1, 2, 9]), st.sampled_from(["a", "b"]))


@thorough
@given(EDGES, ENDS, PATHS, ENDS)
def test_paths(relation: Relation, subject: int | str, path: Path, object: int | str) -> None:
    edges = rename(relation, dict(zip("spo", QUAD, strict=False)))
    finder = PathFinder(edges, number, INDICES)
    found = finder.find(subject, path, object)
    check_each_index(found, [relation], lambda bag: slow_paths(bag, subject, path, object))


def test_a_long_chain_is_followed_to_its_end() -> None:
    edges = relation_of(QUAD[:3], [((step, 1, step + 1), 0, 2) for step in range(1, 200)])
    found = PathFinder(edges, number, 2).find(1, OneOrMore(Link(IRI("1"))), "x")
    assert sorted(found.columns["x"].tolist()) == list(range(2, 201))


def test_an_edge_that_closes_a_cycle_for_a_while() -> None:
    """1 → 2 always, 2 → 1 at index 2 only: 1 reaches itself exactly then."""
    edges = relation_of(QUAD[:3], [((1, 1, 2), 0, 5), ((2, 1, 1), 2, 3)])
    found = PathFinder(edges, number, 5).find("x", OneOrMore(Link(IRI("1"))), "x")
    assert [bag_at(found, index).total() for index in range(5)] == [0, 0, 2, 0, 0]
