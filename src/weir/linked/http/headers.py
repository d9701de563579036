"""What header fields say: types, waits, freshness (RFC 9111), the clock of a server, which type is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

SECOND = 1_000_000
_RANGES = 64
"""How many media ranges of an Accept header are looked at."""


def media_type(headers: Mapping[str, str]) -> str:
    """The content type without its parameters; empty where there is none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def whole_number(text: str | None) -> int | None:
    """A number of seconds as headers write it, at most 10⁹; None where the text is none."""
    text = (text or "").strip('" ')
    return min(int(text), 10**9) if text.isascii() and text.isdecimal() and len(text) < 20 else None


def after_date(headers: httpx.Headers, name: str) -> float | None:
    """The seconds from a response's Date to the time in another of its headers; None where one is no date."""
    try:
        later, date = parsedate_to_datetime(headers[name]), parsedate_to_datetime(headers["date"])
        return (later - date).total_seconds()
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def retry_after(headers: httpx.Headers) -> float | None:
    """Seconds that a server asks to wait, as a number or as a date (RFC 9110, section 10.2.3); None where it
    does not ask. A date is taken by the server's own clock, where it tells that."""
    seconds = whole_number(headers.get("retry-after"))
    if seconds is not None:
        return float(seconds)
    wait = after_date(headers, "retry-after")
    if wait is None:
        try:
            wait = (parsedate_to_datetime(headers["retry-after"]) - datetime.now(UTC)).total_seconds()
        except (KeyError, ValueError, TypeError, OverflowError):
            return None
    return max(wait, 0.0)


def freshness(headers: httpx.Headers, *, shared: bool = False) -> float | None:
    """For how many seconds a response may be used again (RFC 9111, section 4.2).

    None where it does not say, 0 where it must not be used again unasked. ``shared`` is for a cache that
    answers for many, which ``s-maxage`` addresses.
    """
    told = directives(headers)
    if "no-store" in told or "no-cache" in told:
        return 0.0
    age = whole_number(headers.get("age")) or 0
    lifetime = whole_number(told.get("s-maxage")) if shared else None
    if lifetime is None:
        lifetime = whole_number(told.get("max-age"))
    if lifetime is not None:
        return max(0.0, float(lifetime - age))
    if "expires" in headers:
        return max(0.0, (after_date(headers, "expires") or 0.0) - age)
    return None


def date_of(headers: Mapping[str, str]) -> int | None:
    """When a response was made by its server's clock (µs, a whole second); None where it does not say."""
    try:
        return int(parsedate_to_datetime(headers["date"]).timestamp()) * SECOND
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def directives(headers: httpx.Headers) -> dict[str, str]:
    """The directives of Cache-Control, with their values."""
    parts = headers.get("cache-control", "").lower().split(",")
    return {name.strip(): value.strip() for name, _, value in (part.partition("=") for part in parts)}


_DOUBT = 60 * SECOND


class Skew:
    """How far the server's clock is ahead of ours, as an interval that every response narrows.

    A Date header D on a response asked for at ``sent`` and complete at ``got`` says that between the two
    the server's clock was at least D, and less than D + 1 s unless a cache has kept the response. For how
    long it did, an Age of A seconds tells (RFC 9111, section 4.2.3), rounded: less than D + A + 2 s then.
    It is no more than a bound, because some proxies pass on an Age with a Date of their own (nginx, for
    one). As long as an offset of 0 is possible no correction is made, nor for a clock that seems less
    than a second late: servers keep the text of the date for as long (uvicorn, for one).

    Responses that contradict each other mean that a clock was set, or that a cache has kept one and does not
    say so. A cache can only make a server look late, so the later time is believed; the earlier one when for
    a minute nothing has spoken for the later.
    """

    def __init__(self) -> None:
        self.low, self.high = -(2**62), 2**62
        self._agreed = -(2**62)

    def observe(self, headers: Mapping[str, str], sent: int, got: int) -> None:
        """Take in one response; one without a date says nothing."""
        date = date_of(headers)
        if date is None:
            return
        age = whole_number(headers.get("age"))
        low, high = date - got, date + SECOND * (1 if age is None else age + 2) - sent
        if high < self.low and got - self._agreed <= _DOUBT:
            return
        self._agreed = got
        if low > self.high or high < self.low:
            self.low, self.high = low, high
        else:
            self.low, self.high = max(low, self.low), min(high, self.high)

    @property
    def offset(self) -> int:
        """What to add to our clock: the offset nearest to 0 that fits all responses."""
        return self.low if self.low > 0 else self.high if self.high < -SECOND else 0


def negotiate(accept: str, offered: Sequence[str]) -> str | None:
    """The best of ``offered`` for an Accept header, None where none is acceptable (406).

    Of equal quality, the one that is named most exactly, then the one that is offered first; that is the
    answer, too, where nothing is asked for.
    """
    if not accept.strip():
        return offered[0]
    ranges = [_range(part) for part in accept.split(",")[:_RANGES]]
    best, chosen = (0.0, 0), None
    for media_type in offered:
        exactness, quality = _quality(media_type, ranges)
        if quality and (quality, exactness) > best:
            best, chosen = (quality, exactness), media_type
    return chosen


def _quality(media_type: str, ranges: Sequence[tuple[str, float]]) -> tuple[int, float]:
    """How exact the most exact range is that a media type is in, and the quality that it gives."""
    exactness = {media_type: 2, f"{media_type.partition('/')[0]}/*": 1, "*/*": 0}
    return max(
        ((exactness[name], quality) for name, quality in ranges if name in exactness), default=(0, 0.0)
    )


def _range(part: str) -> tuple[str, float]:
    name, *parameters = part.lower().split(";")
    quality = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                quality = min(1.0, max(0.0, float(value)))
            except ValueError:
                quality = 0.0
    return name.strip(), quality
