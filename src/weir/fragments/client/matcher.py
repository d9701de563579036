"""One triple pattern at one instant: static matches from the cache, dynamic ones while they hold.

Static results are kept between evaluations, whole or by binding (the paper's client-side cache), as long
as HTTP allows; a server that says nothing about freshness is taken to mean that they stay.

A dynamic triple pattern becomes the shapes of its annotation (the rewriter, section 5): the statement is
looked up first, then the labels of the nodes found. On intervals: a match is a fact with ``[start, end)``;
what has no label holds for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from weir.errors import DataError, RemoteError
from weir.fragments.client.detect import Dynamics
from weir.fragments.client.quad_source import Horizon, Keys, QuadSource
from weir.fragments.protocol.annotation import (
    EXPIRATION,
    FINAL,
    FLAT_FINAL,
    FLAT_INITIAL,
    FOREVER,
    INITIAL,
    INSTANT,
    INTERVAL,
    LABELS,
    REIFIED,
    SINGLETON_OF,
    Annotation,
    Fact,
    Labeling,
    Method,
    Quad,
    QuadPattern,
    TripleText,
    Validity,
    validities,
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
        self._patterns: dict[QuadPattern, _Cached] = {}

    def begin(self, now: int) -> None:
        """Start an evaluation: drop what is stale."""
        if not self.enabled:
            self._patterns.clear()
        for pattern in [p for p, cached in self._patterns.items() if cached.until <= now]:
            del self._patterns[pattern]

    async def count(self, pattern: QuadPattern) -> int:
        cached = self._patterns.get(pattern)
        if cached is not None and cached.whole is not None:
            return len(cached.whole)
        return (await self.source.first(pattern)).estimate

    async def matching(self, pattern: QuadPattern, keys: Keys | None) -> list[Quad]:
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


class Rewriter:
    """The dynamic facts of a source under one annotation, asked for at one instant."""

    def __init__(self, source: QuadSource, annotation: Annotation, at: int, horizon: Horizon) -> None:
        self.source = source
        self.annotation = annotation
        self.at = at if source.timed else None
        self.horizon = horizon

    async def matching(
        self, triple: Sequence[str | None], keys: Keys | None
    ) -> tuple[list[Fact], list[Quad] | None]:
        """The facts of a triple pattern, restricted to keys on its places.

        Where the same look-up also finds the triples without a label, they are the second part.
        """
        method = self.annotation.method
        plain: list[Quad] | None = None
        if method in (Method.SINGLETON, Method.REIFICATION):
            find = self._singletons if method is Method.SINGLETON else self._statements
            borne = [pair for pair in await find(triple, keys) if not keys or keys.wanted([(*pair[1], "")])]
        else:
            s, p, o = triple
            graph = None if method is Method.GRAPHS else ""
            quads = await self._look_up((s, p, o, graph), keys)
            if p is None:
                quads = [quad for quad in quads if quad[1] not in LABELS]
            if method is Method.GRAPHS:
                plain = [quad for quad in quads if not quad[3]]
                borne = [(g, (s, p, o)) for s, p, o, g in quads if g]
            else:
                borne = [(self.source.implicit((s, p, o)), (s, p, o)) for s, p, o, _ in quads]
        labels = await self.labels(dict.fromkeys(node for node, _ in borne))
        if method is Method.IMPLICIT:
            plain = [(*fact, "") for node, fact in borne if node not in labels]
            if borne and not labels and not self.source.declared:
                # They may all have expired between the two look-ups: not to be taken for static.
                self.horizon.suspect = True
        return [Fact(*fact, *span) for node, fact in borne for span in labels.get(node, ())], plain

    async def _look_up(self, pattern: QuadPattern, keys: Keys | None = None) -> list[Quad]:
        return await self.source.look_up(pattern, keys, self.at, self.horizon)

    async def _by_nodes(self, predicate: str, object_: str | None, nodes: Iterable[str]) -> list[Quad]:
        return await self._look_up((None, predicate, object_, ""), Keys((0,), tuple((n,) for n in nodes)))

    async def _labels(self, predicate: str, nodes: Iterable[str]) -> list[Quad]:
        """The labels of nodes: those that came with their pages, and the others asked for."""
        known = self.horizon.labels.get(predicate, {})
        found: list[Quad] = [(node, predicate, text, "") for node in nodes for text in known.get(node, ())]
        missing = [node for node in nodes if node not in known]
        return found + await self._by_nodes(predicate, None, missing) if missing else found

    async def _singletons(
        self, triple: Sequence[str | None], keys: Keys | None
    ) -> list[tuple[str, TripleText]]:
        """Nodes are predicates: found by the property they are of, then as predicates of statements."""
        s, p, o = triple
        other = None if keys is None else keys.on((0, 2))
        predicates = None if keys is None else keys.on((1,), 2)
        found = await self._look_up((None, SINGLETON_OF, p, ""), predicates)
        properties = {node: of for node, _, of, _ in found}
        if other is None or len(properties) <= len(other.rows):
            other = Keys((1,), tuple((node,) for node in properties))
        statements = await self._look_up((s, None, o, ""), other)
        return [(n, (a, properties[n], b)) for a, n, b, _ in statements if n in properties]

    async def _statements(
        self, triple: Sequence[str | None], keys: Keys | None
    ) -> list[tuple[str, TripleText]]:
        """Nodes are reified statements: found by their most selective part, then by node."""
        parts: list[tuple[int, int, Keys | None]] = []
        for place in (1, 0, 2):
            restricted = None if keys is None else keys.on((place,), 2)
            if triple[place] is not None:
                first = await self.source.first(
                    (None, REIFIED[place], triple[place], ""), self.at, self.horizon
                )
                parts.append((first.estimate, place, None))
            elif restricted is not None:
                parts.append((len(restricted.rows), place, restricted))
        _, start, restricted = min(parts, default=(0, 1, None), key=lambda part: part[:2])
        found = await self._look_up((None, REIFIED[start], triple[start], ""), restricted)
        known: dict[int, dict[str, str]] = {start: {node: value for node, _, value, _ in found}}
        nodes = list(known[start])
        rest = [place for place in range(3) if place != start]
        answers = await asyncio.gather(
            *(self._by_nodes(REIFIED[place], triple[place], nodes) for place in rest)
        )
        for place, quads in zip(rest, answers, strict=True):
            known[place] = {node: value for node, _, value, _ in quads}
        whole = [node for node in nodes if all(node in known[place] for place in range(3))]
        return [(node, (known[0][node], known[1][node], known[2][node])) for node in whole]

    async def labels(self, nodes: Collection[str]) -> dict[str, list[Validity]]:
        """When the facts that these nodes stand for hold.

        They are asked for in the order given: clients that saw the same page ask for the same labels.
        """
        if not nodes:
            return {}
        said: list[Quad] = []
        if self.annotation.labeling is Labeling.EXPIRATION:
            said = await self._labels(EXPIRATION, nodes)
        else:
            ends: tuple[str, ...] = (FLAT_INITIAL, FLAT_FINAL, INSTANT)
            spans = nodes
            if not self.annotation.flat:
                said = await self._labels(INTERVAL, nodes)
                ends, spans = (INITIAL, FINAL), dict.fromkeys(span for _, _, span, _ in said)
            for found in await asyncio.gather(*(self._labels(end, spans) for end in ends)):
                said += found
        try:
            return validities(said, whole=False)
        except DataError as error:
            raise RemoteError(
                f"a time label of {self.source.url} is malformed", detail=error.primary
            ) from None


class Matcher:
    """Matches triple patterns of the default graph, and quad patterns of named ones, at ``at``."""

    def __init__(self, source: QuadSource, dynamics: Dynamics, static: StaticCache, at: int) -> None:
        self.source = source
        self.dynamics = dynamics
        self.static = static
        self.at = at
        self.horizon = Horizon(watching=True)
        self.rewriters = [
            Rewriter(source, annotation, at, self.horizon) for annotation in dynamics.annotations
        ]
        self.earliest = FOREVER
        self.found_dynamic = False
        self.valid = self.expired = 0

    async def count(self, pattern: QuadPattern) -> int:
        """About how many quads match: what joins are ordered by."""
        if not await self._dynamic(pattern):
            return await self.static.count(pattern)
        traces = [(one.annotation.trace(pattern), one.at) for one in self.rewriters]
        pages = [await self.source.first(trace, at, self.horizon) for trace, at in traces]
        return max(page.estimate for page in pages)

    async def matching(self, pattern: QuadPattern, keys: Keys | None) -> list[Quad]:
        """The quads that hold at ``at``."""
        if pattern[3] != "":
            return await self._named(pattern, keys)
        if not await self._dynamic(pattern):
            return await self._static(pattern, keys)
        self.found_dynamic = True
        triple = pattern[:3]
        parts = await asyncio.gather(*(one.matching(triple, keys) for one in self.rewriters))
        matches = dict.fromkeys(match for found, _ in parts for match in found)
        out: list[Quad] = [(*match.triple, "") for match in matches if self._holds(match)]
        plain = self._plain([found for _, found in parts])
        if plain is None:
            return out + await self._static(pattern, keys)
        return out + (await self._without_annotation(plain) if pattern[1] is None else plain)

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

    async def _dynamic(self, pattern: QuadPattern) -> bool:
        return pattern[3] == "" and await self.dynamics.dynamic(pattern)

    async def _static(self, pattern: QuadPattern, keys: Keys | None) -> list[Quad]:
        """Static triples; where the predicate is free, without those that only annotate."""
        if pattern[1] is not None or not self.rewriters:
            return await self.static.matching(pattern, keys)
        quads = await self.source.look_up(pattern, keys, self.rewriters[0].at, self.horizon)
        return await self._without_annotation(quads)

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

    async def _named(self, pattern: QuadPattern, keys: Keys | None) -> list[Quad]:
        """Quads of named graphs; graphs that only annotate are not part of the data."""
        quads = [quad for quad in await self.static.matching(pattern, keys) if quad[3]]
        for one in self.rewriters:
            if one.annotation.method is Method.GRAPHS:
                labels = await one.labels(dict.fromkeys(quad[3] for quad in quads))
                quads = [quad for quad in quads if quad[3] not in labels]
        return quads
