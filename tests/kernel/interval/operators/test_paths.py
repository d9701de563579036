"""Property paths against the definitions of section 18.4 at each index."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, Bag, bag_at, check_each_index, relations, thorough
from weir.kernel.interval.operators import PathFinder, Triples
from weir.kernel.interval.relation import Relation
from weir.language.algebra import (
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

Pairs = Counter[tuple[int, int]]


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


def slow_pairs(path: Path, triples: list[tuple[int, int, int]], nodes: set[int]) -> Pairs:
    match path:
        case Link(iri):
            return Counter((s, o) for s, p, o in triples if p == number(iri))
        case Inverse(inner):
            return Counter({(o, s): n for (s, o), n in slow_pairs(inner, triples, nodes).items()})
        case Sequence(left, right):
            out: Pairs = Counter()
            for (a, b), n in slow_pairs(left, triples, nodes).items():
                for (c, d), m in slow_pairs(right, triples, nodes).items():
                    if b == c:
                        out[a, d] += n * m
            return out
        case Alternative(left, right):
            return slow_pairs(left, triples, nodes) + slow_pairs(right, triples, nodes)
        case ZeroOrOne(inner):
            return Counter(set(slow_pairs(inner, triples, nodes)) | {(node, node) for node in nodes})
        case OneOrMore(inner):
            return Counter(_closure(set(slow_pairs(inner, triples, nodes))))
        case ZeroOrMore(inner):
            return Counter(_closure(set(slow_pairs(inner, triples, nodes))) | {(n, n) for n in nodes})
        case NegatedSet(forward, inverse):
            out = Counter()
            for s, p, o in triples:
                if (forward or not inverse) and p not in [number(iri) for iri in forward]:
                    out[s, o] += 1
                if inverse and p not in [number(iri) for iri in inverse]:
                    out[o, s] += 1
            return out


def _closure(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while True:
        more = pairs | {(a, d) for a, b in pairs for c, d in pairs if b == c}
        if more == pairs:
            return pairs
        pairs = more


ENDS = st.one_of(st.sampled_from([1, 2, 9]), st.sampled_from(["a", "b"]))


@thorough
@given(relations("spo", ids=st.integers(1, 4), unbound=False, most=9), ENDS, PATHS, ENDS)
def test_paths(relation: Relation, subject: int | str, path: Path, object: int | str) -> None:
    s, p, o = (relation.columns[name] for name in "spo")
    finder = PathFinder(Triples(s, p, o, relation.start, relation.end), number, INDICES)

    def slow(bag: Bag) -> Bag:
        triples = [(row["s"], row["p"], row["o"]) for row in map(dict, bag.elements())]
        nodes = {n for s, _, o in triples for n in (s, o)}
        nodes |= {slot for slot in (subject, object) if isinstance(slot, int)}
        out: Bag = Counter()
        for (a, b), times in slow_pairs(path, triples, nodes).items():
            found: dict[str, int] = {}
            for slot, value in ((subject, a), (object, b)):
                if (slot if isinstance(slot, int) else found.setdefault(slot, value)) != value:
                    break
            else:
                out[frozenset(found.items())] += times
        return out

    check_each_index(finder.find(subject, path, object), [relation], slow)


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
