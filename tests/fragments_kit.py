"""What the tests of fragments share: a hand-cranked clock, an application behind a client, brute force."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import product

import httpx

from fragments_naive import NaiveServer
from reference_kit import evaluate_query, static_of
from weir.fragments.client import ClientLimits, Options, Update, follow_async
from weir.fragments.client.page import Pages
from weir.fragments.client.quad_source import QuadSource
from weir.fragments.protocol.annotation import (
    Annotation,
    Fact,
    Labeling,
    Method,
    Place,
    Quad,
    Slot,
    time_text,
)
from weir.fragments.server import Dataset, FragmentsApp
from weir.language import parse
from weir.rdf.terms import parse_term

SECOND = 1_000_000
T0 = 1_700_000_000 * SECOND
EX = "http://example.org/"
EXAMPLES = max(1, int(float(os.environ.get("WEIR_EXAMPLES", "1"))))

ANNOTATIONS = [Annotation(method, labeling) for method, labeling in product(Method, Labeling)]


class Crank:
    """A clock that stands still until somebody waits for a time."""

    def __init__(self, now: int = T0) -> None:
        self.time = now

    def now(self) -> int:
        return self.time

    async def sleep_until(self, instant: int) -> None:
        self.time = max(self.time, instant)


@asynccontextmanager
async def client_of(app: FragmentsApp | NaiveServer) -> AsyncIterator[httpx.AsyncClient]:
    """An HTTP client whose requests go straight to the application."""
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://weir.test", follow_redirects=True
    ) as client:
        yield client


@asynccontextmanager
async def opened(
    app: FragmentsApp | NaiveServer, clock: Crank | None = None, **options: bool
) -> AsyncIterator[QuadSource]:
    """The data set ``d`` of an application as the client's source of quads."""
    async with client_of(app) as client:
        pages = Pages(client, clock or Crank(), ClientLimits())
        source = QuadSource("http://weir.test/d", pages, **options)
        await source.open()
        yield source


async def updates(
    query: str,
    app: FragmentsApp,
    clock: Crank,
    *,
    until: int,
    name: str = "d",
    options: Options | None = None,
) -> list[Update]:
    """Every evaluation of a query up to a time."""
    found = []
    async with client_of(app) as client:
        url = f"http://weir.test/{name}"
        options = replace(options or Options(), jitter=0.0)
        async for update in follow_async(query, url, options=options, clock=clock, client=client):
            if update.at > until:
                break
            found.append(update)
            if update.next is None or update.next > until:
                break
    return found


def direct(query: str, static: Iterable[Quad], facts: Iterable[Fact], at: int) -> list[str]:
    """The query evaluated over the graph as it is at one instant, as sorted texts."""
    triples = dict.fromkeys(quad[:3] for quad in static if not quad[3])
    triples |= dict.fromkeys(fact.triple for fact in facts if fact.start <= at < fact.end)
    named: dict[str, dict[tuple[str, str, str], None]] = {}
    for quad in static:
        if quad[3]:
            named.setdefault(quad[3][1:-1], {})[quad[:3]] = None
    terms = [tuple(map(parse_term, triple)) for triple in triples]
    graphs = {name: [tuple(map(parse_term, triple)) for triple in some] for name, some in named.items()}
    rows = evaluate_query(parse(query, dialect="sparql"), static_of(terms, graphs), now=at)  # type: ignore[arg-type]
    return texts(rows)


def texts(rows: Sequence[object]) -> list[str]:
    """Result rows as sorted texts."""
    return sorted(
        " ".join(f"{name}={term}" for name, term in sorted(row.items()))
        if isinstance(row, dict)
        else " ".join(map(str, row))
        if isinstance(row, tuple)
        else str(row)
        for row in rows
    )


def dataset(static: Iterable[Quad], facts: Iterable[Fact], annotation: Annotation, **options: int) -> Dataset:
    """A data set named ``d`` that knows all facts from the start."""
    made = Dataset("d", static, annotation=annotation, **options)  # type: ignore[arg-type]
    made.push(list(facts), T0)
    return made


def annotate(fact: Fact, annotation: Annotation, node: str, span: str = "") -> list[Quad]:
    """The quads of one fact; ``node`` and ``span`` are texts of its own nodes."""
    filled = {
        Slot.SUBJECT: fact.subject,
        Slot.PREDICATE: fact.predicate,
        Slot.OBJECT: fact.object,
        Slot.NODE: node,
        Slot.SPAN: span,
        Slot.START: time_text(fact.start),
        Slot.END: time_text(fact.end),
    }

    def fill(place: Place) -> str:
        return filled[place] if isinstance(place, Slot) else place

    return [(fill(s), fill(p), fill(o), fill(g)) for s, p, o, g in annotation.shapes]
