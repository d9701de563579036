"""Functions on dates and times (section 17.4.5). NOW is in the evaluator: it is the evaluation time."""

from __future__ import annotations

from decimal import Decimal

from weir.kernel.functions.errors import ExpressionError
from weir.rdf.terms import XSD, Literal, Term
from weir.rdf.xsd.durations import XSD_DAY_TIME, Duration, duration_literal
from weir.rdf.xsd.moments import XSD_DATE, XSD_DATETIME, XSD_TIME, Moment, zone_text
from weir.rdf.xsd.numbers import XSD_DECIMAL, XSD_INTEGER, decimal_text
from weir.rdf.xsd.values import value_of

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
