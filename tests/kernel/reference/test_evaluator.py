"""The reference evaluator behind the protocol: ids in, ids out, and a state to go on from."""

from __future__ import annotations

import numpy as np
import pytest

from weir.errors import CheckpointError
from weir.kernel.contract import Background, Slab
from weir.kernel.reference import ReferenceEvaluator
from weir.kernel.reference.evaluator import ReferenceEvaluator as Defined
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI, Term

SECOND = 1_000_000
TEXT = (
    "SELECT ?x FROM NAMED WINDOW <w> ON STREAM <s> [RANGE PT2S STEP PT1S] WHERE { WINDOW <w> { ?x <p> ?y } }"
)


def slab(dictionary: Dictionary, *messages: tuple[int, str], end: bool = False) -> Slab:
    count = len(messages)
    subject = dictionary.encode_terms([IRI(name) for _, name in messages])
    predicate, target = (np.full(count, dictionary.encode(IRI(name))) for name in "po")
    none = np.zeros(count, np.int64)
    times = np.array([time * SECOND for time, _ in messages], np.int64)
    batch = Messages(times, none + 1, np.arange(count), none, subject, predicate, target, none)
    return Slab({"s": batch}, through=int(times[-1]), end=end)


def test_answers_are_ids_with_their_evaluation_times():
    dictionary = Dictionary()
    evaluator = ReferenceEvaluator(parse(TEXT), Background(), dictionary)
    answers = evaluator.advance(slab(dictionary, (0, "a"), (1, "b"), (3, "c")))
    found: list[tuple[int, Term]] = [
        (at // SECOND, dictionary.decode(each))
        for at, each in zip(answers.at.tolist(), answers.columns["x"].tolist(), strict=True)
    ]
    assert found == [(1, IRI("a")), (2, IRI("a")), (2, IRI("b")), (3, IRI("b"))]


def test_a_restored_state_goes_on_as_the_one_it_was_taken_from():
    dictionary = Dictionary()
    one = Defined(parse(TEXT), Background(), dictionary)
    one.advance(slab(dictionary, (0, "a"), (1, "b")))
    other = Defined(parse(TEXT), Background(), dictionary)
    other.restore(one.snapshot())
    expected, found = (each.advance(slab(dictionary, (3, "c"), end=True)) for each in (one, other))
    assert found.at.tolist() == expected.at.tolist()
    assert found.columns["x"].tolist() == expected.columns["x"].tolist()
    assert other.snapshot() == one.snapshot()


def test_the_state_of_another_query_is_refused():
    state = Defined(parse(TEXT), Background(), Dictionary()).snapshot()
    other = Defined(parse(TEXT.replace("<s>", "<t>")), Background(), Dictionary())
    with pytest.raises(CheckpointError):
        other.restore(state)
