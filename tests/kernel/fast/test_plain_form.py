"""Forms whose answers are made straight from columns."""

from __future__ import annotations

from array import array

import pytest

from weir.kernel.expressions.term_cache import Terms
from weir.kernel.fast.plain_form import plain_form
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

PATTERN = "WHERE { STREAM <urn:s> [NOW] { ?x <urn:p> ?y } }"


def made(form: str, safe: tuple[str, ...] = ("x",)):  # type: ignore[no-untyped-def]
    dictionary = Dictionary()
    return plain_form(parse(f"{form} {PATTERN}", "cqels"), Terms(dictionary), frozenset(safe)), dictionary


def test_select_lists_every_solution() -> None:
    form, _ = made("SELECT ?y ?x")
    assert form is not None and form.wanted == ("y", "x")
    answers = form.answers([array("q", [4, 4]), 7], 2)
    assert {name: column.tolist() for name, column in answers.items()} == {"y": [4, 4], "x": [7, 7]}


def test_construct_gives_each_triple_once() -> None:
    form, dictionary = made("CONSTRUCT { ?x <urn:q> ?y }")
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
    assert made(form, safe)[0] is None
