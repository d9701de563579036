"""Functions on RDF terms (section 17.4.2), numerics (17.4.4), dates and times (17.4.5), and hashes (17.4.6).

Functions on strings are in ``strings`` and ``regex``, those that make new terms in ``draws``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal
from urllib.parse import urljoin, urlsplit

from weir.kernel.functions.operators import ExpressionError
from weir.kernel.functions.strings import simple_text
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from weir.rdf.xsd.durations import XSD_DAY_TIME, Duration, duration_literal
from weir.rdf.xsd.moments import XSD_DATE, XSD_DATETIME, XSD_TIME, Moment, zone_text
from weir.rdf.xsd.numbers import XSD_DECIMAL, XSD_INTEGER, Number, decimal_text
from weir.rdf.xsd.values import boolean, value_of


def is_iri(term: Term) -> Literal:
    """isIRI."""
    return boolean(isinstance(term, IRI))


def is_blank(term: Term) -> Literal:
    """isBlank."""
    return boolean(isinstance(term, BlankNode))


def is_literal(term: Term) -> Literal:
    """isLiteral."""
    return boolean(isinstance(term, Literal))


def is_numeric(term: Term) -> Literal:
    """isNumeric: a literal of a numeric type with a valid form."""
    return boolean(isinstance(term, Literal) and isinstance(value_of(term), Number))


def same_term(left: Term, right: Term) -> Literal:
    """sameTerm: equality of terms, not of values."""
    return boolean(left == right)


def text_of(term: Term) -> Literal:
    """STR: the lexical form of a literal, the code points of an IRI."""
    if isinstance(term, BlankNode):
        raise ExpressionError("STR of a blank node")
    return Literal(term.value if isinstance(term, IRI) else term.lexical)


def language(term: Term) -> Literal:
    """LANG: empty where there is no tag."""
    if not isinstance(term, Literal):
        raise ExpressionError("LANG of a term that is no literal")
    return Literal(term.language or "")


def datatype(term: Term) -> IRI:
    """DATATYPE."""
    if not isinstance(term, Literal):
        raise ExpressionError("DATATYPE of a term that is no literal")
    return IRI(term.datatype)


def iri(term: Term, base: str | None = None) -> IRI:
    """IRI: resolved against ``base`` where it is relative."""
    if isinstance(term, IRI):
        return term
    return IRI(resolve(simple_text(term), base))


def resolve(reference: str, base: str | None) -> str:
    """RFC 3986, section 5.2; as it is where there is no base."""
    if not base or urlsplit(reference).scheme:
        return reference
    return urljoin(base, reference)


def strdt(lexical: Term, kind: Term) -> Literal:
    """STRDT."""
    if not isinstance(kind, IRI):
        raise ExpressionError("the datatype of STRDT is no IRI")
    return Literal(simple_text(lexical), kind.value)


def strlang(lexical: Term, tag: Term) -> Literal:
    """STRLANG."""
    text, wanted = simple_text(lexical), simple_text(tag)
    if not wanted:
        raise ExpressionError("STRLANG with an empty tag")
    return Literal.tagged(text, wanted)


def digest(algorithm: str) -> Callable[[Term], Literal]:
    """MD5, SHA1, SHA256, SHA384, SHA512: hexadecimal digest of the UTF-8 form."""

    def function(term: Term) -> Literal:
        data = simple_text(term).encode("utf-8", "surrogatepass")
        return Literal(hashlib.new(algorithm, data, usedforsecurity=False).hexdigest())

    return function


_DATED = (XSD_DATETIME, XSD_DATE)
_TIMED = (XSD_DATETIME, XSD_TIME)
_YEARED = (XSD_DATETIME, XSD_DATE, XSD + "gYear", XSD + "gYearMonth")


def _moment(term: Term, datatypes: tuple[str, ...]) -> Moment:
    value = value_of(term) if isinstance(term, Literal) else None
    if not isinstance(value, Moment) or value.datatype not in datatypes:
        raise ExpressionError(f"{term} has no such part")
    return value


def _integer(value: int) -> Literal:
    return Literal(str(value), XSD_INTEGER)


def year(term: Term) -> Literal:
    """YEAR, in the zone in which the time is written, as are all parts."""
    return _integer(_moment(term, _YEARED).year)


def month(term: Term) -> Literal:
    """MONTH."""
    return _integer(_moment(term, _DATED).month)


def day(term: Term) -> Literal:
    """DAY."""
    return _integer(_moment(term, _DATED).day)


def hours(term: Term) -> Literal:
    """HOURS."""
    return _integer(_moment(term, _TIMED).hour)


def minutes(term: Term) -> Literal:
    """MINUTES."""
    return _integer(_moment(term, _TIMED).minute)


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
    moment = _moment(term, (*_DATED, XSD_TIME))
    assert isinstance(term, Literal)
    return Literal("Z" if term.lexical.endswith("Z") else _written_zone(term.lexical, moment))


def _written_zone(lexical: str, moment: Moment) -> str:
    return zone_text(moment.zone) if moment.zone else "" if moment.zone is None else lexical[-6:]
