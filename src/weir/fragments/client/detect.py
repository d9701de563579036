"""Metadata queries (section 5): which annotations a server uses, and which patterns are dynamic.

A few small fragments tell: do labels exist at all, what do their nodes stand for, and does a pattern's
predicate occur among annotated facts? Weir's server declares its annotation and says of a page when it
will change, which also tells of facts still to come. A pattern about which nothing is known yet (it
matches nothing) counts as dynamic, so that facts that appear later are seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from weir.fragments.client.quad_source import Horizon, QuadSource
from weir.fragments.protocol.annotation import (
    EXPIRATION,
    FLAT_FINAL,
    INSTANT,
    INTERVAL,
    LABELS,
    RDF_PREDICATE,
    SINGLETON_OF,
    Annotation,
    Labeling,
    Method,
    QuadPattern,
    matches,
)
from weir.fragments.protocol.controls import PREDICATE, text_of

_SAMPLES = 3
_DECLARED = {f'"{a}"': a for a in (Annotation(m, labeling) for m in Method for labeling in Labeling)}


async def detect_annotations(source: QuadSource) -> tuple[Annotation, ...]:
    """The annotations in use at a source; none where it declares none and has no time labels."""
    declared = [_DECLARED[text] for text in source.declared if text in _DECLARED]
    if declared:
        return tuple(declared)
    kinds = (
        (EXPIRATION, Labeling.EXPIRATION, False),
        (INTERVAL, Labeling.INTERVAL, False),
        (FLAT_FINAL, Labeling.INTERVAL, True),
        (INSTANT, Labeling.INTERVAL, True),
    )
    pages = await asyncio.gather(*(source.first((None, predicate, None, "")) for predicate, _, _ in kinds))
    found: dict[Annotation, None] = {}
    for page, (predicate, labeling, flat) in zip(pages, kinds, strict=True):
        quads = [quad for quad in page.data if quad[1] == predicate]
        for node in _sample([quad[0] for quad in quads]):
            method = await _method(source, node)
            if method is not None:
                found[Annotation(method, labeling, flat)] = None
    return tuple(found)


def _sample(nodes: Sequence[str]) -> list[str]:
    distinct = list(dict.fromkeys(node for node in nodes if node.startswith("<")))
    step = max(1, len(distinct) // _SAMPLES)
    return distinct[::step][:_SAMPLES]


async def _method(source: QuadSource, node: str) -> Method | None:
    """What a labelled node stands for."""
    if is_implicit(source, node):
        return Method.IMPLICIT
    asked: list[tuple[Method, QuadPattern]] = [
        (Method.SINGLETON, (node, SINGLETON_OF, None, "")),
        (Method.REIFICATION, (node, RDF_PREDICATE, None, "")),
    ]
    if source.quads:
        asked.append((Method.GRAPHS, (None, None, None, node)))
    pages = await asyncio.gather(*(source.first(pattern) for _, pattern in asked))
    for (method, pattern), page in zip(asked, pages, strict=True):
        if any(matches(quad, pattern) for quad in page.data):
            return method
    return None


def is_implicit(source: QuadSource, node: str) -> bool:
    """Whether a node is named like a fragment of this source."""
    head = source.plain.template.partition("{")[0]
    return bool(head) and node.startswith(f"<{head}") and implicit_predicate(source, node) is not None


def implicit_predicate(source: QuadSource, node: str) -> str | None:
    """The predicate in the name of an implicit graph; None where the name does not tell."""
    field = source.plain.mappings[PREDICATE]
    values = parse_qs(urlsplit(node[1:-1]).query).get(field, [])
    text = text_of(values[0]) if len(values) == 1 else None
    return text if isinstance(text, str) else None


class Dynamics:
    """Tells dynamic patterns from static ones, and remembers what it learned of each predicate."""

    def __init__(self, source: QuadSource, annotations: tuple[Annotation, ...]) -> None:
        self.source = source
        self.annotations = annotations
        self._static: set[QuadPattern] = set()
        self._doubted: set[QuadPattern] = set()
        self._dynamic: set[QuadPattern] = set()
        self._implicit: set[str] | None = None
        self._unknown = Horizon(watching=True)

    async def dynamic(self, pattern: QuadPattern) -> bool:
        """Whether facts with validity may match a pattern of the default graph."""
        if not self.annotations or pattern[1] in LABELS or pattern in self._static:
            return False
        if pattern in self._dynamic or pattern[1] is None:
            return True
        if pattern in self._doubted and self.source.fresh(pattern):
            return False
        for annotation in self.annotations:
            if await self._occurs(annotation, pattern):
                self._dynamic.add(pattern)
                return True
        page = await self.source.first(pattern, None, self._unknown)
        if any(matches(quad, pattern) for quad in page.data):
            self._static.add(pattern)
            return False
        return True

    async def _occurs(self, annotation: Annotation, pattern: QuadPattern) -> bool:
        asked = annotation.trace(pattern)
        page = await self.source.first(asked, None, self._unknown)
        if self.source.extended and page.expires is not None:
            return True
        if annotation.method is Method.IMPLICIT:
            return pattern[1] in await self._implicit_predicates()
        if annotation.method is not Method.GRAPHS:
            return any(matches(quad, asked) for quad in page.data)
        if any(quad[3] for quad in page.data):
            return True
        return page.next is not None and page.estimate > (await self.source.first(pattern)).estimate

    async def _implicit_predicates(self) -> set[str]:
        """The predicates in the names of all labelled implicit graphs."""
        if self._implicit is None:
            wholes = await asyncio.gather(
                *(
                    self.source.look_up((None, label, None, ""))
                    for label in (EXPIRATION, INTERVAL, FLAT_FINAL, INSTANT)
                )
            )
            names = {implicit_predicate(self.source, quad[0]) for whole in wholes for quad in whole}
            self._implicit = {name for name in names if name is not None}
        return self._implicit

    def forget(self) -> None:
        """Learn anew what was seen to be dynamic nowhere (facts may have appeared), once what the server said
        of it is no longer fresh."""
        self._doubted |= self._static
        self._static.clear()
        self._implicit = None
