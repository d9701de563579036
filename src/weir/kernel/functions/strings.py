"""Functions on strings (section 17.4.3). A *string literal* is a simple or a language-tagged one.

A lone surrogate is no character: a string with one is an error wherever a function reads it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from urllib.parse import quote

from weir.kernel.functions.operators import ExpressionError, number_of
from weir.rdf.terms import XSD_STRING, Literal, Term, is_unicode
from weir.rdf.xsd.numbers import XSD_INTEGER, Number, NumericKind, round_half_up, to_double
from weir.rdf.xsd.values import boolean

MAX_LENGTH = 1_048_576
"""The longest string that a function makes: queries come from strangers."""


def string_literal(term: Term) -> Literal:
    """The term, if it is a string literal; else an error."""
    if isinstance(term, Literal) and (term.datatype == XSD_STRING or term.language is not None):
        characters(term.lexical)
        return term
    raise ExpressionError(f"{term} is not a string literal")


def simple_text(term: Term) -> str:
    """The lexical form of a simple literal; else an error."""
    if isinstance(term, Literal) and term.datatype == XSD_STRING:
        return characters(term.lexical)
    raise ExpressionError(f"{term} is not a simple literal")


def characters(text: str) -> str:
    """The text, if all of it are characters; an error where a surrogate stands alone."""
    if not is_unicode(text):
        raise ExpressionError("a string with a lone surrogate")
    return text


def like(pattern: Literal, lexical: str) -> Literal:
    """A string literal of the kind of ``pattern``."""
    bounded(len(lexical))
    return Literal(lexical, pattern.datatype, pattern.language, pattern.direction)


def bounded(length: int) -> None:
    """An error where a string of this length is too long to be made."""
    if length > MAX_LENGTH:
        raise ExpressionError("a string of too many characters")


def _compatible(first: Term, second: Term) -> tuple[Literal, str]:
    """Argument compatibility (17.4.3.1.2): the second is simple, or has the tag of the first."""
    a, b = string_literal(first), string_literal(second)
    if b.language is not None and (a.language, a.direction) != (b.language, b.direction):
        raise ExpressionError(f"{a} and {b} are not compatible strings")
    return a, b.lexical


def strlen(text: Term) -> Literal:
    """STRLEN in characters."""
    return Literal(str(len(string_literal(text).lexical)), XSD_INTEGER)


def substr(text: Term, start: Term, length: Term | None = None) -> Literal:
    """SUBSTR is fn:substring: the characters whose place p, from 1, has round(start) ≤ p < round(start) +
    round(length), all computed as doubles; NaN gives the empty string."""
    source = string_literal(text)
    first = _rounded(number_of(start))
    last = math.inf if length is None else first + _rounded(number_of(length))
    if first != first or last != last:
        return like(source, "")
    begin = max(first, 1) - 1
    if begin >= len(source.lexical) or last <= 1:
        return like(source, "")
    end = len(source.lexical) if math.isinf(last) else int(last) - 1
    return like(source, source.lexical[int(begin) : end])


def _rounded(number: Number) -> float:
    return to_double(round_half_up(Number(NumericKind.DOUBLE, to_double(number.value))).value)


def _cased(change: Callable[[str], str]) -> Callable[[Term], Literal]:
    """UCASE and LCASE."""

    def function(text: Term) -> Literal:
        source = string_literal(text)
        return like(source, change(source.lexical))

    return function


ucase, lcase = _cased(str.upper), _cased(str.lower)


def _tested(test: Callable[[str, str], bool]) -> Callable[[Term, Term], Literal]:
    """STRSTARTS, STRENDS and CONTAINS: whether the test holds of the text and the part."""

    def function(text: Term, part: Term) -> Literal:
        source, sought = _compatible(text, part)
        return boolean(test(source.lexical, sought))

    return function


strstarts, strends, contains = _tested(str.startswith), _tested(str.endswith), _tested(str.__contains__)


def strbefore(text: Term, part: Term) -> Literal:
    """STRBEFORE: the simple empty string where ``part`` does not occur."""
    source, sought = _compatible(text, part)
    place = source.lexical.find(sought)
    return Literal("") if place < 0 else like(source, source.lexical[:place])


def strafter(text: Term, part: Term) -> Literal:
    """STRAFTER: the simple empty string where ``part`` does not occur."""
    source, sought = _compatible(text, part)
    place = source.lexical.find(sought)
    return Literal("") if place < 0 else like(source, source.lexical[place + len(sought) :])


def concat(*parts: Term) -> Literal:
    """CONCAT: keeps a language tag and a base direction that all arguments share."""
    literals = [string_literal(part) for part in parts]
    bounded(sum(len(literal.lexical) for literal in literals))
    joined = "".join(literal.lexical for literal in literals)
    kinds = {Literal("", literal.datatype, literal.language, literal.direction) for literal in literals}
    return like(kinds.pop() if len(kinds) == 1 else Literal(""), joined)


def encode_for_uri(text: Term) -> Literal:
    """ENCODE_FOR_URI: everything but unreserved characters is percent-encoded."""
    return like(Literal(""), quote(string_literal(text).lexical, safe="-_.~"))


def langmatches(tag: Term, pattern: Term) -> Literal:
    """LANGMATCHES: basic filtering (RFC 4647, section 3.3.1)."""
    language, wanted = simple_text(tag).lower(), simple_text(pattern).lower()
    if wanted == "*":
        return boolean(bool(language))
    return boolean(language == wanted or language.startswith(wanted + "-"))
