"""REGEX and REPLACE: XPath's syntax, in linear time whatever strangers write."""

from __future__ import annotations

import time

import pytest

from weir.kernel.functions import ExpressionError
from weir.kernel.functions.regex import regex, replace, translate
from weir.rdf.terms import Literal
from weir.rdf.xsd.values import TRUE


def matches(text: str, pattern: str, flags: str | None = None) -> bool:
    return regex(Literal(text), Literal(pattern), None if flags is None else Literal(flags)) == TRUE


def replaced(text: str, pattern: str, by: str, flags: str | None = None) -> str:
    found = replace(Literal(text), Literal(pattern), Literal(by), None if flags is None else Literal(flags))
    return found.lexical


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "expected"),
    [
        ("hello", "ell", None, True),
        ("hello", "^ell", None, False),
        ("hello\n", "hello$", None, False),
        ("a\nb", "^b$", "m", True),
        ("a\nb", "a.b", None, False),
        ("a\nb", "a.b", "s", True),
        ("HELLO", "hel+o", "i", True),
        ("ÄRGER", "ärger", "i", True),
        ("hello world", "hello  world", "x", False),
        ("helloworld", "hello world", "x", True),
        ("a b", "a[ ]b", "x", True),
        ("a.b", "a.b", "q", True),
        ("axb", "a.b", "q", False),
        ("A+B", "a+b", "qi", True),
        ("b", "[a-z-[aeiou]]", None, True),
        ("e", "[a-z-[aeiou]]", None, False),
        ("٣", r"\d", None, True),
        ("_", r"\w", None, False),
        ("a", r"\i", None, True),
        ("1", r"\i", None, False),
        ("1", r"\c", None, True),
        ("é", r"\p{Ll}", None, True),
        ("é", r"\P{L}", None, False),
        ("aaa", "^a{2,3}$", None, True),
        ("a-b", "a[-]b", None, True),
        ("x&y", "[&~#]", None, True),
        ("cat dog", r"\bdog\b", None, True),
        ("", "", None, True),
        ("ab", "(?:ab)+", None, True),
        ("a|b", r"\|", None, True),
        ("xyz", "a|z", None, True),
        ("1.5", r"^\d+\.\d$", None, True),
    ],
)
def test_regex(text: str, pattern: str, flags: str | None, expected: bool) -> None:
    assert matches(text, pattern, flags) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "[",
        "a)",
        "*a",
        "a**",
        "a|*",
        "(?=a)",
        "(?P<n>a)",
        r"(a)\1",
        r"\z",
        "a{",
        "]",
        "[]",
        "[z-a]",
        r"\p{Xx}",
    ],
)
def test_bad_patterns(pattern: str) -> None:
    with pytest.raises(ExpressionError):
        matches("abc", pattern)


def test_bad_flags() -> None:
    with pytest.raises(ExpressionError):
        matches("abc", "a", "g")


@pytest.mark.parametrize(
    ("text", "pattern", "by", "flags", "expected"),
    [
        ("abracadabra", "bra", "*", None, "a*cada*"),
        ("abracadabra", "a.*?a", "*", None, "*c*bra"),
        ("abracadabra", "a(.)", "a$1$1", None, "abbraccaddabbra"),
        ("abc", "(b)", "[$0]", None, "a[b]c"),
        ("abc", "b", r"\$\\", None, "a$\\c"),
        ("abc", "(b)", "$12", None, "ab2c"),
        ("abc", "b", "$1", None, "ac"),
        ("abc", "b", "$05", None, "ac"),
        ("abc", "(b)", "$" + "0" * 5_000 + "1", None, "abc"),
        ("abc", "(b)", "$" + "1" * 5_000, None, "ab" + "1" * 4_999 + "c"),
        ("aXbx", "x", "-", "i", "a-b-"),
        ("a.b", ".", "$1", "q", "a$1b"),
        ("AAAA", "A+", "b", None, "b"),
    ],
)
def test_replace(text: str, pattern: str, by: str, flags: str | None, expected: str) -> None:
    assert replaced(text, pattern, by, flags) == expected


@pytest.mark.parametrize(("pattern", "by"), [("a*", "x"), ("", "x"), ("b", "$"), ("b", "\\n")])
def test_bad_replacements(pattern: str, by: str) -> None:
    with pytest.raises(ExpressionError):
        replaced("abc", pattern, by)


def test_replacements_do_not_explode() -> None:
    with pytest.raises(ExpressionError):
        replaced("a" * 500_000, "a", "b" * 500_000)
    with pytest.raises(ExpressionError):
        replaced("a" * 500_000, "(.*a)", "$1" * 1_000)
    assert replaced("a" * 500_000, "a+", "b" * 500) == "b" * 500


def test_replace_keeps_the_tag() -> None:
    assert replace(Literal.tagged("abc", "en"), Literal("b"), Literal("x")) == Literal.tagged("axc", "en")


@pytest.mark.parametrize(
    "pattern", ["(a*)*b", "(a|a)*b", "(a+)+b", "a*a*a*a*a*a*a*a*b", "(a|a)" * 30 + "b", "(.*)(.*)(.*)(.*)x"]
)
def test_no_pattern_runs_away(pattern: str) -> None:
    started = time.perf_counter()
    assert not matches("a" * 50_000, pattern)
    assert time.perf_counter() - started < 5


def test_huge_patterns_are_refused() -> None:
    with pytest.raises(ExpressionError):
        matches("a", "a" * 5_000)
    with pytest.raises(ExpressionError):
        matches("a", "((a{1000}){1000}){1000}")


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("abc", 3),
        ("a{20}", 20),
        ("(a[bc]{2,5}){10}", 60),
        ("(a{9999}){9999}", 9999 * 9999),
        (r"\p{L}{3,}", 4),
        ("a{0}", 2),
        ("a*", 2),
    ],
)
def test_sizes_have_repetitions_written_out(pattern: str, size: int) -> None:
    assert translate(pattern).size == size


def test_large_patterns_are_for_short_texts() -> None:
    assert matches("a" * 3_000 + "b", "a{0,9999}b")
    with pytest.raises(ExpressionError):
        matches("a" * 100_000, "a{0,9999}b")
    with pytest.raises(ExpressionError):
        replaced("a" * 100_000, "a{1,9999}b", "x")


def test_what_cannot_be_compiled_is_tried_once() -> None:
    assert translate("(a{9999}){9999}").error is not None
    with pytest.raises(ExpressionError):
        matches("a", "(a{9999}){9999}")
