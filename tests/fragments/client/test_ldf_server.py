"""Weir's client queries @ldf/server, the real one from npm, and gets the right answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fragments_kit import EX, SECOND, T0, Crank, annotate
from fragments_peers import ldf_server
from fragments_queries import DATA, PREFIXES, QUERIES, expected, oxigraph, rows_texts
from weir.fragments.client import Update, follow, follow_async
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method
from weir.language import parse

pytestmark = [pytest.mark.network, pytest.mark.peer("ldf-server")]

ANNOTATIONS = [
    Annotation(method, labeling)
    for method in (Method.GRAPHS, Method.SINGLETON, Method.REIFICATION)
    for labeling in Labeling
]


def annotated(annotation: Annotation) -> str:
    """Five facts, and with intervals five that follow them, in TriG."""
    facts = [
        Fact(f"<{EX}d{n}>", f"<{EX}delay>", f'"{n + v}"', T0 + v * 10 * SECOND, T0 + (v + 1) * 10 * SECOND)
        for n in range(5)
        for v in range(2 if annotation.labeling is Labeling.INTERVAL else 1)
    ]
    graphs: dict[str, list[str]] = {}
    for number, fact in enumerate(facts):
        for s, p, o, g in annotate(fact, annotation, f"<{EX}node{number}>", f"<{EX}span{number}>"):
            graphs.setdefault(g, []).append(f"{s} {p} {o} .")
    return "".join(f"{g} {{ {' '.join(lines)} }}\n" for g, lines in graphs.items())


def name_of(annotation: Annotation) -> str:
    return f"{annotation.method.value}-{annotation.labeling.value}"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("ldf")
    files = {"d": folder / "data.ttl"}
    files["d"].write_text(DATA, encoding="utf-8")
    for annotation in ANNOTATIONS:
        files[name_of(annotation)] = folder / f"{name_of(annotation)}.trig"
        files[name_of(annotation)].write_text(annotated(annotation), encoding="utf-8")
    with ldf_server(files) as address:
        yield address


def test_the_query_set(base: str) -> None:
    store = oxigraph()
    wrong = []
    for query in QUERIES:
        (update,) = follow(parse(PREFIXES + query, dialect="sparql"), f"{base}/d")
        found = rows_texts(update.added)
        if found != expected(store, query):
            wrong.append((query, found, expected(store, query)))
    assert not wrong


async def _without_date(response: httpx.Response) -> None:
    del response.headers["date"]


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_annotated_facts(base: str, annotation: Annotation) -> None:
    query = f"SELECT ?d ?x {{ ?d <{EX}delay> ?x }}"

    async def run() -> list[Update]:
        found = []
        # The clock is cranked, so the server's own time must not be believed.
        async with httpx.AsyncClient(event_hooks={"response": [_without_date]}) as client:
            url = f"{base}/{name_of(annotation)}"
            async for update in follow_async(query, url, client=client, clock=Crank(T0 + SECOND)):
                found.append(update)
                if len(found) == 2:
                    break
        return found

    first, second = asyncio.run(run())
    assert rows_texts(first.added) == sorted(f'd=<{EX}d{n}> x="{n}"' for n in range(5))
    assert second.at >= T0 + 10 * SECOND and len(second.removed) == 5
    assert len(second.added) == (5 if annotation.labeling is Labeling.INTERVAL else 0)
