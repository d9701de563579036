"""What the fragments client spends at most: no server, broken or hostile, can make it work for ever."""

from __future__ import annotations

from dataclasses import dataclass

from weir.errors import RemoteError


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Bounds of one evaluation, but for those of one request."""

    requests: int = 20_000
    """Requests."""
    pages: int = 5_000
    """Pages of one fragment."""
    idle_pages: int = 3
    """Pages of one fragment in a row without anything new."""
    quads: int = 5_000_000
    """Quads read."""
    page_bytes: int = 16 * 2**20
    """Bytes of one page."""
    page_quads: int = 200_000
    """Quads of one page."""
    rows: int = 2_000_000
    """Rows of one intermediate join."""
    seconds: float = 300.0
    """Time of a whole evaluation."""
    timeout: float = 20.0
    """Seconds for one attempt at one request."""
    attempts: int = 4
    """Attempts at one request."""
    retry_after: float = 30.0
    """The longest that a server may ask to wait between attempts (s)."""
    concurrency: int = 8
    """Requests under way at once."""
    bulk: int = 100
    """Bindings in one bindings-restricted request."""
    address: int = 8_000
    """Characters of an address."""


class Budget:
    """What one evaluation has left; going beyond it is a ``RemoteError`` that says which bound it was."""

    def __init__(self, limits: ClientLimits) -> None:
        self.limits = limits
        self.requests = 0
        self.quads = 0
        self.bytes = 0

    def request(self, url: str) -> None:
        self.requests += 1
        if self.requests > self.limits.requests:
            raise RemoteError(
                f"one evaluation needs more than {self.limits.requests} requests",
                detail=f"the next would be {url}",
                hint="make the query more selective, or raise the limit on requests",
            )

    def read(self, url: str, quads: int, size: int) -> None:
        self.quads += quads
        self.bytes += size
        if self.quads > self.limits.quads:
            raise RemoteError(
                f"one evaluation reads more than {self.limits.quads} quads",
                detail=f"the last page was {url}",
                hint="make the query more selective, or raise the limit on quads",
            )
