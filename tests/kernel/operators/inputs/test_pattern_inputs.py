"""Patterns as inputs: those that differ only in the names of variables share their live triples."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bags import Bag, check_each_index, relation_of, relations, thorough
from timelines import STREAM, batch, messages
from weir.kernel.contract import Background, GraphTable, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.operators.inputs.pattern_inputs import QUAD, merged, scan, shown
from weir.kernel.relations.relation import Relation, rename
from weir.language import parse
from weir.language.algebra.patterns import TriplePattern
from weir.plan import nodes as p
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable

WINDOW = f"FROM NAMED WINDOW <urn:w> ON STREAM <{STREAM}> [RANGE PT0.002S STEP PT0.002S]"


def evaluator(pattern: str) -> IntervalEvaluator:
    return IntervalEvaluator(
        parse(f"SELECT * {WINDOW} WHERE {{ WINDOW <urn:w> {{ {pattern} }} }}", "rspql"),
        Background(),
        Dictionary(),
    )


def test_patterns_of_one_shape_share_their_triples() -> None:
    assert len(evaluator("?a <urn:p> ?b . ?b <urn:p> ?c").streams.triples) == 1
    assert len(evaluator("?a <urn:p> ?b . ?b <urn:q> ?c").streams.triples) == 2


def test_a_pattern_with_one_variable_twice_keeps_only_equal_terms() -> None:
    made = evaluator("?a ?p ?a")
    made.advance(Slab({STREAM: batch(messages("ab"), made.dictionary)}, 1))
    assert made.statistics()["live_rows"] == 0


def test_a_leaf_is_shown_by_its_window_and_short_names() -> None:
    pattern = TriplePattern(Variable("a"), IRI("http://example.org/vocabulary#knows"), Variable("b"))
    assert shown(p.Source("urn:w"), pattern) == "urn:w{?a …knows ?b}"
    assert shown(p.Source(), pattern).startswith("graph{")


def table(*triples: tuple[int, int, int]) -> GraphTable:
    return GraphTable(*(np.array(column, np.int64) for column in zip(*triples, strict=True)))


def test_graphs_merge_into_one_graph() -> None:
    both = merged([table((1, 2, 3), (1, 2, 4)), table((1, 2, 3))])
    rows = sorted(zip(*(column.tolist() for column in both.columns.values()), strict=True))
    assert rows == [(1, 2, 3), (1, 2, 4)]


def test_a_triple_that_comes_and_goes_is_there_while_any_graph_has_it() -> None:
    first = GraphTable(*(np.array([each]) for each in (1, 2, 3)), start=np.array([0]), end=np.array([15]))
    second = GraphTable(*(np.array([each]) for each in (1, 2, 3)), start=np.array([10]), end=np.array([25]))
    both = merged([first, second])
    assert (both.start.tolist(), both.end.tolist()) == ([0], [25])


def test_a_pattern_over_a_table() -> None:
    view = scan(merged([table((1, 2, 3), (1, 5, 1), (4, 5, 4))]), "x", 5, "x")
    assert view.columns["x"].tolist() == [1, 4]


SLOTS = st.one_of(st.integers(1, 3), st.sampled_from(["x", "y", "z"]))


def as_triples(relation: Relation) -> Relation:
    return rename(relation, dict(zip("spog", QUAD, strict=True)))


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
