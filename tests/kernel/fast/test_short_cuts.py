"""Which short cuts a query can take, and that one which declines leaves the answer to the others."""

from __future__ import annotations

from array import array

import pytest

from timelines import batch
from weir.kernel.contract import Background, Slab
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.fast.short_cuts import NothingThere, plain_form
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


PATTERN = "WHERE { STREAM <urn:s> [NOW] { ?x <urn:p> ?y } }"


def plain(form: str, safe: tuple[str, ...] = ("x",)):  # type: ignore[no-untyped-def]
    dictionary = Dictionary()
    return plain_form(parse(f"{form} {PATTERN}", "cqels"), Terms(dictionary), frozenset(safe)), dictionary


def test_select_lists_every_solution() -> None:
    form, _ = plain("SELECT ?y ?x")
    assert form is not None and form.wanted == ("y", "x")
    answers = form.answers([array("q", [4, 4]), 7], 2)
    assert {name: column.tolist() for name, column in answers.items()} == {"y": [4, 4], "x": [7, 7]}


def test_construct_gives_each_triple_once() -> None:
    form, dictionary = plain("CONSTRUCT { ?x <urn:q> ?y }")
    assert form is not None
    answers = form.answers([7, array("q", [5, 4, 5])], 3)
    q = dictionary.encode(IRI("urn:q"))
    assert [answers[name].tolist() for name in form.columns] == [[7, 7], [q, q], [4, 5]]


@pytest.mark.parametrize(
    ("form", "safe"),
    [
        ("CONSTRUCT { ?y <urn:q> ?x }", ("x",)),
        ("CONSTRUCT { ?x ?x ?y }", ("x",)),
        ("CONSTRUCT { [] <urn:q> ?y }", ("x",)),
        ("CONSTRUCT { ?x <urn:q> ?y . ?x <urn:r> ?y }", ("x",)),
        ("ASK", ("x",)),
    ],
)
def test_what_has_to_be_looked_at_is_declined(form: str, safe: tuple[str, ...]) -> None:
    assert plain(form, safe)[0] is None
