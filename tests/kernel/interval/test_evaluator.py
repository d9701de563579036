"""The interval evaluator from slab to slab: evaluations, other static graphs, the end of input."""

from __future__ import annotations

import numpy as np
import pytest

from timelines import MS, STREAM, batch, messages, over
from weir.errors import UsageError
from weir.kernel.contract import Background, GraphTable, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal


def test_a_slab_of_several_closes_is_evaluated_in_one_go() -> None:
    dictionary = Dictionary()
    made = IntervalEvaluator(over("RANGE 2 STEP 2"), Background(), dictionary)
    answers = made.advance(Slab({STREAM: batch(messages("ab..cd"), dictionary)}, 6 * MS))
    assert answers.evaluations == 3
    assert answers.at.tolist() == [2 * MS] * 2 + [6 * MS] * 2


def test_other_static_graphs_count_from_the_next_slab_on() -> None:
    dictionary = Dictionary()
    text = f"""SELECT ?s ?z FROM NAMED WINDOW <urn:w> ON STREAM <{STREAM}> [RANGE PT0.01S STEP PT0.001S]
    WHERE {{ WINDOW <urn:w> {{ ?s ?p ?o }} ?s <urn:is> ?z }}"""
    made = IntervalEvaluator(parse(text, "rspql"), Background(), dictionary)
    stream = batch(messages("a"), dictionary)
    assert not len(made.advance(Slab({STREAM: stream}, 1 * MS)).at)
    terms = [dictionary.encode(term) for term in (IRI("a"), IRI("urn:is"), Literal("here"))]
    made.renew(Background(GraphTable(*(np.array([term]) for term in terms))))
    assert made.advance(Slab({}, 2 * MS)).at.tolist() == [2 * MS]


def test_nothing_may_come_after_the_end() -> None:
    made = IntervalEvaluator(over("RANGE 2 STEP 2"), Background(), Dictionary())
    made.advance(Slab({}, 0, end=True))
    with pytest.raises(UsageError, match="has ended"):
        made.advance(Slab({}, 1))
