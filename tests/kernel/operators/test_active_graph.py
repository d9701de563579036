"""Property paths against the reference evaluator's pairs at each index."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, Bag, bag_at, check_each_index, relations, slow_join, thorough
from weir.kernel.operators.active_graph import PathFinder
from weir.kernel.operators.distinct import distinct
from weir.kernel.operators.scan import Triples
from weir.kernel.reference.datasets import Graph, pairs
from weir.kernel.relations.matches import join
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


def slow_paths(
    bag: Bag, subject: int | str, path: Path, object: int | str, given: dict[str, int] | None = None
) -> Bag:
    """The reference evaluator's pairs, with the values of ``given`` put in."""
    graph = Graph((term(row["s"]), term(row["p"]), term(row["o"])) for row in map(dict, bag.elements()))
    ends = [slot if isinstance(slot, int) else (given or {}).get(slot) for slot in (subject, object)]
    start, end = (None if value is None else term(value) for value in ends)
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
    s, p, o = (relation.columns[name] for name in "spo")
    finder = PathFinder(Triples(s, p, o, relation.start, relation.end), number, INDICES)

    found = finder.find(subject, path, object)
    check_each_index(found, [relation], lambda bag: slow_paths(bag, subject, path, object))


@thorough
@given(
    EDGES,
    ENDS,
    PATHS,
    ENDS,
    st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([1, 2, 9])),
)
def test_paths_with_values_put_in(
    relation: Relation, subject: int | str, path: Path, object: int | str, given: dict[str, int]
) -> None:
    s, p, o = (relation.columns[name] for name in "spo")
    finder = PathFinder(Triples(s, p, o, relation.start, relation.end), number, INDICES)
    known = {name: np.array([value]) for name, value in given.items()}
    found = finder.find(subject, path, object, known=known)
    for name, value in given.items():
        if name in found.columns:
            found = found.take(found.columns[name] == value)
    check_each_index(found, [relation], lambda bag: slow_paths(bag, subject, path, object, given))


@thorough
@given(
    relations("spo", ids=st.integers(1, 4), unbound=False, most=9), PATHS, relations(("a",), unbound=False)
)
def test_sources_only_save_work(relation: Relation, path: Path, others: Relation) -> None:
    s, p, o = (relation.columns[name] for name in "spo")
    finder = PathFinder(Triples(s, p, o, relation.start, relation.end), number, INDICES)
    sources = rename(distinct(others), {"a": ".from"})
    hinted = join(finder.find("a", path, "b", sources=sources), others)
    check_each_index(
        hinted, [relation, others], lambda bag, more: slow_join(slow_paths(bag, "a", path, "b"), more)
    )


def test_a_long_chain_is_followed_to_its_end() -> None:
    steps = np.arange(1, 200)
    edges = Triples(steps, np.ones_like(steps), steps + 1, steps * 0, steps * 0 + 2)
    found = PathFinder(edges, number, 2).find(1, OneOrMore(Link(IRI("1"))), "x")
    assert sorted(found.columns["x"].tolist()) == list(range(2, 201))


def test_an_edge_that_closes_a_cycle_for_a_while() -> None:
    """1 → 2 always, 2 → 1 at index 2 only: 1 reaches itself exactly then."""
    edges = Triples(np.array([1, 2]), np.array([1, 1]), np.array([2, 1]), np.array([0, 2]), np.array([5, 3]))
    found = PathFinder(edges, number, 5).find("x", OneOrMore(Link(IRI("1"))), "x")
    assert [bag_at(found, index).total() for index in range(5)] == [0, 0, 2, 0, 0]
