"""Which short cuts a query can take, and that one which declines leaves the answer to the others."""

from __future__ import annotations

import pytest

from timelines import batch
from weir.kernel.contract import Background, Slab
from weir.kernel.fast import NothingThere
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import Message
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

JOIN = "STREAM <urn:s> [NOW] { ?x <urn:p> ?l } STREAM <urn:s> [RANGE 3s] { ?y <urn:q> ?l }"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"SELECT ?x ?y WHERE {{ {JOIN} }}", ["NothingThere", "SingleMessage"]),
        (
            f"CONSTRUCT {{ ?x <urn:r> ?y }} WHERE {{ {JOIN} }}",
            ["NothingThere", "SingleMessage", "DistinctJoin"],
        ),
        (f"SELECT ?x ?y WHERE {{ {JOIN} FILTER(?x != ?y) }}", ["NothingThere"]),
        (f"ASK {{ {JOIN} }}", []),
    ],
)
def test_the_short_cuts_of_a_query(text: str, names: list[str]) -> None:
    made = IntervalEvaluator(parse(text, "cqels"), Background(), Dictionary())
    assert [type(each).__name__ for each in made._short_cuts] == names


def test_evaluations_are_skipped_while_a_needed_window_is_empty() -> None:
    dictionary = Dictionary()
    made = IntervalEvaluator(parse(f"SELECT ?x ?y WHERE {{ {JOIN} }}", "cqels"), Background(), dictionary)
    for time in range(5):
        message = Message(time * 1_000_000, ((IRI("urn:a"), IRI("urn:p"), IRI("urn:l"), None),))
        answers = made.advance(Slab({"urn:s": batch([message], dictionary)}, time * 1_000_000 + 1))
        assert not len(answers.at)
    (first, *_) = made._short_cuts
    assert isinstance(first, NothingThere) and first.skipped == 5
    assert made.statistics()["evaluations"] == 5
