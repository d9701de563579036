"""Addresses of fragments taken apart: patterns, pages, instants, bindings."""

from __future__ import annotations

from urllib.parse import quote, unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fragments_kit import EX, SECOND, T0
from weir.errors import UsageError
from weir.fragments.protocol.annotation import Annotation, Labeling, Method, time_lexical
from weir.fragments.server.dataset import Dataset, Limits
from weir.fragments.server.request import TooLarge, decoded, parse_request, parse_values, restrict, safe
from weir.rdf.terms import Variable

HISTORY = Dataset("d", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))


def test_a_pattern_and_its_page() -> None:
    request = parse_request(f"subject={EX}s&object=%22x%22%40en&page=3", Dataset("d"), T0)
    assert request.patterns == ((f"<{EX}s>", None, '"x"@en', None),)
    assert request.page == 3 and request.fragment == f"subject={EX}s&object=%22x%22%40en"
    assert request.predicate is None and not request.fixed


def test_variables_and_blank_nodes_match_anything() -> None:
    request = parse_request("subject=%3Fs&object=_:b&graph=urn:ldf:defaultGraph", Dataset("d"), T0)
    assert request.patterns == ((None, None, None, ""),)


def test_an_instant() -> None:
    assert parse_request("at=now", HISTORY, T0).instant == T0
    fixed = parse_request(f"at={time_lexical(T0 + SECOND)}", HISTORY, T0)
    assert fixed.instant == T0 + SECOND and fixed.fixed
    with pytest.raises(UsageError, match="keeps no history"):
        parse_request("at=now", Dataset("d"), T0)


@pytest.mark.parametrize("query", ["page=0", "page=x", "subject=a%20b", "at=yesterday", "values=nonsense"])
def test_what_is_malformed(query: str) -> None:
    with pytest.raises(UsageError):
        parse_request(query, HISTORY, T0)


def test_what_is_too_large() -> None:
    small = Dataset("d", limits=Limits(query_string=50, term=10))
    for query in ("x=" + "y" * 60, "subject=http://long.example.org/"):
        with pytest.raises(TooLarge) as caught:
            parse_request(query, small, T0)
        assert caught.value.status == 414


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('(?s ?o) { (<a:s> "x"@EN) (UNDEF 5) }', 2),
        ("?s { <a:s> <a:t> }", 2),
        ("(?s) { }", 0),
    ],
)
def test_values(text: str, rows: int) -> None:
    found = parse_values(text, 10)
    assert len(found) == rows
    if "?o" in text:
        assert found[0] == {"s": "<a:s>", "o": '"x"@en'}
        assert found[1] == {"o": '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'}


_texts = st.sampled_from(
    [
        "<a:s>",
        "<http://e/x?y=1#z>",
        "UNDEF",
        '"x"',
        '"a (b) ) <c>"',
        '"x"@en-gb',
        '"x"@EN',
        "5",
        '"é"',
        '"a\\"b"',
        "<s>",
    ]
)


@given(st.lists(st.lists(_texts, min_size=2, max_size=2), max_size=4))
def test_values_written_plainly_mean_what_the_parser_says(rows: list[list[str]]) -> None:
    text = "(?s ?o) { " + "".join(f"({' '.join(row)}) " for row in rows) + "}"

    def found(text: str) -> object:
        try:
            return parse_values(text, 10)
        except UsageError:
            return None

    # A line break between the tokens is no plain way of writing: it goes through the parser.
    assert found(text) == found(text.replace("{ ", "{\n"))


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "() { }", "(?s) { (<a:s> <a:t>) }", "?s { <a:s> } ?x ?y ?z", "?s { <a:s> <a:t> <a:u> }"],
)
def test_malformed_values(text: str) -> None:
    with pytest.raises(UsageError):
        parse_values(text, 2)


def test_bindings_make_patterns_that_overlap_or_not() -> None:
    places = (Variable("s"), "<a:p>", Variable("o"), None)
    assert restrict(places, [{"s": "<a:s>"}, {"s": "<a:t>"}, {"s": "<a:s>"}]) == (
        (("<a:s>", "<a:p>", None, None), ("<a:t>", "<a:p>", None, None)),
        False,
    )
    assert restrict(places, [{"s": "<a:s>"}, {"s": "<a:s>", "o": '"x"'}])[0] == (
        ("<a:s>", "<a:p>", None, None),
    )
    assert restrict(places, [{"s": "<a:s>"}, {"o": '"x"'}])[1]


def test_a_safe_query_string_means_the_same() -> None:
    assert safe('object="é x"') == "object=%22%C3%A9%20x%22"


@given(st.text(st.sampled_from("%aF3é+ \x00\x7f☃<2zA"), max_size=12), st.booleans())
def test_values_are_decoded_as_the_standard_library_does(text: str, encoded: bool) -> None:
    value = quote(text) if encoded else text
    assert decoded(value) == unquote_plus(value)
