"""Terms: their canonical texts and their JSON say the same, and both are read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Variable, json_term, parse_term, term_of_json

TERMS = st.one_of(
    st.text(alphabet="abc:/é", min_size=1).map(IRI),
    st.text(alphabet="abc1", min_size=1).map(BlankNode),
    st.text().map(Literal),
    st.builds(lambda text, tag: Literal.tagged(text, tag), st.text(), st.sampled_from(["en", "DE-at"])),
    st.builds(lambda text, name: Literal(text, XSD + name), st.text(), st.sampled_from(["integer", "date"])),
)


def test_terms_print_and_parse() -> None:
    for term in [IRI("a"), BlankNode("b"), Literal('x"\\\n\r\t'), Literal.tagged("chat", "EN")]:
        assert parse_term(str(term)) == term


@given(TERMS)
def test_every_term_comes_back_from_its_text(term: Term) -> None:
    assert parse_term(str(term)) == term


@given(TERMS)
def test_every_term_comes_back_from_its_json(term: Term) -> None:
    assert term_of_json(json_term(term)) == term


def test_a_plain_string_has_no_datatype_in_json() -> None:
    assert json_term(Literal("x")) == {"type": "literal", "value": "x"}


@pytest.mark.parametrize(
    "value", [{"type": "triple", "value": "x"}, {"type": "uri", "value": 1}, {"type": "uri"}]
)
def test_what_is_no_term_is_refused(value: dict[str, object]) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        term_of_json(value)


def test_names_that_no_query_can_write_are_internal() -> None:
    assert Variable(".path").internal and not Variable("path").internal
