"""Terms: their canonical texts and their JSON say the same, and both are read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.rdf.terms import (
    IRI,
    XSD,
    BlankNode,
    Literal,
    Term,
    TripleTerm,
    Variable,
    blank_labels,
    is_iri_text,
    is_language_tag,
    is_unicode,
    json_term,
    parse_term,
    relabelled_text,
    term_of_json,
    triple_term,
)

SIMPLE: st.SearchStrategy[Term] = st.one_of(
    st.text(alphabet="abc:/é", min_size=1).map(IRI),
    st.text(alphabet="abc1", min_size=1).map(BlankNode),
    st.text().map(Literal),
    st.builds(Literal.tagged, st.text(), st.sampled_from(["en", "DE-at"]), st.sampled_from([None, "rtl"])),
    st.builds(lambda text, name: Literal(text, XSD + name), st.text(), st.sampled_from(["integer", "date"])),
)
SUBJECTS = st.sampled_from([IRI("http://e/a"), BlankNode("b")])
TERMS = st.recursive(SIMPLE, lambda inner: st.builds(TripleTerm, SUBJECTS, st.just(IRI("http://e/p")), inner))


def test_a_triple_term_is_one_term() -> None:
    inner = TripleTerm(BlankNode("a"), IRI("http://e/p"), Literal("x <<( _:b )>>"))
    text = '<<( <http://e/a> <http://e/p> <<( _:a <http://e/p> "x <<( _:b )>>" )>> )>>'
    assert str(TripleTerm(IRI("http://e/a"), IRI("http://e/p"), inner)) == text
    assert blank_labels(text) == ["a"]
    assert relabelled_text(text, str.upper) == text.replace("_:a", "_:A")


def test_what_makes_no_triple_term() -> None:
    assert triple_term(Literal("a"), IRI("http://e/p"), IRI("http://e/o")) is None
    assert triple_term(IRI("http://e/s"), BlankNode("p"), IRI("http://e/o")) is None
    assert triple_term(IRI("http://e/s"), IRI("http://e/p"), None) is None


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
    "value",
    [
        {"type": "triple", "value": "x"},
        {"type": "uri", "value": 1},
        {"type": "uri"},
        {"type": "literal", "value": "\ud800"},
    ],
)
def test_what_is_no_term_is_refused(value: dict[str, object]) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        term_of_json(value)


def test_names_that_no_query_can_write_are_internal() -> None:
    assert Variable(".path").internal and not Variable("path").internal


def test_parts_of_terms_by_the_grammar() -> None:
    assert all(map(is_iri_text, ["", "a", "http://a/é%20#x", "../b"]))
    assert not any(map(is_iri_text, ["a b", "<", ">", '"', "{", "}", "|", "^", "`", "\\", "\n", "\ud800"]))
    assert all(map(is_language_tag, ["en", "EN-gb", "x-1a2"]))
    assert not any(map(is_language_tag, ["", "1", "en-", "-en", "en_GB", "a b", "en\n", "é"]))
    assert is_unicode("é\U0001f600") and not is_unicode("é\ud83d")
