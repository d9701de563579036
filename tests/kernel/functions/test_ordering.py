"""The canonical order of terms and ORDER BY's."""

from __future__ import annotations

import itertools
import os

from hypothesis import given, settings
from hypothesis import strategies as st

from weir.kernel.functions.ordering import canonical_key, extreme, order_key, solution_key, sort_solutions
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term

EXAMPLES = int(100 * float(os.environ.get("WEIR_EXAMPLES", "1")))


def typed(lexical: str, name: str) -> Literal:
    return Literal(lexical, XSD + name)


IN_ORDER: list[Term | None] = [
    None,
    BlankNode("x"),
    IRI("http://a"),
    IRI("http://b"),
    typed("NaN", "double"),
    typed("-INF", "double"),
    typed("-1", "integer"),
    typed("0.2", "decimal"),
    typed("0.2", "double"),
    typed("3", "byte"),
    typed("9007199254740992", "double"),
    typed("9007199254740993", "integer"),
    Literal("A"),
    Literal("a"),
    Literal.tagged("a", "de"),
    Literal.tagged("a", "en"),
    typed("false", "boolean"),
    typed("true", "boolean"),
    typed("2024-01-01T00:00:00", "dateTime"),
    typed("2024-01-01T00:00:00-01:00", "dateTime"),
    typed("2024-01-01", "date"),
    typed("00:00:00", "time"),
    typed("2024", "gYear"),
    typed("---01", "gDay"),
    typed("PT1H", "duration"),
    typed("P1M", "duration"),
    typed("rubbish", "integer"),
    Literal("x", "urn:t"),
]


def test_order_by() -> None:
    keys = [order_key(term) for term in IN_ORDER]
    for left, right in itertools.pairwise(keys):
        assert left < right


def test_values_that_compare_equal_tie() -> None:
    ones = [typed("1", "integer"), typed("1.0", "decimal"), typed("01", "int"), typed("1E0", "double")]
    assert len({order_key(one) for one in ones}) == 1
    assert order_key(BlankNode("a")) == order_key(BlankNode("b"))


TERMS = st.sampled_from([term for term in IN_ORDER if term is not None])


@given(st.lists(TERMS, max_size=8), st.randoms())
@settings(max_examples=EXAMPLES)
def test_the_canonical_order_is_total(terms: list[Term], chance: object) -> None:
    for left, right in itertools.product(terms, repeat=2):
        assert (canonical_key(left) == canonical_key(right)) == (left == right)


def test_the_canonical_order() -> None:
    terms: list[Term | None] = [
        None,
        BlankNode("z"),
        IRI("http://b"),
        typed("10", "integer"),
        typed("9", "integer"),
    ]
    assert sorted([*terms[3:], *terms[:3]], key=canonical_key) == terms


def test_extremes_resolve_ties_canonically() -> None:
    ones = [typed("1.0", "decimal"), typed("01", "integer"), typed("1", "integer")]
    assert extreme(ones, greatest=False) == extreme(ones, greatest=True) == typed("01", "integer")
    assert extreme([typed("2", "integer"), *ones], greatest=True) == typed("2", "integer")
    assert extreme([], greatest=True) is None


def test_sorting_by_several_keys() -> None:
    rows = [
        {"a": typed("1", "integer"), "b": Literal("x")},
        {"a": typed("2", "integer"), "b": Literal("x")},
        {"b": Literal("y")},
        {"a": typed("01", "integer"), "b": Literal("x")},
    ]
    by_b = (lambda row: row.get("b"), True)
    by_a = (lambda row: row.get("a"), False)
    found = sort_solutions(rows, [by_b, by_a], ("a", "b"))
    assert found == [rows[2], rows[3], rows[0], rows[1]]


def test_solutions_are_ordered_by_the_names_of_their_variables() -> None:
    first, second = {"a": Literal("1"), "b": Literal("2")}, {"a": Literal("2")}
    assert solution_key(first, ("a", "b")) < solution_key(second, ("a", "b"))
    assert solution_key(second, ("b",)) < solution_key(first, ("b",))
