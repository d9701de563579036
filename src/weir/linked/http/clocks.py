"""Time on both sides: a clock that tests can crank, and how far the server's differs from ours."""

from __future__ import annotations

import asyncio
import time
from email.utils import parsedate_to_datetime
from typing import Protocol

SECOND = 1_000_000


class Clock(Protocol):
    """Microseconds since 1970, and waiting for them."""

    def now(self) -> int: ...

    async def sleep_until(self, instant: int) -> None: ...


class WallClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1000

    async def sleep_until(self, instant: int) -> None:
        while (left := instant - self.now()) > 0:
            await asyncio.sleep(min(left / SECOND, 3600.0))


class Skew:
    """How far the server's clock is ahead of ours, as an interval that every response narrows.

    A Date header D on a response asked for at ``sent`` and complete at ``got`` says that somewhere
    between the two the server's clock was in ``[D, D + 1 s)``, so the offset lies in
    ``[D − got, D + 1 s − sent]``. As long as 0 is possible no correction is made, nor for a clock that seems
    less than a second late: servers keep the text of the date for as long (uvicorn, for one). Contradicting
    responses mean that a clock was set: only the newest is believed then.
    """

    def __init__(self) -> None:
        self.low, self.high = -(2**62), 2**62

    def observe(self, date: str | None, sent: int, got: int) -> None:
        """Take in one response's Date header; one that is no date says nothing."""
        if not date:
            return
        try:
            server = int(parsedate_to_datetime(date).timestamp()) * SECOND
        except (ValueError, TypeError, OverflowError):
            return
        low, high = server - got, server + SECOND - sent
        if low > self.high or high < self.low:
            self.low, self.high = low, high
        else:
            self.low, self.high = max(low, self.low), min(high, self.high)

    @property
    def offset(self) -> int:
        """What to add to our clock: the offset nearest to 0 that fits all responses."""
        return self.low if self.low > 0 else self.high if self.high < -SECOND else 0
