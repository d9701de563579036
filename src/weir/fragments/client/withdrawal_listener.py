"""Listens for facts that are taken back before their time, so that a follower looks again at once."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from weir.extras import lazily
from weir.fragments.client.server_events import EventReader
from weir.language.algebra import patterns as algebra
from weir.language.algebra.fold import path_predicates, walk
from weir.language.algebra.query import Describe, Query
from weir.linked.http import Clock
from weir.linked.http.headers import SECOND, media_type
from weir.rdf.terms import IRI

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazily("httpx")

_SILENCE = 60.0
_LONGEST = 1 << 16
_DELAYS = (0.5, 30.0)


def predicates_of(query: Query) -> frozenset[str] | None:
    """The texts of the predicates that a query reads; None where it may read any."""
    if isinstance(query.form, Describe):
        return None
    found: set[str] = set()
    for node in walk(query.pattern):
        if isinstance(node, algebra.TriplePattern):
            if not isinstance(node.predicate, IRI):
                return None
            found.add(str(node.predicate))
        elif isinstance(node, algebra.PathPattern):
            named = path_predicates(node.path)
            if named is None:
                return None
            found.update(map(str, named))
    return frozenset(found)


class WithdrawalListener:
    """``woken`` is set when something that was read may have been withdrawn, also after every break of the
    connection; ``version`` is that of the facts then. Where the server cannot be listened to, following goes
    on without it."""

    def __init__(
        self, url: str, http: httpx.AsyncClient, predicates: frozenset[str] | None, clock: Clock
    ) -> None:
        self.url = url
        self.woken = asyncio.Event()
        self.version: str | None = None
        self._http = http
        self._predicates = predicates
        self._clock = clock
        self._anew = False

    async def listen(self) -> None:
        """Listen for ever, connecting again after breaks."""
        delay, longest = _DELAYS
        while True:
            heard = False
            try:
                limits = httpx.Timeout(_SILENCE)
                headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
                async with self._http.stream("GET", self.url, headers=headers, timeout=limits) as response:
                    if response.status_code == 200 and media_type(response.headers) == "text/event-stream":
                        self._anew = heard = True
                        reader = EventReader(_LONGEST)
                        async for chunk in response.aiter_bytes():
                            for event in reader.feed(chunk):
                                if event.data is not None:
                                    self._take(event.data.decode(errors="replace"), event.id)
            except httpx.HTTPError:
                pass
            delay = _DELAYS[0] if heard else min(2 * delay, longest)
            await self._clock.sleep_until(self._clock.now() + int(delay * random.uniform(0.5, 1) * SECOND))

    def _take(self, data: str, version: str | None) -> None:
        named = data.split()
        read = self._predicates
        if self._anew or "*" in named or read is None or not read.isdisjoint(named):
            self.version = version if version is not None and version.isdecimal() else self.version
            self.woken.set()
        self._anew = False
