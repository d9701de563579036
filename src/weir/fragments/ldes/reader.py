"""A client of event streams: every member once, in order of time as far as the stream's relations tell.

Pages are visited from the view on, those first whose members may be the oldest; a member is handed on when
no page that is still to be visited can hold an older one. A page that its server calls immutable is read
once. The others are asked for again, by their tags, every ``poll`` seconds, and bring what is new on them.
A bookmark leads back to a place in the stream: pages whose relations say that all is older are left out.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field

import httpx

from weir.errors import RemoteError, UsageError
from weir.fragments.ldes.tree_page import Item, Link, TreePage, parse_tree_page
from weir.fragments.protocol.annotation import BEGINNING
from weir.linked.http import Clock, HttpClient, RequestLimits, Response, WallClock
from weir.linked.http.allowed_hosts import Allowed, following_session
from weir.linked.http.headers import SECOND, directives
from weir.rdf.formats.guarded_parser import SYNTAXES

_ACCEPT = (
    "application/n-quads, application/trig;q=0.9, application/ld+json;q=0.6, "
    "text/turtle;q=0.5, application/n-triples;q=0.5"
)
_RECENT = 100_000
"""Names of members that are remembered, because a server may move members to other pages."""


@dataclass(frozen=True, slots=True)
class LdesOptions:
    """``poll`` (s) is how often pages that may grow are asked for; ``path`` the predicate of times, where the
    stream does not say. The rest bounds what a broken or hostile server can ask for: ``pages`` of one visit
    of the stream, bytes and quads of a page, members ``held`` until older ones are ruled out, seconds and
    attempts of a request."""

    poll: float = 5.0
    path: str | None = None
    pages: int = 100_000
    page_bytes: int = 16 * 2**20
    page_quads: int = 500_000
    held: int = 1_000_000
    timeout: float = 20.0
    attempts: int = 4

    def __post_init__(self) -> None:
        if self.poll <= 0:
            raise UsageError("an event stream is asked for again after more than no time")


@dataclass(frozen=True, slots=True, order=True)
class Bookmark:
    """The last member that was read: its time and its name. Members of one time are read in the order of
    their names, shorter ones first."""

    time: int = BEGINNING
    length: int = 0
    name: str = ""

    @staticmethod
    def at(item: Item) -> Bookmark:
        return Bookmark(BEGINNING if item.time is None else item.time, len(item.name), item.name)

    @staticmethod
    def of(text: str | None) -> Bookmark:
        """The bookmark that ``str`` wrote; None is the beginning."""
        return Bookmark(*json.loads(text)) if text else Bookmark()

    def __str__(self) -> str:
        return json.dumps([self.time, self.length, self.name])


@dataclass(slots=True)
class _Known:
    """A page that may grow: its tag, what was on it, and where it led."""

    etag: str | None
    names: set[str]
    links: tuple[Link, ...]


@dataclass(slots=True)
class _Visit:
    """One visit of the whole stream: pages to come, the oldest first, and members that wait for them."""

    pages: list[tuple[int, int, str]] = field(default_factory=list)
    members: list[tuple[Bookmark, Item]] = field(default_factory=list)
    planned: set[str] = field(default_factory=set)

    def plan(self, link: Link, since: int, most: int) -> None:
        if link.url in self.planned or link.upper < since:
            return
        if len(self.planned) >= most:
            raise RemoteError(f"the event stream has more than {most} pages", detail=f"at {link.url}")
        self.planned.add(link.url)
        heapq.heappush(self.pages, (link.lower, len(self.planned), link.url))

    def ready(self) -> Iterator[Item]:
        """The members that nothing to come can be older than, in order."""
        bound = self.pages[0][0] if self.pages else None
        while self.members and (bound is None or self.members[0][0].time <= bound):
            yield heapq.heappop(self.members)[1]


class EventStream:
    """One event stream at ``url``, read from a bookmark on."""

    def __init__(
        self,
        url: str,
        http: httpx.AsyncClient,
        options: LdesOptions,
        since: Bookmark,
        clock: Clock | None = None,
    ) -> None:
        self.url = url
        self.options = options
        self.since = since
        self.clock = clock or WallClock()
        self._path = options.path
        self._read: dict[str, tuple[Link, ...]] = {}
        self._recent: dict[str, None] = {}
        self._growing: dict[str, _Known] = {}
        limits = RequestLimits(options.timeout, options.page_bytes, attempts=options.attempts, backoff=0.4)
        self._client = HttpClient(http, limits, clock=self.clock)

    async def visit(self) -> AsyncGenerator[Item, None]:
        """What is new since the last visit."""
        visit = _Visit()
        visit.plan(Link(self.url), self.since.time, self.options.pages)
        while visit.pages:
            lower, _, url = heapq.heappop(visit.pages)
            done = self._read.get(url)
            items, links = await self._page(url) if done is None else ([], done)
            for link in links:
                within = Link(link.url, max(link.lower, lower), link.upper)
                visit.plan(within, self.since.time, self.options.pages)
            for item in items:
                heapq.heappush(visit.members, (Bookmark.at(item), item))
            if len(visit.members) > self.options.held:
                raise RemoteError(
                    f"more than {self.options.held} members of {self.url} wait for older ones",
                    hint="the stream has no relations by time: raise the limit, or read it without times",
                )
            for item in visit.ready():
                if self._fresh(item.name):
                    yield item

    def _fresh(self, name: str) -> bool:
        """Whether a member has not just been read on another page."""
        if name in self._recent:
            return False
        self._recent[name] = None
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        return True

    async def _page(self, url: str) -> tuple[list[Item], tuple[Link, ...]]:
        """What is new on a page, and where it leads."""
        known = self._growing.get(url)
        headers = {"Accept": _ACCEPT}
        if known is not None and known.etag:
            headers["If-None-Match"] = known.etag
        statuses = (200, 404, 410) if known is None else (200, 304, 404, 410)
        response = await self._client.request(url, lambda got: got, statuses=statuses, headers=headers)
        if response.status == 304:
            assert known is not None
            return [], known.links
        if response.status != 200:
            # What retention has taken away since the view was read is no failure.
            if url == self.url:
                raise RemoteError(f"{url} refused", detail=f"status {response.status}")
            return [], ()
        page = self._parsed(response)
        if "immutable" in directives(response.headers):
            self._read[url] = page.links
            self._growing.pop(url, None)
        else:
            names = {item.name for item in page.items}
            self._growing[url] = _Known(response.headers.get("etag"), names, page.links)
        if known is not None:
            return [item for item in page.items if item.name not in known.names], page.links
        return [
            item for item in page.items if item.time is None or Bookmark.at(item) > self.since
        ], page.links

    def _parsed(self, response: Response) -> TreePage:
        if response.media_type not in SYNTAXES:
            raise RemoteError(
                f"the page {response.url} is no RDF", detail=f"its media type is {response.media_type!r}"
            )
        page = parse_tree_page(
            response.url, response.body, response.media_type, self._path, self.options.page_quads
        )
        self._path = self._path or page.path
        return page


async def read_members(
    url: str,
    *,
    options: LdesOptions | None = None,
    since: Bookmark | None = None,
    client: httpx.AsyncClient | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[Item | None, None]:
    """The members of the event stream at ``url`` after a bookmark, and then those that come; never ends.

    None says that all there is has been read. A client given here is used and left open.
    """
    options = options or LdesOptions()
    connections = following_session(Allowed.named(url), 4, 20.0) if client is None else nullcontext(client)
    async with connections as http:
        stream = EventStream(url, http, options, since or Bookmark(), clock)
        while True:
            begun = stream.clock.now()
            async for item in stream.visit():
                yield item
            yield None
            await stream.clock.sleep_until(begun + int(options.poll * SECOND))
