"""A fragments server as a source of quads: patterns fetched whole, or restricted to bindings.

A look-up costs requests, so it is made in the way that needs the fewest: the whole fragment, a bound
fragment for each binding, or many bindings at once where the server offers it (brTPF).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from weir.errors import RemoteError
from weir.fragments.client.page import BeyondLimit, Page, Pages
from weir.fragments.protocol.annotation import FOREVER, Quad, QuadPattern, TripleText, matches, time_lexical
from weir.fragments.protocol.controls import (
    AT,
    GRAPH,
    OBJECT,
    PREDICATE,
    SUBJECT,
    VALUES,
    Form,
    value_of,
)

_PROPERTIES = (SUBJECT, PREDICATE, OBJECT, GRAPH)
_NAMES = ("?s", "?p", "?o", "?g")


@dataclass(frozen=True, slots=True)
class Keys:
    """Bindings of some places of a pattern: only quads with one of these rows there are wanted."""

    places: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]

    def askable(self) -> tuple[Keys, bool]:
        """Without rows that no quad can have (literal subjects), and whether blank nodes are among them:
        those cannot be asked for one by one."""
        rows = tuple(
            row
            for row in self.rows
            if not any(
                (text[:1] == '"' and place != 2) or (text[:1] == "_" and place == 1)
                for place, text in zip(self.places, row, strict=True)
            )
        )
        return Keys(self.places, rows), any(text[:1] == "_" for row in rows for text in row)

    def on(self, places: Iterable[int], at: int | None = None) -> Keys | None:
        """Keys on these of its places alone, or moved to another place; None where it has none of them."""
        columns = [i for i, place in enumerate(self.places) if place in set(places)]
        if not columns:
            return None
        kept = tuple(self.places[i] for i in columns) if at is None else (at,)
        return Keys(kept, tuple(dict.fromkeys(tuple(row[i] for i in columns) for row in self.rows)))

    def wanted(self, quads: Iterable[Quad]) -> list[Quad]:
        rows = set(self.rows)
        places = self.places
        if len(places) == 1:
            place, single = places[0], {row[0] for row in rows}
            return [quad for quad in quads if quad[place] in single]
        return [quad for quad in quads if tuple(quad[place] for place in places) in rows]


@dataclass(slots=True)
class Horizon:
    """What an evaluation learns of time: when a page it read stops holding, how fresh pages were, and
    whether facts may have expired unnoticed while they were read."""

    expires: int = FOREVER
    fresh_until: int = FOREVER
    suspect: bool = False
    watching: bool = False
    """Whether a fact that was taken back before its time has to be noticed."""
    labels: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """Objects of time labels that came with pages, by predicate and subject."""

    def saw(self, page: Page, fresh_until: int, extended: bool) -> None:
        """Take in one page; what goes beyond plain fragments only where it is ``extended``."""
        self.fresh_until = min(self.fresh_until, fresh_until)
        if not extended:
            return
        if page.expires is not None:
            self.expires = min(self.expires, page.expires)
        for subject, predicate, object_, _ in page.labels:
            known = self.labels.setdefault(predicate, {}).setdefault(subject, [])
            if object_ not in known:
                known.append(object_)


class QuadSource:
    """One data set at one address.

    Pages that a ``Horizon`` watches are asked for at each evaluation, with what caches may have kept for
    ``within`` seconds; others as long as HTTP calls them fresh.

    ``plain`` uses nothing that goes beyond quad pattern fragments, even where the server offers it.
    ``version`` is one of the facts that the server has told of: watched pages are asked for under it, so that
    no cache on the way answers with what it kept from before, and all who were told share what it keeps now.
    """

    def __init__(self, url: str, pages: Pages, *, plain: bool = False) -> None:
        self.url = url
        self.pages = pages
        self.extended = not plain
        self._plain: Form | None = None
        self._rich: Form | None = None
        self.per_page = 100
        self.declared: tuple[str, ...] = ()
        self.withdrawals: str | None = None
        self.within = 0.0
        self.version: str | None = None

    async def open(self) -> Page:
        """Read the start page and its forms."""
        page = (await self.pages.get(self.url)).value
        forms = [form for form in page.forms if {SUBJECT, PREDICATE, OBJECT} <= form.mappings.keys()]
        if not forms:
            raise RemoteError(
                f"{self.url} has no search form for triple patterns",
                detail=f"it has {', '.join(form.template for form in page.forms)}" if page.forms else None,
                hint="check that the address is that of a Triple Pattern Fragments data set",
            )
        self._plain = min(forms, key=lambda form: (len(form.mappings), not form.quads))
        if not self._plain.quads:
            self._plain = next(
                (form for form in forms if form.mappings.keys() == set(_PROPERTIES)), self._plain
            )
        self._rich = max(forms, key=lambda form: (form.bulk, form.timed))
        self.per_page = page.per_page or max(len(page.data), 1)
        self.declared = page.declared if self.extended else ()
        self.withdrawals = page.withdrawals if self.extended else None
        return page

    @property
    def plain(self) -> Form:
        if self._plain is None:
            raise RemoteError(f"{self.url} was not opened")
        return self._plain

    @property
    def quads(self) -> bool:
        return self.plain.quads

    @property
    def timed(self) -> bool:
        """Whether it gives the facts valid at an instant."""
        return self.extended and self._rich is not None and self._rich.timed

    @property
    def bulk(self) -> bool:
        """Whether it takes many bindings in one request."""
        return self.extended and self._rich is not None and self._rich.bulk

    def implicit(self, triple: TripleText) -> str:
        """The name of a triple's implicit graph here."""
        return self.plain.implicit_graph(triple, self.url)

    def address(self, pattern: QuadPattern, at: int | None) -> str:
        """Where a pattern's fragment lies."""
        values = _values(pattern)
        if at is not None and self.timed:
            assert self._rich is not None
            return self._rich.address({**values, AT: time_lexical(at)}, self.url)
        return self.plain.address(values, self.url)

    async def first(
        self, pattern: QuadPattern, at: int | None = None, horizon: Horizon | None = None
    ) -> Page:
        """The first page of a pattern's fragment: what it counts."""
        return await self._page(self.address(pattern, at), horizon)

    async def _page(self, url: str, horizon: Horizon | None) -> Page:
        watched = horizon is not None and horizon.watching
        if watched:
            url = self._versioned(url)
        stored = await self.pages.get(url, self.within if watched else None)
        if horizon is not None:
            horizon.saw(stored.value, stored.fresh_until if stored.explicit else FOREVER, self.extended)
        return stored.value

    def _versioned(self, url: str) -> str:
        if self.version is None or f"version={self.version}" in url:
            return url
        return f"{url}{'&' if '?' in url else '?'}version={self.version}"

    def fresh(self, pattern: QuadPattern) -> bool:
        """Whether what was read of a pattern may be used on."""
        return self.pages.seen(self.address(pattern, None)) is not None

    def complete(self, pattern: QuadPattern, at: int | None = None) -> bool:
        """Whether a pattern's whole fragment is at hand."""
        url = self.address(pattern, at)
        known = self.pages.seen(self._versioned(url)) or self.pages.seen(url)
        return known is not None and known.value.next is None

    async def look_up(
        self,
        pattern: QuadPattern,
        keys: Keys | None = None,
        at: int | None = None,
        horizon: Horizon | None = None,
    ) -> list[Quad]:
        """The quads that match a pattern, and one of the keys, each once."""
        if keys is None:
            return await self._whole(self.address(pattern, at), pattern, horizon)
        keys, blank = keys.askable()
        if not keys.rows:
            return []
        whole = blank or self.complete(pattern, at)
        chunks = [] if whole else self._chunks(pattern, keys, at)
        if len(chunks) > 1:
            page = await self.first(pattern, at, horizon)
            whole = -(-page.estimate // self.per_page) <= len(chunks)
        if whole:
            return keys.wanted(await self._whole(self.address(pattern, at), pattern, horizon))
        found = await asyncio.gather(*(self._whole(url, bound, horizon) for url, bound in chunks))
        return keys.wanted(dict.fromkeys(quad for quads in found for quad in quads))

    def _chunks(self, pattern: QuadPattern, keys: Keys, at: int | None) -> list[tuple[str, QuadPattern]]:
        """The requests that keys make of a pattern: address, and what must match its answer."""
        if self.bulk and len(keys.rows) > 1:
            return self._bulk_chunks(pattern, keys, at)
        chunks = []
        for row in keys.rows:
            bound = list(pattern)
            for place, text in zip(keys.places, row, strict=True):
                bound[place] = text
            s, p, o, g = bound
            chunks.append((self.address((s, p, o, g), at), (s, p, o, g)))
        return chunks

    def _bulk_chunks(self, pattern: QuadPattern, keys: Keys, at: int | None) -> list[tuple[str, QuadPattern]]:
        names = [_NAMES[place] for place in keys.places]
        values = _values(pattern)
        for place in keys.places:
            values[_PROPERTIES[place]] = _NAMES[place]
        form = self._rich
        assert form is not None
        if at is not None and self.timed:
            values[AT] = time_lexical(at)
        head = f"({' '.join(names)}) {{ "
        limits = self.pages.limits
        chunks: list[tuple[str, QuadPattern]] = []
        rows: list[str] = []

        def address(some: Sequence[str]) -> str:
            return form.address({**values, VALUES: f"{head}{' '.join(some)} }}"}, self.url)

        room = limits.address - len(address([]))
        used = 0
        for row in keys.rows:
            text = f"({' '.join(row)})"
            cost = len(quote(text, safe="")) + 3
            if rows and (len(rows) >= limits.bulk or used + cost > room):
                chunks.append((address(rows), pattern))
                rows, used = [], 0
            rows.append(text)
            used += cost
        chunks.append((address(rows), pattern))
        return chunks

    async def _whole(self, url: str, pattern: QuadPattern, horizon: Horizon | None) -> list[Quad]:
        """All pages from an address on; a fragment that never ends is a ``RemoteError``."""
        limits = self.pages.limits
        found: dict[Quad, None] = {}
        visited: set[str] = set()
        idle = 0
        following: str | None = url
        while following is not None:
            if following in visited:
                raise RemoteError(f"the pages of {url} go in circles", detail=f"at {following}")
            visited.add(following)
            if len(visited) > limits.pages:
                raise BeyondLimit(f"the fragment {url} has more than {limits.pages} pages", "pages")
            page = await self._page(following, horizon)
            before = len(found)
            found.update(dict.fromkeys(quad for quad in page.data if matches(quad, pattern)))
            idle = 0 if len(found) > before else idle + 1
            following = page.next
            if following is not None and idle >= limits.idle_pages:
                raise RemoteError(
                    f"the pages of {url} do not end", detail=f"{idle} in a row brought nothing new"
                )
        return list(found)


def _values(pattern: QuadPattern) -> dict[str, str]:
    """The form's values of a pattern; free places are left out."""
    return {name: value_of(text) for name, text in zip(_PROPERTIES, pattern, strict=True) if text is not None}
