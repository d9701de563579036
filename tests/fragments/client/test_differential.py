"""The client's results at every time equal a direct evaluation at that time, for every annotation."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import ANNOTATIONS, EX, EXAMPLES, SECOND, T0, Crank, dataset, direct, texts, updates
from weir.fragments.client import Options
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Quad
from weir.fragments.server import FragmentsApp

QUERIES = [
    "SELECT ?s ?x { ?s <http://example.org/p> ?x }",
    "SELECT ?s ?x ?y { ?s <http://example.org/p> ?x ; <http://example.org/q> ?y }",
    "SELECT ?s ?l ?x { ?s <http://example.org/label> ?l . ?s <http://example.org/p> ?x }",
    "SELECT ?a ?b { ?a <http://example.org/p> ?b . ?b <http://example.org/q> ?a }",
    "SELECT ?s ?x { ?s <http://example.org/label> ?l OPTIONAL { ?s <http://example.org/p> ?x } }",
    "SELECT ?s { ?s <http://example.org/label> ?l MINUS { ?s <http://example.org/p> ?x } }",
    "SELECT ?s { ?s <http://example.org/label> ?l FILTER NOT EXISTS { ?s <http://example.org/q> ?x } }",
    "SELECT ?x (COUNT(*) AS ?n) { ?s <http://example.org/p> ?x } GROUP BY ?x",
    "SELECT ?s ?x { { ?s <http://example.org/p> ?x } UNION { ?s <http://example.org/q> ?x } }",
    "SELECT ?s ?p ?o { ?s ?p ?o }",
    "SELECT ?p { <http://example.org/n1> ?p ?o }",
    "SELECT ?s ?o { ?s <http://example.org/p>+ ?o }",
    "SELECT ?s ?o { ?s <http://example.org/label> ?l . ?s <http://example.org/p>* ?o }",
    "SELECT ?s ?o { ?s !<http://example.org/p> ?o }",
    "ASK { ?s <http://example.org/p> <http://example.org/n2> }",
    "CONSTRUCT { ?x <http://example.org/of> ?s } { ?s <http://example.org/p> ?x }",
    "SELECT DISTINCT ?x { ?s <http://example.org/q> ?x FILTER(?x != <http://example.org/n1>) }",
    "SELECT ?s ?m { ?s <http://example.org/label> ?l { SELECT ?s (MAX(?x) AS ?m) "
    "{ ?s <http://example.org/p> ?x } GROUP BY ?s } }",
    "SELECT ?x { VALUES ?s { <http://example.org/n0> <http://example.org/n3> } "
    "?s <http://example.org/p> ?x }",
    "DESCRIBE ?s { ?s <http://example.org/q> <http://example.org/n1> }",
]


def node(number: int) -> str:
    return f"<{EX}n{number}>"


nodes = st.integers(0, 4).map(node)
predicates = st.sampled_from([f"<{EX}p>", f"<{EX}q>"])
values = st.one_of(nodes, st.integers(0, 2).map(lambda n: f'"{n}"'))


@st.composite
def scenarios(draw: st.DrawFn) -> tuple[list[Quad], list[Fact]]:
    """Static triples, some of a predicate that dynamic facts have too, and facts that come and go."""
    static = {(node(n), f"<{EX}label>", f'"n{n}"', ""): None for n in draw(st.sets(st.integers(0, 4)))}
    for s, p, o in draw(st.lists(st.tuples(nodes, predicates, values), max_size=3)):
        static[s, p, o, ""] = None
    facts: list[Fact] = []
    for s, p, o in draw(st.lists(st.tuples(nodes, predicates, values), min_size=1, max_size=8)):
        start = draw(st.integers(0, 8))
        end = start + draw(st.integers(1, 6))
        fact = Fact(s, p, o, T0 + start * SECOND, T0 + end * SECOND)
        clash = any(f.triple == fact.triple and f.start < fact.end and fact.start < f.end for f in facts)
        if not clash and (s, p, o, "") not in static:
            facts.append(fact)
    return list(static), facts


def check(query: str, static: list[Quad], facts: list[Fact], annotation: Annotation, page_size: int) -> None:
    """Follow the query and compare after every change of the data, and in between."""
    clock = Crank()
    app = FragmentsApp([dataset(static, facts, annotation, page_size=page_size)], clock=clock.now)
    end = T0 + 16 * SECOND
    options = Options(max_interval=30.0, stop_when_static=False)
    found = asyncio.run(updates(query, app, clock, until=end, options=options))
    shown: list[str] = []
    times = [update.at for update in found] + [end]
    for update, following in zip(found, times[1:], strict=True):
        for row in texts(update.removed):
            shown.remove(row)
        shown = sorted(shown + texts(update.added))
        moments = {update.at, (update.at + following) // 2, following - 1}
        for moment in sorted(m for m in moments if update.at <= m < following):
            expected = direct(query, static, facts, moment)
            assert shown == expected, f"at T0 + {(moment - T0) / SECOND} s under {annotation}"


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
@settings(max_examples=12 * EXAMPLES, deadline=None)
@given(scenarios(), st.sampled_from(QUERIES), st.sampled_from([2, 5, 100]))
def test_results_equal_a_direct_evaluation_at_every_time(
    annotation: Annotation, scenario: tuple[list[Quad], list[Fact]], query: str, page_size: int
) -> None:
    static, facts = scenario
    check(query, static, facts, annotation, page_size)


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
@pytest.mark.parametrize("query", QUERIES)
def test_each_query_once(annotation: Annotation, query: str) -> None:
    static: list[Quad] = [(node(n), f"<{EX}label>", f'"n{n}"', "") for n in range(4)]
    static.append((node(0), f"<{EX}p>", node(1), ""))
    facts = []
    for version in range(3):
        start = T0 + 4 * version * SECOND
        facts += [
            Fact(node(n), f"<{EX}p>", node((n + version + 2) % 5), start, start + 4 * SECOND)
            for n in range(4)
            if (n, (n + version + 2) % 5) != (0, 1)
        ]
        facts += [Fact(node(n), f"<{EX}q>", node(version), start, start + 3 * SECOND) for n in range(2)]
    check(query, static, facts, annotation, 3)


def test_history_is_seen_only_where_it_is_asked_for() -> None:
    annotation = next(a for a in ANNOTATIONS if a.labeling is Labeling.INTERVAL)
    facts = [Fact(node(0), f"<{EX}p>", f'"{v}"', T0 + v * SECOND, T0 + (v + 1) * SECOND) for v in range(5)]
    check(QUERIES[0], [], facts, annotation, 2)
