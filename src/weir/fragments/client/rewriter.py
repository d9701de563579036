"""The rewriter (section 5): facts with their validity, through whichever annotation a server uses.

A dynamic triple pattern becomes the shapes of its annotation: the statement is looked up first, then the
labels of the nodes found. On intervals: a match is a fact with ``[start, end)``; what has no label
holds for ever.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from weir.errors import RemoteError
from weir.fragments.client.page import label_time
from weir.fragments.client.quad_source import Horizon, Keys, Pattern4, QuadSource
from weir.fragments.protocol.annotation import (
    BEGINNING,
    EXPIRATION,
    FINAL,
    FLAT_FINAL,
    FLAT_INITIAL,
    INITIAL,
    INTERVAL,
    LABELS,
    REIFIED,
    SINGLETON_OF,
    Annotation,
    Fact,
    Labeling,
    Method,
    Quad,
    TripleText,
)

Validity = tuple[int, int]


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
        if method is Method.SINGLETON:
            borne = await self._singletons(triple, keys)
        elif method is Method.REIFICATION:
            borne = await self._statements(triple, keys)
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

    async def _look_up(self, pattern: Pattern4, keys: Keys | None = None) -> list[Quad]:
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
        borne = [(n, (a, properties[n], b)) for a, n, b, _ in statements if n in properties]
        return borne if keys is None else [pair for pair in borne if keys.wanted([(*pair[1], "")])]

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
        borne = [
            (node, (known[0][node], known[1][node], known[2][node]))
            for node in nodes
            if all(node in known[place] for place in range(3))
        ]
        return borne if keys is None else [pair for pair in borne if keys.wanted([(*pair[1], "")])]

    async def labels(self, nodes: Collection[str]) -> dict[str, list[Validity]]:
        """When the facts that these nodes stand for hold.

        They are asked for in the order given: clients that saw the same page ask for the same labels.
        """
        if not nodes:
            return {}
        labels: dict[str, list[Validity]] = defaultdict(list)
        if self.annotation.labeling is Labeling.EXPIRATION:
            for node, _, time, _ in await self._labels(EXPIRATION, nodes):
                labels[node].append((BEGINNING, label_time(node, time)))
            return labels
        if self.annotation.flat:
            spans = {node: [node] for node in nodes}
            start, end = FLAT_INITIAL, FLAT_FINAL
        else:
            spans = defaultdict(list)
            for node, _, span, _ in await self._labels(INTERVAL, nodes):
                spans[node].append(span)
            start, end = INITIAL, FINAL
        wanted = dict.fromkeys(span for some in spans.values() for span in some)
        starts, ends = await asyncio.gather(self._labels(start, wanted), self._labels(end, wanted))
        initial = {span: label_time(span, time) for span, _, time, _ in starts}
        final = {span: label_time(span, time) for span, _, time, _ in ends}
        for node, some in spans.items():
            for span in some:
                if span in initial and span in final:
                    if initial[span] > final[span]:
                        raise RemoteError(f"the interval of {node} ends before it starts")
                    labels[node].append((initial[span], final[span]))
        return labels
