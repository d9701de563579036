"""Comunica, the real client from npm, queries Weir's server and gets the right answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fragments_kit import EX
from fragments_peers import ask_comunica, peer, serving
from fragments_queries import DATA, PREFIXES, QUERIES, expected, oxigraph, sparql_json
from weir.fragments.protocol.annotation import FOREVER, Annotation, Fact, Labeling, Method, Quad, time_text
from weir.fragments.server import Dataset, FragmentsApp, server
from weir.rdf.formats.guarded_parser import parse_document

pytestmark = pytest.mark.network
FACTS = [Fact(f"<{EX}d{n}>", f"<{EX}delay>", f'"{n % 3}"', 0, FOREVER) for n in range(7)]


def _many() -> list[Quad]:
    quads: list[Quad] = [(f"<{EX}n{n}>", f"<{EX}value>", f'"{n}"', "") for n in range(3000)]
    return quads + [(f"<{EX}n{n}>", f"<{EX}group>", f"<{EX}g{n % 10}>", "") for n in range(3000)]


@pytest.fixture(scope="module")
def app() -> FragmentsApp:
    return FragmentsApp(
        [
            Dataset("d", parse_document(DATA.encode(), "text/turtle"), page_size=50),
            Dataset("many", _many(), page_size=50),
            Dataset("dynamic", annotation=Annotation(Method.GRAPHS, Labeling.EXPIRATION), page_size=3),
            Dataset("history", annotation=Annotation(Method.SINGLETON, Labeling.INTERVAL), page_size=3),
        ]
    )


@pytest.fixture(scope="module")
def base(app: FragmentsApp) -> Iterator[str]:
    peer("comunica")
    for name in ("dynamic", "history"):
        app.datasets[name].push(FACTS, 1)
    with serving(lambda port: server(app, port=port)) as address:
        yield address


@pytest.mark.parametrize("kind", ["qpf", "brtpf"])
def test_the_query_set(base: str, kind: str) -> None:
    source = {"value": f"{base}/d"} | ({"type": "brtpf"} if kind == "brtpf" else {})
    answers = ask_comunica([PREFIXES + query for query in QUERIES], source)
    store = oxigraph()
    wrong = [
        (query, answer)
        for query, answer in zip(QUERIES, answers, strict=True)
        if "error" in answer or sparql_json(answer) != expected(store, query)
    ]
    assert not wrong


def test_bindings_restricted_requests_are_fewer(app: FragmentsApp, base: str) -> None:
    query = f"SELECT ?x ?v {{ ?x <{EX}group> <{EX}g3> ; <{EX}value> ?v }}"
    counts = {}
    for kind in ("qpf", "brtpf"):
        before = app.responder.counters["requests"]
        (answer,) = ask_comunica([query], {"value": f"{base}/many", "type": kind})
        assert len(answer["results"]["bindings"]) == 300
        counts[kind] = app.responder.counters["requests"] - before
    assert counts["brtpf"] * 3 <= counts["qpf"]


def test_annotated_facts(base: str) -> None:
    (answer,) = ask_comunica(
        [
            "PREFIX tmp: <http://example.org/temporal#> SELECT ?d ?x ?e "
            f"{{ GRAPH ?g {{ ?d <{EX}delay> ?x }} ?g tmp:expiration ?e }}"
        ],
        {"value": f"{base}/dynamic"},
    )
    end = time_text(FOREVER).partition('"^^')[0]
    assert sparql_json(answer) == sorted(
        f'd={f.subject} e={end}"^^<http://www.w3.org/2001/XMLSchema#dateTime> x={f.object}' for f in FACTS
    )


def test_a_history_of_singleton_properties(base: str) -> None:
    (answer,) = ask_comunica(
        [
            "PREFIX tmp: <http://example.org/temporal#> PREFIX sp: <http://example.org/singletonproperties#> "
            f"SELECT ?d ?x {{ ?p sp:singletonPropertyOf <{EX}delay> ; tmp:interval ?i . ?d ?p ?x . "
            "?i tmp:initial ?a ; tmp:final ?b }"
        ],
        {"value": f"{base}/history"},
    )
    assert sparql_json(answer) == sorted(f"d={f.subject} x={f.object}" for f in FACTS)
