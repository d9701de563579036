"""Triple patterns against the bags they mean."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import (
    Bag,
    check_each_index,
    relation_of,
    relations,
    thorough,
)
from weir.kernel.operators.scan import Triples, scan
from weir.kernel.relations.relation import Relation

SLOTS = st.one_of(st.integers(1, 3), st.sampled_from(["x", "y", "z"]))


def as_triples(relation: Relation) -> Triples:
    s, p, o, g = (relation.columns[name] for name in "spog")
    return Triples(s, p, o, relation.start, relation.end, g)


@thorough
@given(
    relations("spog", ids=st.integers(1, 3), unbound=False),
    st.tuples(SLOTS, SLOTS, SLOTS),
    st.one_of(st.none(), SLOTS),
    st.booleans(),
)
def test_scan(
    relation: Relation, pattern: tuple[int | str, ...], graph: int | str | None, named: bool
) -> None:
    if not named:
        relation = relation.having("g", np.where(relation.columns["g"] == 1, 0, relation.columns["g"]))

    def slow(bag: Bag) -> Bag:
        out: Bag = Counter()
        for solution, times in bag.items():
            row = dict(solution)
            found: dict[str, int] = {}
            for slot, value in zip(
                (*pattern, graph), (row["s"], row["p"], row["o"], row.get("g", 0)), strict=True
            ):
                if slot is None:
                    continue
                if isinstance(slot, int):
                    if slot != value:
                        break
                elif value == 0 or found.setdefault(slot, value) != value:
                    break
            else:
                out[frozenset(found.items())] += times
        return out

    result = scan(as_triples(relation), *pattern, graph)
    check_each_index(result, [relation.having("g", relation.columns["g"], optional=True)], slow)


def test_a_match_has_the_interval_of_its_triple() -> None:
    triples = relation_of("spog", [((1, 2, 3, 0), 0, 4), ((1, 5, 6, 0), 2, 3)])
    found = scan(as_triples(triples), "x", 5, "y")
    assert (found.columns["y"].tolist(), found.start.tolist(), found.end.tolist()) == ([6], [2], [3])
