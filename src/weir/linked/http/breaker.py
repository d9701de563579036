"""A circuit breaker: an endpoint that keeps failing is left alone for a while.

Closed: requests pass. After ``failures`` in a row it opens: nothing passes until a cool-down is over.
Then one probe passes (half open): if it succeeds the breaker closes, else the cool-down doubles.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from time import monotonic


class BreakerState(Enum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half open"


class Breaker:
    """Not thread safe: one event loop owns it."""

    def __init__(
        self, failures: int, cool_down: float, longest: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._limit = failures
        self._first = cool_down
        self._longest = longest
        self._clock = clock
        self._failed = 0
        self._wait = cool_down
        self._until = 0.0
        self._probing = False
        self.state = BreakerState.CLOSED

    @property
    def blocked(self) -> bool:
        """Whether a request would be turned away now; asking changes nothing."""
        if self.state is BreakerState.HALF_OPEN:
            return self._probing
        return self.state is BreakerState.OPEN and self._clock() < self._until

    def allow(self) -> bool:
        """Whether a request may pass now; a true answer while half open is the one probe."""
        if self.state is BreakerState.OPEN and self._clock() >= self._until:
            self.state = BreakerState.HALF_OPEN
            self._probing = False
        if self.state is BreakerState.HALF_OPEN:
            if self._probing:
                return False
            self._probing = True
            return True
        return self.state is BreakerState.CLOSED

    def succeeded(self) -> None:
        """An answer came: whatever was wrong is over."""
        self._failed = 0
        self._wait = self._first
        self.state = BreakerState.CLOSED

    def failed(self) -> None:
        """A request failed; failures of requests sent before the breaker opened change nothing."""
        if self.state is BreakerState.OPEN:
            return
        self._failed += 1
        if self.state is BreakerState.HALF_OPEN:
            self._wait = min(self._wait * 2, self._longest)
        elif self._failed < self._limit:
            return
        self.state = BreakerState.OPEN
        self._until = self._clock() + self._wait
