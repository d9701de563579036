"""Query forms: what SELECT, ASK, CONSTRUCT and DESCRIBE send of a window's content."""

from __future__ import annotations

import pytest

from timelines import MS, STREAM, batch, messages
from weir.kernel.contract import Background, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.interval.query_forms import ANSWER, TRIPLE
from weir.language import parse
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
