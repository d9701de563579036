"""Patterns as inputs: those that differ only in the names of variables share their live triples."""

from __future__ import annotations

from timelines import STREAM, batch, messages
from weir.kernel.contract import Background, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.operators.inputs.pattern_inputs import shown
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
