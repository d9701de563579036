"""Following a server that knows nothing of Weir: no instants, no bindings, no hints, as in the paper."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from fragments_kit import EX, SECOND, T0, Crank, annotate, direct, texts
from fragments_naive import NaiveServer
from weir.fragments.client import Options, follow_async
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method, Quad
from weir.fragments.protocol.controls import Form
from weir.rdf.terms import RDF

STATIC: list[Quad] = [(f"<{EX}d{n}>", f"<{EX}label>", f'"d{n}"', "") for n in range(5)]
FACTS = [
    Fact(
        f"<{EX}d{n}>",
        f"<{EX}{p}>",
        f'"{(n * 3 + v * k) % 4}"',
        T0 + v * 10 * SECOND,
        T0 + (v + 1) * 10 * SECOND,
    )
    for v in range(4)
    for k, p in ((1, "delay"), (2, "platform"))
    for n in range(4)
]
QUERY = f'SELECT ?d ?l ?x ?y {{ ?d <{EX}delay> ?x ; <{EX}platform> ?y ; <{EX}label> ?l FILTER(?x != "0") }}'
_FORM = Form(
    "http://plain.test/d{?subject,predicate,object}", {RDF + n: n for n in ("subject", "predicate", "object")}
)


def published(annotation: Annotation, now: int) -> list[Quad]:
    """What the paper's server holds: the present version of each fact, or its whole history so far."""
    quads = list(STATIC)
    for number, fact in enumerate(FACTS):
        shown = (
            fact.start <= now if annotation.labeling is Labeling.INTERVAL else fact.start <= now < fact.end
        )
        if shown:
            node = f"<{EX}node{number}>"
            if annotation.method is Method.IMPLICIT:
                node = _FORM.implicit_graph(fact.triple)
            quads += annotate(fact, annotation, node, f"<{EX}span{number}>")
    return list(dict.fromkeys(quads))


VARIANTS = [
    *(Annotation(m, labeling) for m in Method for labeling in Labeling),
    *(Annotation(m, Labeling.INTERVAL, flat=True) for m in Method if m is not Method.IMPLICIT),
]


@pytest.mark.parametrize("told", [False, True], ids=["detected", "told"])
@pytest.mark.parametrize("annotation", VARIANTS, ids=lambda a: f"{a}{'-flat' if a.flat else ''}")
def test_every_annotation_is_found_and_followed(annotation: Annotation, told: bool) -> None:
    clock = Crank(T0 + 2 * SECOND)
    server = NaiveServer(lambda: published(annotation, clock.now()), page_size=7)
    options = Options(annotation=annotation if told else None)

    async def run() -> None:
        shown: list[str] = []
        async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
            async for update in follow_async(
                QUERY, "http://plain.test/d", clock=clock, client=client, options=options
            ):
                for row in texts(update.removed):
                    shown.remove(row)
                shown = sorted(shown + texts(update.added))
                assert shown == direct(QUERY, STATIC, FACTS, update.at)
                times.append((update.at - T0) // SECOND)
                if update.at >= T0 + 30 * SECOND:
                    break

    times: list[int] = []
    asyncio.run(run())
    assert times == [2, 10, 20, 30]


def test_a_triples_only_server_in_turtle() -> None:
    annotation = Annotation(Method.SINGLETON, Labeling.EXPIRATION)
    clock = Crank(T0 + 2 * SECOND)
    server = NaiveServer(lambda: published(annotation, clock.now()), page_size=7, graphs=False)
    server.media_type = "text/turtle"
    server.body = lambda text: "\n".join(_without_graph(line) for line in text.splitlines())

    async def run() -> list[str]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
            async for update in follow_async(QUERY, "http://plain.test/d", clock=clock, client=client):
                return texts(update.added)
        return []

    assert asyncio.run(run()) == direct(QUERY, STATIC, FACTS, clock.now())


def _without_graph(line: str) -> str:
    head, _, tail = line[:-2].rpartition(" ")
    return f"{head} ." if tail.endswith("#metadata>") and line.count(" ") > 3 else line


def test_a_static_source_is_answered_once() -> None:
    clock = Crank()
    server = NaiveServer(lambda: STATIC, page_size=2)

    async def run() -> list[object]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
            query = f"SELECT ?d {{ ?d <{EX}label> ?l }}"
            return [u async for u in follow_async(query, "http://plain.test/d", clock=clock, client=client)]

    (update,) = asyncio.run(run())
    assert update.next is None and len(update.added) == 5  # type: ignore[attr-defined]


def test_without_the_cache_static_patterns_are_fetched_at_every_evaluation() -> None:
    annotation = Annotation(Method.GRAPHS, Labeling.EXPIRATION)

    async def requests(cache: bool) -> list[int]:
        clock = Crank(T0 + 2 * SECOND)
        server = NaiveServer(lambda: published(annotation, clock.now()), page_size=100)
        found = []
        async with httpx.AsyncClient(transport=httpx.ASGITransport(server)) as client:
            async for update in follow_async(
                QUERY, "http://plain.test/d", clock=clock, client=client, options=Options(cache=cache)
            ):
                found.append(update.statistics["requests"])
                if len(found) == 4:
                    break
        return found

    cached, anew = asyncio.run(requests(True)), asyncio.run(requests(False))
    assert all(a < b for a, b in zip(cached[1:], anew[1:], strict=True))
