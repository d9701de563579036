"""What a body may be before anybody reads it: httpx decodes a piece at once, however much comes of it, and
reads what a redirect says to its end, which need not come. Both are before any limit of size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.extras import lazily

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazily("httpx")

ENCODINGS = {"Accept-Encoding": "gzip, deflate"}
"""One layer of these makes at most a thousand bytes of one; other encodings, and layers, make any number."""
_TAKEN = ("", "identity", "gzip", "x-gzip", "deflate")


def judge(response: httpx.Response) -> None:
    """A hook of sessions: called when the head is there."""
    if response.has_redirect_location:
        response.stream.close()  # type: ignore[union-attr]
        response.stream = httpx.ByteStream(b"")
    _refuse(response)


async def judge_async(response: httpx.Response) -> None:
    """The same for an event loop."""
    if response.has_redirect_location:
        await response.stream.aclose()  # type: ignore[union-attr]
        response.stream = httpx.ByteStream(b"")
    _refuse(response)


def _refuse(response: httpx.Response) -> None:
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _TAKEN:
        raise httpx.DecodingError(
            f"the answer is encoded by {encoding[:80]!r}, which was not asked for", request=response.request
        )
