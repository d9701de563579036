"""Durations: months and seconds, two numbers that do not reduce to one (XSD 1.1 section 3.3.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from weir.rdf.terms import XSD, Literal
from weir.rdf.xsd.moments import days_from_civil
from weir.rdf.xsd.numbers import EXACT, decimal_text

XSD_DURATION = XSD + "duration"
XSD_DAY_TIME = XSD + "dayTimeDuration"
XSD_YEAR_MONTH = XSD + "yearMonthDuration"
DURATION_TYPES = (XSD_DURATION, XSD_DAY_TIME, XSD_YEAR_MONTH)

_SECONDS_A_MONTH = Decimal("30.436875") * 86_400
_NUMBER = r"([0-9]{1,18})"
_FORM = re.compile(
    rf"(-?)P(?=.)(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}D)?"
    rf"(?:T(?=.)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:([0-9]{{1,18}}(?:\.[0-9]{{1,18}})?)S)?)?"
)


@dataclass(frozen=True, slots=True)
class Duration:
    """Both parts have the same sign. Equal durations of different types are equal values."""

    months: int
    seconds: Decimal

    def order_key(self) -> tuple[Decimal, int, Decimal]:
        """A total order that agrees with the partial one: an average month, then the parts."""
        average = EXACT.multiply(self.months, _SECONDS_A_MONTH)
        return EXACT.add(average, self.seconds), self.months, self.seconds


def parse_duration(lexical: str, datatype: str = XSD_DURATION) -> Duration | None:
    """The value of a form of a duration type, None where it is ill-typed."""
    match = _FORM.fullmatch(lexical)
    if match is None:
        return None
    sign, years, months, days, hours, minutes, seconds = match.groups()
    if datatype == XSD_DAY_TIME and (years or months):
        return None
    if datatype == XSD_YEAR_MONTH and (days or "T" in lexical):
        return None
    total_months = int(years or 0) * 12 + int(months or 0)
    whole = int(days or 0) * 86_400 + int(hours or 0) * 3_600 + int(minutes or 0) * 60
    total_seconds = EXACT.add(whole, Decimal(seconds or 0))
    if sign:
        return Duration(-total_months, EXACT.minus(total_seconds))
    return Duration(total_months, total_seconds)


def compare_durations(left: Duration, right: Duration) -> int | None:
    """−1, 0 or 1, and None where months against days leave it open.

    A month has 28 to 31 days, so the order is certain only where both extremes agree; four starting
    points decide it in XSD, and the extremes of the calendar bound those.
    """
    months, seconds = left.months - right.months, EXACT.subtract(left.seconds, right.seconds)
    if not months or not seconds or (months > 0) == (seconds > 0):
        return _sign(months) or _sign(seconds)
    days, size = [_days(abs(months), longest) for longest in (False, True)], seconds.copy_abs()
    outcomes = {_sign(EXACT.subtract(count * 86_400, size)) for count in days}
    if len(outcomes) > 1 or outcomes == {0}:
        return None
    return outcomes.pop() * _sign(months)


def _days(months: int, longest: bool) -> int:
    """Days that a run of months has at most or at least, from any of XSD's four starting points."""
    starts = ((1696, 9), (1697, 2), (1903, 3), (1903, 7))
    counts = [days_from_civil(y, m + months, 1) - days_from_civil(y, m, 1) for y, m in starts]
    return max(counts) if longest else min(counts)


def _sign(value: int | Decimal) -> int:
    return (value > 0) - (value < 0)


def duration_literal(duration: Duration, datatype: str = XSD_DURATION) -> Literal:
    """The canonical literal: "PT0S" is zero, "P1Y2M3DT4H5M6.7S" has everything."""
    negative = duration.months < 0 or duration.seconds < 0
    months, seconds = abs(duration.months), duration.seconds.copy_abs()
    years, months = divmod(months, 12)
    whole = int(seconds)
    fraction = EXACT.subtract(seconds, whole)
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, rest = divmod(rest, 60)
    shown = decimal_text(EXACT.add(rest, fraction)).removesuffix(".0")
    date = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
    time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    time += f"{shown}S" if rest or fraction else ""
    if not date and not time:
        return Literal("P0M" if datatype == XSD_YEAR_MONTH else "PT0S", datatype)
    return Literal(f"{'-' if negative else ''}P{date}{'T' if time else ''}{time}", datatype)
