"""String functions: language tags, compatibility of arguments, places and lengths."""

from __future__ import annotations

import pytest

from weir.kernel.functions import ExpressionError, strings
from weir.rdf.terms import IRI, XSD, Literal
from weir.rdf.xsd.values import boolean


def tagged(text: str, language: str = "en") -> Literal:
    return Literal.tagged(text, language)


def number(lexical: str, name: str = "integer") -> Literal:
    return Literal(lexical, XSD + name)


def test_strlen_counts_characters() -> None:
    assert strings.strlen(Literal("näi😀")) == number("4")


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        ("1", None, "foobar"),
        ("4", None, "bar"),
        ("4", "1", "b"),
        ("0", "3", "fo"),
        ("-1", "3", "f"),
        ("7", None, ""),
        ("2", "-1", ""),
        ("1", "100", "foobar"),
    ],
)
def test_substr(start: str, length: str | None, expected: str) -> None:
    bound = None if length is None else number(length)
    assert strings.substr(tagged("foobar"), number(start), bound) == tagged(expected)


def test_substr_rounds_doubles() -> None:
    assert strings.substr(Literal("12345"), number("1.5", "decimal"), number("2.6", "decimal")) == Literal(
        "234"
    )
    assert strings.substr(Literal("12345"), number("NaN", "double")) == Literal("")
    assert strings.substr(Literal("12345"), number("-INF", "double"), number("INF", "double")) == Literal("")
    assert strings.substr(Literal("12345"), number("-42", "double"), number("INF", "double")) == Literal(
        "12345"
    )


def test_before_and_after_keep_the_tag() -> None:
    assert strings.strbefore(tagged("abc"), Literal("b")) == tagged("a")
    assert strings.strafter(tagged("abc"), tagged("b")) == tagged("c")
    assert strings.strbefore(tagged("abc"), Literal("x")) == Literal("")
    assert strings.strbefore(tagged("abc"), Literal("")) == tagged("")
    assert strings.strafter(tagged("abc"), Literal("")) == tagged("abc")


def test_incompatible_arguments() -> None:
    for function in (strings.strbefore, strings.contains, strings.strstarts, strings.strends):
        with pytest.raises(ExpressionError):
            function(Literal("abc"), tagged("a"))
        with pytest.raises(ExpressionError):
            function(tagged("abc", "fr"), tagged("a"))
        with pytest.raises(ExpressionError):
            function(number("1"), Literal("1"))


def test_concat_keeps_a_common_tag() -> None:
    assert strings.concat(tagged("a"), tagged("b")) == tagged("ab")
    assert strings.concat(tagged("a"), Literal("b")) == Literal("ab")
    assert strings.concat(tagged("a"), tagged("b", "fr")) == Literal("ab")
    assert strings.concat() == Literal("")
    with pytest.raises(ExpressionError):
        strings.concat(number("1"))


def test_made_strings_are_bounded() -> None:
    long = Literal("x" * 600_000)
    with pytest.raises(ExpressionError):
        strings.concat(long, long)


def test_encode_for_uri() -> None:
    assert strings.encode_for_uri(tagged("a/ü~-_.b c")) == Literal("a%2F%C3%BC~-_.b%20c")


@pytest.mark.parametrize(
    ("tag", "wanted", "expected"),
    [
        ("en-GB", "EN", True),
        ("en", "en-GB", False),
        ("english", "en", False),
        ("de", "*", True),
        ("", "*", False),
    ],
)
def test_langmatches(tag: str, wanted: str, expected: bool) -> None:
    assert strings.langmatches(Literal(tag), Literal(wanted)) == boolean(expected)


def test_only_strings() -> None:
    for function in (strings.strlen, strings.ucase, strings.lcase, strings.encode_for_uri):
        with pytest.raises(ExpressionError):
            function(IRI("a"))


def test_substr_takes_any_number() -> None:
    huge, small = number("9" * 400), number("-" + "9" * 400)
    for start, length, expected in [
        (huge, None, ""),
        (small, None, "12345"),
        (small, huge, ""),
        (number("2"), huge, "2345"),
        (number("INF", "double"), None, ""),
        (number("-INF", "double"), None, "12345"),
        (number("1"), number("NaN", "double"), ""),
        (number("1"), small, ""),
        (number("0.5", "double"), number("1.5", "double"), "12"),
        (number("0"), number("3"), "12"),
    ]:
        assert strings.substr(Literal("12345"), start, length) == Literal(expected)


def test_a_lone_surrogate_is_no_character() -> None:
    for function in (strings.strlen, strings.ucase, strings.encode_for_uri, strings.concat):
        with pytest.raises(ExpressionError):
            function(Literal("a\ud800"))


def test_concat_does_not_make_what_is_too_long() -> None:
    part = Literal("a" * strings.MAX_LENGTH)
    assert strings.concat(part) == part
    with pytest.raises(ExpressionError):
        strings.concat(*[part] * 100_000)
