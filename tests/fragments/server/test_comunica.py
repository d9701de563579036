"""Comunica, the real client from npm, queries Weir's server and gets the right answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from fragments_kit import ANNOTATIONS, EX
from fragments_peers import ask_comunica, peer, serving
from fragments_queries import DATA, PREFIXES, QUERIES, expected, oxigraph, sparql_json
from server_kit import call, still_service
from weir.fragments.protocol.annotation import FOREVER, Annotation, Fact, Method, Quad, Slot, time_text
from weir.fragments.server import Dataset, FragmentsApp, server
from weir.rdf.formats.guarded_parser import parse_document
from weir.runtime.output.sinks.base import Results

pytestmark = [pytest.mark.network, pytest.mark.peer("comunica")]
FACTS = [Fact(f"<{EX}d{n}>", f"<{EX}delay>", f'"{n % 3}"', 0, FOREVER) for n in range(7)]


def name_of(annotation: Annotation) -> str:
    return str(annotation).replace("/", "-")


def _many() -> list[Quad]:
    quads: list[Quad] = [(f"<{EX}n{n}>", f"<{EX}value>", f'"{n}"', "") for n in range(3000)]
    return quads + [(f"<{EX}n{n}>", f"<{EX}group>", f"<{EX}g{n % 10}>", "") for n in range(3000)]


@pytest.fixture(scope="module")
def app() -> FragmentsApp:
    return FragmentsApp(
        [
            Dataset("d", parse_document(DATA.encode(), "text/turtle"), page_size=50),
            Dataset("many", _many(), page_size=50),
            *(Dataset(name_of(each), annotation=each, page_size=3) for each in ANNOTATIONS),
        ]
    )


@pytest.fixture(scope="module")
def base(app: FragmentsApp) -> Iterator[str]:
    peer("comunica")
    for each in ANNOTATIONS:
        app.datasets[name_of(each)].push(FACTS, 1)
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


_VARIABLES = {
    Slot.SUBJECT: "?d",
    Slot.PREDICATE: f"<{EX}delay>",
    Slot.OBJECT: "?x",
    Slot.NODE: "?node",
    Slot.SPAN: "?span",
    Slot.START: "?start",
    Slot.END: "?end",
}


def query_of(annotation: Annotation) -> str:
    """What asks for the facts of an annotation with their ends, in plain SPARQL."""
    parts = []
    for shape in annotation.shapes:
        s, p, o, g = (_VARIABLES.get(place, place) if isinstance(place, Slot) else place for place in shape)
        parts.append(f"GRAPH {g} {{ {s} {p} {o} }}" if g else f"{s} {p} {o} .")
    return f"SELECT ?d ?x ?end {{ {' '.join(parts)} }}"


@pytest.mark.parametrize("kind", ["qpf", "brtpf"])
def test_facts_of_every_annotation(base: str, kind: str) -> None:
    end = time_text(FOREVER)
    every = sorted(f"d={f.subject} end={end} x={f.object}" for f in FACTS)
    for annotation in ANNOTATIONS:
        source = {"value": f"{base}/{name_of(annotation)}", "type": kind}
        (answer,) = ask_comunica([query_of(annotation)], source)
        found = sparql_json(answer)
        if annotation.method is Method.IMPLICIT:
            # Which label belongs to which triple only the address of a fragment says: all pairs are found.
            assert len(found) == len(FACTS) ** 2 and set(every) == set(found)
        else:
            assert found == every, annotation


def test_results_of_the_service_are_found_by_the_predicates_that_it_tells(tmp_path: Path) -> None:
    """Published and asked as documented, by a client with its default settings."""
    service = still_service(tmp_path)
    text = "SELECT ?room ?n WHERE { STREAM <http://e/s> [RANGE 10s] { ?room <http://e/has> ?n } }"
    service.register(text, "crowded", "cqels", "auto")
    told = call(service, "PUT", "/api/queries/crowded/fragments", json={"lifetime": 3600}).json()
    uri, number = {"type": "uri", "value": f"{EX}hall"}, {"type": "literal", "value": "7"}
    line = {"query": "crowded", "at": 0, "op": "R", "bindings": {"room": uri, "n": number}}
    lines = pa.array([json.dumps(line) + "\n"], pa.large_string())
    service.sink.write(0, [Results("crowded", pa.table({"at": [0], "line": lines}))])
    found = told["predicates"]
    asked = [
        f"SELECT ?room ?n {{ ?result <{found['room']}> ?room ; <{found['n']}> ?n }}",
        f"SELECT ?p {{ ?result ?p <{EX}hall> }}",
    ]
    with serving(lambda port: server(service.fragments, port=port)) as address:
        name = told["dataset"].rpartition("/")[2]
        rows, predicates = ask_comunica(asked, {"value": f"{address}/{name}"})
    assert sparql_json(rows) == [f'n="7" room=<{EX}hall>']
    assert sparql_json(predicates) == [f"p=<{found['room']}>"]
