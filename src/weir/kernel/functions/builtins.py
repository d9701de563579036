"""The built-in functions of SPARQL (section 17.4) by name: the one table of what each of them is.

Functions on RDF terms (17.4.2), numerics (17.4.4), dates and times (17.4.5) and hashes (17.4.6) are here,
those on strings in ``strings`` and ``regex``. What depends on more than its arguments (NOW, RAND, BNODE, …)
is in ``scalar``.

A function never makes a malformed term: IRI, STRDT and STRLANG are errors where their texts are not those of
an IRI or a language tag by the grammar. Like an IRI in a query, one may be relative where there is no base.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal

from weir.kernel.functions import regex, strings
from weir.kernel.functions.operators import ExpressionError, number_of
from weir.kernel.functions.strings import characters, simple_text
from weir.language.algebra.expressions import Builtin
from weir.language.syntax.terms import resolve
from weir.rdf.terms import (
    DIRECTIONS,
    IRI,
    RDF_DIRLANGSTRING,
    RDF_LANGSTRING,
    XSD,
    BlankNode,
    Literal,
    Term,
    TripleTerm,
    is_iri_text,
    is_language_tag,
    triple_term,
)
from weir.rdf.xsd import numbers
from weir.rdf.xsd.durations import XSD_DAY_TIME, Duration, duration_literal
from weir.rdf.xsd.moments import XSD_DATE, XSD_DATETIME, XSD_TIME, Moment, zone_text
from weir.rdf.xsd.numbers import XSD_DECIMAL, XSD_INTEGER, Number, decimal_text, literal_of
from weir.rdf.xsd.values import boolean, value_of

# Terms


def _is(kind: type[Term]) -> Callable[[Term], Literal]:
    """isIRI, isBlank, isLiteral, isTRIPLE."""
    return lambda term: boolean(isinstance(term, kind))


def is_numeric(term: Term) -> Literal:
    """isNumeric: a literal of a numeric type with a valid form."""
    return boolean(isinstance(term, Literal) and isinstance(value_of(term), Number))


def same_term(left: Term, right: Term) -> Literal:
    """sameTerm: equality of terms, not of values."""
    return boolean(left == right)


def triple(subject: Term, predicate: Term, object: Term) -> TripleTerm:
    """TRIPLE: an error where the terms make no triple."""
    made = triple_term(subject, predicate, object)
    if made is None:
        raise ExpressionError(f"{subject} {predicate} {object} is not a triple")
    return made


def _place(name: str) -> Callable[[Term], Term]:
    """SUBJECT, PREDICATE, OBJECT of a triple term."""

    def function(term: Term) -> Term:
        if not isinstance(term, TripleTerm):
            raise ExpressionError(f"{term} is not a triple term")
        found: Term = getattr(term, name)
        return found

    return function


def str_(term: Term) -> Literal:
    """STR: the lexical form of a literal, the code points of an IRI."""
    if isinstance(term, BlankNode | TripleTerm):
        raise ExpressionError("STR of a term that is neither an IRI nor a literal")
    return Literal(characters(term.value if isinstance(term, IRI) else term.lexical))


def _of_literal(function: Callable[[Literal], Term]) -> Callable[[Term], Term]:
    """LANG and LANGDIR, empty where there is no tag or no base direction, and DATATYPE."""

    def of(term: Term) -> Term:
        if not isinstance(term, Literal):
            raise ExpressionError(f"{term} is no literal")
        return function(term)

    return of


def has_lang(term: Term) -> Literal:
    """hasLANG: whether there is a language tag, with a direction or without."""
    return boolean(isinstance(term, Literal) and term.language is not None)


def has_langdir(term: Term) -> Literal:
    """hasLANGDIR: whether there is a language tag with a base direction."""
    return boolean(isinstance(term, Literal) and term.direction is not None)


def iri(term: Term, base: Term | None = None) -> IRI:
    """IRI: resolved (RFC 3986, section 5.2) against the query's BASE, which is put there when it is read."""
    if isinstance(term, IRI):
        return term
    reference = simple_text(term)
    resolved = resolve(reference, base.value if isinstance(base, IRI) and base.value else None)
    if not is_iri_text(resolved):
        raise ExpressionError(f"{term} is not the text of an IRI")
    return IRI(resolved)


def strdt(lexical: Term, kind: Term) -> Literal:
    """STRDT; the datatypes of tagged strings need a tag, so they are none to give."""
    if not isinstance(kind, IRI) or kind.value in (RDF_LANGSTRING, RDF_DIRLANGSTRING):
        raise ExpressionError(f"{kind} cannot be the datatype of STRDT")
    return Literal(simple_text(lexical), kind.value)


def strlang(lexical: Term, tag: Term) -> Literal:
    """STRLANG."""
    text, wanted = simple_text(lexical), simple_text(tag)
    if not is_language_tag(wanted):
        raise ExpressionError(f"{tag} is not a language tag")
    return Literal.tagged(text, wanted)


def strlangdir(lexical: Term, tag: Term, direction: Term) -> Literal:
    """STRLANGDIR."""
    wanted = simple_text(direction)
    if wanted not in DIRECTIONS:
        raise ExpressionError(f"{direction} is not a base direction")
    tagged = strlang(lexical, tag)
    return Literal.tagged(tagged.lexical, tagged.language or "", wanted)


def _hash(algorithm: str) -> Callable[[Term], Literal]:
    """MD5, SHA1, SHA256, SHA384, SHA512: hexadecimal digest of the UTF-8 form."""

    def function(term: Term) -> Literal:
        data = simple_text(term).encode()
        return Literal(hashlib.new(algorithm, data, usedforsecurity=False).hexdigest())

    return function


def _numeric(of: Callable[[Number], Number]) -> Callable[[Term], Literal]:
    """ABS, CEIL, FLOOR, ROUND (halves towards positive infinity): of the type of their operand."""
    return lambda operand: literal_of(of(number_of(operand)))


# Dates and times, each part in the zone in which the time is written

_DATED = (XSD_DATETIME, XSD_DATE)
_TIMED = (XSD_DATETIME, XSD_TIME)
_YEARED = (XSD_DATETIME, XSD_DATE, XSD + "gYear", XSD + "gYearMonth")


def _moment(term: Term, datatypes: tuple[str, ...]) -> Moment:
    value = value_of(term) if isinstance(term, Literal) else None
    if not isinstance(value, Moment) or value.datatype not in datatypes:
        raise ExpressionError(f"{term} has no such part")
    return value


def _part(name: str, datatypes: tuple[str, ...]) -> Callable[[Term], Literal]:
    """YEAR, MONTH, DAY, HOURS, MINUTES: an integer."""
    return lambda term: Literal(str(getattr(_moment(term, datatypes), name)), XSD_INTEGER)


def seconds(term: Term) -> Literal:
    """SECONDS, a decimal."""
    return Literal(decimal_text(_moment(term, _TIMED).second), XSD_DECIMAL)


def timezone(term: Term) -> Literal:
    """TIMEZONE as a dayTimeDuration; an error where there is none."""
    zone = _moment(term, (*_DATED, XSD_TIME)).zone
    if zone is None:
        raise ExpressionError(f"{term} has no timezone")
    return duration_literal(Duration(0, Decimal(zone * 60)), XSD_DAY_TIME)


def tz(term: Term) -> Literal:
    """TZ: ``Z``, ``-05:00``, or the empty string."""
    zone = _moment(term, (*_DATED, XSD_TIME)).zone
    assert isinstance(term, Literal)
    if zone is None:
        return Literal("")
    if term.lexical.endswith("Z"):
        return Literal("Z")
    return Literal(zone_text(zone) if zone else term.lexical[-6:])


BUILTINS: dict[Builtin, Callable[..., Term]] = {
    Builtin.STR: str_,
    Builtin.LANG: _of_literal(lambda literal: Literal(literal.language or "")),
    Builtin.LANGMATCHES: strings.langmatches,
    Builtin.DATATYPE: _of_literal(lambda literal: IRI(literal.datatype)),
    Builtin.IRI: iri,
    Builtin.ABS: _numeric(numbers.absolute),
    Builtin.CEIL: _numeric(numbers.ceiling),
    Builtin.FLOOR: _numeric(numbers.floor),
    Builtin.ROUND: _numeric(numbers.round_half_up),
    Builtin.CONCAT: strings.concat,
    Builtin.STRLEN: strings.strlen,
    Builtin.UCASE: strings.ucase,
    Builtin.LCASE: strings.lcase,
    Builtin.ENCODE_FOR_URI: strings.encode_for_uri,
    Builtin.CONTAINS: strings.contains,
    Builtin.STRSTARTS: strings.strstarts,
    Builtin.STRENDS: strings.strends,
    Builtin.STRBEFORE: strings.strbefore,
    Builtin.STRAFTER: strings.strafter,
    Builtin.YEAR: _part("year", _YEARED),
    Builtin.MONTH: _part("month", _DATED),
    Builtin.DAY: _part("day", _DATED),
    Builtin.HOURS: _part("hour", _TIMED),
    Builtin.MINUTES: _part("minute", _TIMED),
    Builtin.SECONDS: seconds,
    Builtin.TIMEZONE: timezone,
    Builtin.TZ: tz,
    Builtin.MD5: _hash("md5"),
    Builtin.SHA1: _hash("sha1"),
    Builtin.SHA256: _hash("sha256"),
    Builtin.SHA384: _hash("sha384"),
    Builtin.SHA512: _hash("sha512"),
    Builtin.STRLANG: strlang,
    Builtin.STRDT: strdt,
    Builtin.STRLANGDIR: strlangdir,
    Builtin.LANGDIR: _of_literal(lambda literal: Literal(literal.direction or "")),
    Builtin.HASLANG: has_lang,
    Builtin.HASLANGDIR: has_langdir,
    Builtin.TRIPLE: triple,
    Builtin.SUBJECT: _place("subject"),
    Builtin.PREDICATE: _place("predicate"),
    Builtin.OBJECT: _place("object"),
    Builtin.ISTRIPLE: _is(TripleTerm),
    Builtin.SAMETERM: same_term,
    Builtin.ISIRI: _is(IRI),
    Builtin.ISBLANK: _is(BlankNode),
    Builtin.ISLITERAL: _is(Literal),
    Builtin.ISNUMERIC: is_numeric,
    Builtin.REGEX: regex.regex,
    Builtin.SUBSTR: strings.substr,
    Builtin.REPLACE: regex.replace,
}
"""Every built-in that depends on nothing but its arguments."""
