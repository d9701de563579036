"""Translations and the network of C-SPARQL queries, run on random streams: the same answers come out."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

import weir
from language.texts import SCALE
from reference_kit import static_of
from shared import ROOT
from weir.kernel.reference.continuous_query import ContinuousQuery
from weir.kernel.reference.windows import Message
from weir.language import Query, translate
from weir.rdf.terms import IRI, BlankNode, Literal, Term

SECOND = 1_000_000
STEP = 10 * SECOND
BASE = "http://e/"
Answer = Counter[tuple[int, object]]

NETWORKS = [
    """PREFIX : <http://e/> CONSTRUCT RSTREAM { ?t a :Emerging }
    FROM NAMED WINDOW :l ON :s [RANGE 40s STEP 10s]
    FROM NAMED WINDOW :w ON :s [RANGE 10s STEP 10s] {
      WINDOW :l { SELECT ?t (COUNT(*) AS ?n) { ?m :p ?t } GROUP BY ?t }
      WINDOW :w { SELECT ?t (COUNT(*) AS ?k) { ?m :p ?t } GROUP BY ?t } FILTER (?k - ?n / 4 > 0.4) }""",
    """PREFIX : <http://e/> SELECT ?x ?y ?z FROM NAMED WINDOW :l ON :s [RANGE 20s STEP 10s]
    FROM NAMED WINDOW :w ON :s [RANGE 10s STEP 10s] {
      WINDOW :l { ?x :p ?y OPTIONAL { ?y :q ?z } } WINDOW :w { ?x :p ?w } }""",
    """PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) ?x FROM NAMED WINDOW :l ON :s [RANGE 20s STEP 10s]
    FROM NAMED WINDOW :w ON :s [RANGE 30s STEP 10s] {
      WINDOW :l { ?a :p ?x } WINDOW :w { { ?x :q ?b } UNION { ?b :p ?x } } } GROUP BY ?x""",
]

TRIPLES = st.tuples(
    st.sampled_from("abc").map(lambda name: IRI(BASE + name)),
    st.sampled_from("pq").map(lambda name: IRI(BASE + name)),
    st.one_of(st.sampled_from("abc").map(lambda name: IRI(BASE + name)), st.just(Literal("x"))),
    st.none(),
)
STREAMS = st.lists(
    st.tuples(st.integers(0, 70), st.lists(TRIPLES, min_size=1, max_size=3)), min_size=1, max_size=10
).map(
    lambda found: [
        Message(at * SECOND, tuple(quads)) for at, quads in sorted(found, key=lambda pair: pair[0])
    ]
)
PLACES = [IRI(BASE + name) for name in "abc"]
FLOORPLAN = static_of(
    named={
        "http://deri.org/floorplan/": [
            (PLACES[here], IRI("http://deri.org/floorplan/connected"), PLACES[there])
            for here, there in ((0, 1), (1, 2), (2, 0), (2, 2))
        ]
    }
)


def plain(row: object) -> object:
    """A row without the order of its variables; blank nodes all alike."""
    if isinstance(row, dict):
        return frozenset((name, plain(term)) for name, term in row.items())
    if isinstance(row, tuple):
        return tuple(map(plain, row))
    return "blank" if isinstance(row, BlankNode) else row


def answers(query: Query, streams: dict[str, list[Message]]) -> list[tuple[int, list[object]]]:
    run = ContinuousQuery(query, FLOORPLAN)
    through = max((m.time for messages in streams.values() for m in messages), default=0)
    return [(found.at, list(found.rows)) for found in run.advance(streams, through, end=True)]


def counted(found: list[tuple[int, list[object]]], shift: int = 0) -> Answer:
    return Counter((at + shift, plain(row)) for at, rows in found for row in rows)


@settings(max_examples=60 * SCALE, deadline=None, print_blob=True)
@given(st.sampled_from(NETWORKS), STREAMS)
def test_the_network_answers_one_step_later(text: str, stream: list[Message]) -> None:
    query = weir.parse(text)
    network = translate(query, "csparql")
    assert isinstance(network, list)
    streams = {BASE + "s": stream}
    for name, part in network[:-1]:
        rows = answers(weir.parse(part, "csparql"), streams)
        streams[name] = [
            Message(at, tuple((s, p, o, None) for s, p, o in triples)) for at, triples in rows if triples
        ]
    last = weir.parse(network[-1][1], "csparql")
    assert counted(answers(last, streams)) == counted(answers(query, {BASE + "s": stream}), STEP)


@settings(max_examples=40 * SCALE, deadline=None, print_blob=True)
@given(st.sampled_from(["q2", "listing2"]), STREAMS)
def test_cqels_translated_to_rspql_answers_alike(name: str, stream: list[Message]) -> None:
    text = (ROOT / "examples" / "languages" / "cqels" / f"{name}.rq").read_text()
    query = weir.parse(text)
    there = weir.parse(str(translate(query, "rspql")))
    (source,) = query.streams
    renamed = [Message(m.time, tuple(_like(quad) for quad in m.quads)) for m in stream]
    assert answers(there, {str(source): renamed}) == answers(query, {str(source): renamed})


def _like(quad: tuple[Term, Term, Term, Term | None]) -> tuple[Term, Term, Term, Term | None]:
    """Random triples as the queries' own: p is a topic, q a detection."""
    predicates = {
        BASE + "p": IRI("http://rdfs.org/sioc/ns#topic"),
        BASE + "q": IRI("http://deri.org/floorplan/detectedAt"),
    }
    subject, predicate, object, graph = quad
    assert isinstance(predicate, IRI)
    return subject, predicates[predicate.value], object, graph
