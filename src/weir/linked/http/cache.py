"""What was read of each address, kept while it is fresh and asked for by its tag after (RFC 9111).

A private cache of GET responses that all ask for the same media types, so that an address is the whole key.
What it keeps is what ``read`` made of a body, not the body.

A user with an evaluation of its own (such as the fragments client) is thin on top of it: it gives ``read``,
which parses a page and counts what it costs; it gives the client ``spend``, which counts requests, and its
own clock; it calls ``look_again`` when an evaluation starts; and it takes the server's time from
``cache.client.skew``.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from weir.linked.http.client import HttpClient, Response
from weir.linked.http.headers import SECOND, date_of, directives, freshness

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stored(Generic[T]):
    """A value with what HTTP says about using it again; ``fresh_until`` (µs) is on our own clock.

    A response that says nothing about its freshness has ``explicit`` False.
    """

    value: T
    fresh_until: int
    explicit: bool
    etag: str | None
    modified: str | None


class HttpCache(Generic[T]):
    """The values of at most ``most`` addresses, the least recently used dropped first.

    Requests for the same address at the same time are made once. Until ``look_again`` is called an address
    keeps the value it was first seen with, whatever becomes of its freshness, so that one evaluation sees
    each page once. With ``storing`` False that is all that is remembered.
    """

    def __init__(
        self,
        client: HttpClient,
        read: Callable[[Response], T],
        accept: str,
        *,
        storing: bool = True,
        most: int = 4096,
    ) -> None:
        self.client = client
        self._read = read
        self._accept = accept
        self._storing = storing
        self._most = most
        self._stored: OrderedDict[str, Stored[T]] = OrderedDict()
        self._seen: dict[str, Stored[T]] = {}
        self._under_way: dict[str, asyncio.Task[Stored[T]]] = {}

    def look_again(self) -> None:
        """From now on ask again for what is not fresh any more."""
        self._seen.clear()

    def seen(self, url: str) -> Stored[T] | None:
        """What can be had without asking."""
        found = self._seen.get(url)
        if found is None:
            found = self._stored.get(url)
            if found is not None and self.client.clock.now() >= found.fresh_until:
                return None
        return found

    async def get(self, url: str, within: float | None = None) -> Stored[T]:
        """The value of an address, asked for where it is not fresh.

        With ``within`` it is asked for, by its tag, unless that was done since ``look_again``; a shared cache
        on the way may answer with what the server has said in the last ``within`` seconds, no more (the
        request's ``max-age``; RFC 9111, section 5.2.1.1).
        """
        found = self.seen(url) if within is None else self._seen.get(url)
        if found is not None:
            if url in self._stored:
                self._stored.move_to_end(url)
            return found
        task = self._under_way.get(url)
        if task is None:
            task = asyncio.ensure_future(self._fetch(url, self._stored.get(url), within))
            self._under_way[url] = task
            task.add_done_callback(lambda done: self._done(url, done))
        return await asyncio.shield(task)

    def _done(self, url: str, task: asyncio.Task[Stored[T]]) -> None:
        self._under_way.pop(url, None)
        if not task.cancelled():
            task.exception()

    async def close(self) -> None:
        """Give up what is under way."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, url: str, old: Stored[T] | None, within: float | None) -> Stored[T]:
        headers = {"Accept": self._accept}
        if within is not None:
            headers["Cache-Control"] = f"max-age={int(within)}" if within >= 1 else "no-cache"
        if old is not None and old.etag:
            headers["If-None-Match"] = old.etag
        elif old is not None and old.modified:
            headers["If-Modified-Since"] = old.modified
        statuses = (200,) if old is None else (200, 304)
        return await self.client.request(
            url, lambda response: self._keep(url, response, old), statuses=statuses, headers=headers
        )

    def _keep(self, url: str, response: Response, old: Stored[T] | None) -> Stored[T]:
        lifetime = freshness(response.headers)
        until = response.sent + int((lifetime or 0.0) * SECOND)
        made = date_of(response.headers)
        if lifetime and made is not None:
            # The apparent age (RFC 9111, section 4.2.3), of a date that is known to the second.
            until = min(until, made + int((1.0 + lifetime) * SECOND) - self.client.skew.offset)
        same = old if response.status == 304 else None
        stored = Stored(
            self._read(response) if same is None else same.value,
            until,
            lifetime is not None,
            response.headers.get("etag", same and same.etag),
            response.headers.get("last-modified", same and same.modified),
        )
        self._seen[url] = stored
        if self._storing and "no-store" not in directives(response.headers):
            self._stored[url] = stored
            self._stored.move_to_end(url)
            while len(self._stored) > self._most:
                self._stored.popitem(last=False)
        return stored
