"""One triple pattern at one instant: static matches from the cache, dynamic ones with their validity.

Static results are kept between evaluations, whole or by binding (the paper's client-side cache), as long
as HTTP allows; a server that says nothing about freshness is taken to mean that they stay.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weir.fragments.client.detect import Dynamics
from weir.fragments.client.quad_source import Horizon, Keys, Pattern4, QuadSource
from weir.fragments.client.rewriter import Rewriter
from weir.fragments.protocol.annotation import (
    BEGINNING,
    FOREVER,
    LABELS,
    RDF_PREDICATE,
    REIFIED,
    SINGLETON_OF,
    Fact,
    Method,
    Quad,
)


@dataclass(slots=True)
class _Cached:
    """Static matches: all of a pattern's, or those of some bindings."""

    until: int
    whole: list[Quad] | None = None
    rows: dict[tuple[tuple[int, ...], tuple[str, ...]], list[Quad]] = field(default_factory=dict)


class StaticCache:
    """Static matches by pattern. ``enabled`` False fetches them anew at every evaluation."""

    def __init__(self, source: QuadSource, *, enabled: bool = True) -> None:
        self.source = source
        self.enabled = enabled
        self._patterns: dict[Pattern4, _Cached] = {}

    def begin(self, now: int) -> None:
        """Start an evaluation: drop what is stale."""
        if not self.enabled:
            self._patterns.clear()
        for pattern in [p for p, cached in self._patterns.items() if cached.until <= now]:
            del self._patterns[pattern]

    async def count(self, pattern: Pattern4) -> int:
        cached = self._patterns.get(pattern)
        if cached is not None and cached.whole is not None:
            return len(cached.whole)
        return (await self.source.first(pattern)).estimate

    async def matching(self, pattern: Pattern4, keys: Keys | None) -> list[Quad]:
        """The static quads of a pattern, restricted to keys."""
        cached = self._patterns.setdefault(pattern, _Cached(FOREVER))
        if cached.whole is not None:
            return cached.whole if keys is None else keys.wanted(cached.whole)
        horizon = Horizon()
        if keys is None or self.source.complete(pattern):
            whole = await self.source.look_up(pattern, None, None, horizon)
            cached.whole = whole
            cached.until = min(cached.until, horizon.fresh_until)
            return whole if keys is None else keys.wanted(whole)
        missing = tuple(row for row in keys.rows if (keys.places, row) not in cached.rows)
        if missing:
            found = await self.source.look_up(pattern, Keys(keys.places, missing), None, horizon)
            cached.until = min(cached.until, horizon.fresh_until)
            for row in missing:
                cached.rows[keys.places, row] = []
            for quad in found:
                cached.rows[keys.places, tuple(quad[place] for place in keys.places)].append(quad)
        return [quad for row in keys.rows for quad in cached.rows[keys.places, row]]


class Matcher:
    """Matches triple patterns of the default graph, and quad patterns of named ones, at ``at``."""

    def __init__(self, source: QuadSource, dynamics: Dynamics, static: StaticCache, at: int) -> None:
        self.source = source
        self.dynamics = dynamics
        self.static = static
        self.at = at
        self.horizon = Horizon()
        self.rewriters = [
            Rewriter(source, annotation, at, self.horizon) for annotation in dynamics.annotations
        ]
        self.earliest = FOREVER
        self.found_dynamic = False
        self.valid = self.expired = 0

    async def count(self, pattern: Pattern4) -> int:
        """About how many quads match: what joins are ordered by."""
        if not await self._dynamic(pattern):
            return await self.static.count(pattern)
        s, p, o, _ = pattern
        counts = []
        for one in self.rewriters:
            method = one.annotation.method
            asked: Pattern4 = (s, p, o, None if method is Method.GRAPHS else "")
            if method is Method.SINGLETON:
                asked = (None, SINGLETON_OF, p, "")
            elif method is Method.REIFICATION:
                asked = (None, RDF_PREDICATE, p, "")
            counts.append((await self.source.first(asked, one.at, self.horizon)).estimate)
        return max(counts)

    async def matching(self, pattern: Pattern4, keys: Keys | None) -> list[tuple[Quad, int, int]]:
        """The quads that hold at ``at``, each with its validity."""
        if pattern[3] != "":
            return await self._named(pattern, keys)
        if not await self._dynamic(pattern):
            return await self._static(pattern, keys)
        self.found_dynamic = True
        triple = pattern[:3]
        parts = await asyncio.gather(*(one.matching(triple, keys) for one in self.rewriters))
        matches = dict.fromkeys(match for found, _ in parts for match in found)
        out = [((*match[:3], ""), match.start, match.end) for match in matches if self._holds(match)]
        plain = self._plain([found for _, found in parts])
        if plain is None:
            return out + await self._static(pattern, keys)
        return out + _forever(await self._without_annotation(plain) if pattern[1] is None else plain)

    def _plain(self, found: Sequence[list[Quad] | None]) -> list[Quad] | None:
        """The triples without any label, if a look-up found them: where implicit graphs are in use, only
        theirs can tell."""
        methods = [one.annotation.method for one in self.rewriters]
        chosen = Method.IMPLICIT if Method.IMPLICIT in methods else Method.GRAPHS
        plain: list[Quad] | None = None
        for method, quads in zip(methods, found, strict=True):
            if method is chosen and quads is not None:
                plain = quads if plain is None else [quad for quad in plain if quad in quads]
        return plain

    def _holds(self, match: Fact) -> bool:
        """Whether a match holds now; either way, when that changes is noted."""
        if match.start <= self.at < match.end:
            self.valid += 1
            self.earliest = min(self.earliest, match.end)
            return True
        if self.at < match.start < match.end:
            self.earliest = min(self.earliest, match.start)
        elif match.end <= self.at:
            self.expired += 1
        return False

    async def _dynamic(self, pattern: Pattern4) -> bool:
        return pattern[3] == "" and await self.dynamics.dynamic(pattern)

    async def _static(self, pattern: Pattern4, keys: Keys | None) -> list[tuple[Quad, int, int]]:
        """Static triples; where the predicate is free, without those that only annotate."""
        if pattern[1] is not None or not self.rewriters:
            return _forever(await self.static.matching(pattern, keys))
        quads = await self.source.look_up(pattern, keys, self.rewriters[0].at, self.horizon)
        return _forever(await self._without_annotation(quads))

    async def _without_annotation(self, quads: list[Quad]) -> list[Quad]:
        kept = [quad for quad in quads if quad[1] not in LABELS]
        methods = {one.annotation.method for one in self.rewriters}
        if Method.SINGLETON in methods:
            found = await self.source.look_up((None, SINGLETON_OF, None, ""), None, self.rewriters[0].at)
            nodes = {quad[0] for quad in found}
            kept = [quad for quad in kept if quad[1] != SINGLETON_OF and quad[1] not in nodes]
        if Method.REIFICATION in methods:
            subjects = dict.fromkeys(quad[0] for quad in kept if quad[1] in REIFIED)
            labels = [await one.labels(subjects) for one in self.rewriters]
            annotated = {node for some in labels for node in some}
            kept = [quad for quad in kept if not (quad[1] in REIFIED and quad[0] in annotated)]
        return kept

    async def _named(self, pattern: Pattern4, keys: Keys | None) -> list[tuple[Quad, int, int]]:
        """Quads of named graphs; graphs that only annotate are not part of the data."""
        quads = [quad for quad in await self.static.matching(pattern, keys) if quad[3]]
        for one in self.rewriters:
            if one.annotation.method is Method.GRAPHS:
                labels = await one.labels(dict.fromkeys(quad[3] for quad in quads))
                quads = [quad for quad in quads if quad[3] not in labels]
        return _forever(quads)


def _forever(quads: Iterable[Quad]) -> list[tuple[Quad, int, int]]:
    return [(quad, BEGINNING, FOREVER) for quad in quads]
