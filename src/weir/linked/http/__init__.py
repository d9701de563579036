"""The one HTTP client: limits of size and time, retries, a breaker, a cache by RFC 9111, judged addresses.

``HttpClient`` makes requests to one server from an event loop; ``HttpCache`` keeps what it read of each
address for as long as that is fresh; ``open_document`` fetches one document from ordinary code.
``allowed_hosts.Allowed`` says which hosts may be asked, and no connection goes to an address that it refuses.
"""

from weir.linked.http.cache import HttpCache
from weir.linked.http.client import (
    Breaker,
    Clock,
    Gate,
    HttpClient,
    RequestLimits,
    Response,
    Transient,
    WallClock,
    open_document,
)

__all__ = [
    "Breaker",
    "Clock",
    "Gate",
    "HttpCache",
    "HttpClient",
    "RequestLimits",
    "Response",
    "Transient",
    "WallClock",
    "allowed_hosts",
    "headers",
    "open_document",
]
