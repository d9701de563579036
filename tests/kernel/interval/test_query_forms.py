"""What R2S sends, against multisets index by index; what SELECT, ASK, CONSTRUCT and DESCRIBE make of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, bag_at, relations, solution_of, thorough
from timelines import MS, STREAM, batch, messages
from weir.kernel.contract import Background, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.interval.query_forms import ANSWER, TRIPLE, sent
from weir.kernel.relations.relation import Relation, clip
from weir.kernel.windows.instants import Instants
from weir.language import parse
from weir.language.algebra.query import R2S
from weir.rdf.ids.dictionary import Dictionary

WINDOW = f"FROM NAMED WINDOW <urn:w> ON STREAM <{STREAM}> [RANGE PT0.002S STEP PT0.002S]"
BODY = "WHERE { WINDOW <urn:w> { ?s ?p ?o } }"


def answers(form: str, drawing: str = "ab") -> list[tuple[object, ...]]:
    dictionary = Dictionary()
    made = IntervalEvaluator(parse(f"{form} {WINDOW} {BODY}", "rspql"), Background(), dictionary)
    found = made.advance(Slab({STREAM: batch(messages(drawing), dictionary)}, 4 * MS))
    names = tuple(found.columns)
    if names == (ANSWER,):
        return list(zip(found.at.tolist(), found.columns[ANSWER].tolist(), strict=True))
    return sorted(zip(found.at.tolist(), *(dictionary.texts(c) for c in found.columns.values()), strict=True))


def test_select_lists_solutions() -> None:
    assert answers("SELECT ?s") == [(2 * MS, "<a>"), (2 * MS, "<b>")]


def test_ask_answers_at_every_evaluation() -> None:
    assert answers("ASK") == [(2 * MS, 1), (4 * MS, 0)]


def test_construct_is_a_set_and_leaves_out_what_is_no_triple() -> None:
    assert answers("CONSTRUCT { <urn:x> <urn:q> ?o . ?o <urn:q> ?s }") == [
        (2 * MS, "<urn:x>", "<urn:q>", '"x"')
    ]


def test_construct_makes_a_blank_node_for_each_solution() -> None:
    assert len({row[1] for row in answers("CONSTRUCT { [] <urn:q> ?s }")}) == 2


@pytest.mark.parametrize("target", ["?s", "<a>"])
def test_describe_gives_the_triples_of_a_resource(target: str) -> None:
    found = answers(f"DESCRIBE {target}", "a")
    assert len(TRIPLE) == 3 and found == [(2 * MS, "<a>", "<urn:p>", '"x"')]


@pytest.mark.parametrize("operator", list(R2S))
@thorough
@given(relations(("x",), unbound=False, most=12), st.lists(st.booleans(), min_size=INDICES, max_size=INDICES))
def test_what_is_sent_is_the_difference_of_multisets(
    operator: R2S, relation: Relation, emitted: list[bool]
) -> None:
    if operator is not R2S.RSTREAM:
        emitted = [False, *emitted[1:]]
        relation = clip(relation, 1, INDICES)
    at = Instants(np.arange(INDICES), np.array(emitted))
    index, rows = sent(relation, at, operator)
    places = np.arange(len(index)) if rows is None else rows
    found = Counter(
        (when, solution_of(relation, row)) for when, row in zip(index.tolist(), places.tolist(), strict=True)
    )
    expected: Counter[object] = Counter()
    for when in np.flatnonzero(emitted).tolist():
        now = bag_at(relation, when)
        before = bag_at(relation, when - 1) if when else Counter()
        bag = {R2S.RSTREAM: now, R2S.ISTREAM: now - before, R2S.DSTREAM: before - now}[operator]
        expected.update({(when, solution): times for solution, times in bag.items()})
    assert found == expected
    assert index.tolist() == sorted(index.tolist())
