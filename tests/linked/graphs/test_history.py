"""Extracts follow updates: what an update adds, laid over the old extract, is what a new extract would be."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from properties import generate
from weir.kernel.contract import Background, GraphTable
from weir.kernel.evaluators import choose_evaluator
from weir.language import parse
from weir.language.algebra.query import Query
from weir.linked.graphs.extract import StaticGraphs
from weir.linked.graphs.history import events, layered, resolved
from weir.linked.graphs.triple_tables import CLOSE, OPEN, TableSource, stacked
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Term

Change = list[tuple[bool, tuple[Term, Term, Term], str | None]]


def one(number: int) -> GraphTable:
    column = np.array([number])
    return GraphTable(column, column, column)


def intervals(table: GraphTable) -> list[tuple[int, int, int]]:
    assert table.start is not None and table.end is not None
    return sorted(zip(table.subject.tolist(), table.start.tolist(), table.end.tolist(), strict=True))


def test_an_update_closes_one_interval_and_opens_another() -> None:
    #  triple 1: from the beginning ────┤3      5├────────
    #  triple 2: from the beginning ────────────────────── (deleted and inserted again at one time)
    #  triple 3:                            5├──┤9
    table = stacked(
        [
            one(1),
            one(2),
            events(one(1), 1, inserted=False),
            events(one(3), 2, inserted=True),
            events(one(1), 2, inserted=True),
            events(one(2), 3, inserted=False),
            events(one(2), 4, inserted=True),
            events(one(3), 5, inserted=False),
            events(one(4), 5, inserted=False),
        ]
    )
    found = resolved(Background(table), {1: 3, 2: 5, 3: 7, 4: 7, 5: 9}).default
    assert intervals(found) == [(1, OPEN, 3), (1, 5, CLOSE), (2, OPEN, CLOSE), (3, 5, 9)]


def test_updates_count_in_the_order_of_their_times() -> None:
    table = stacked([events(one(1), 1, inserted=True), events(one(1), 2, inserted=False)])
    assert intervals(resolved(Background(table), {1: 100, 2: 50}).default) == [(1, 100, CLOSE)]


def tables(change: Change, dictionary: Dictionary, *, inserted: bool) -> Background:
    found: dict[str, list[tuple[Term, Term, Term]]] = {}
    for added, triple, graph in change:
        if added == inserted:
            found.setdefault(graph or "", []).append(triple)
    encoded = {
        graph: GraphTable(*(dictionary.encode_terms([t[place] for t in rows]) for place in range(3)))
        for graph, rows in found.items()
    }
    return Background(encoded.pop("", GraphTable.empty()), encoded)


def random_change(rng: Random) -> Change:
    quads = {}
    for _ in range(rng.randrange(1, 5)):
        graph = rng.choice((None, None, *(g.value for g in generate.GRAPHS)))
        quads[generate.triple(rng), graph] = rng.random() < 0.6
    return [(added, triple, graph) for (triple, graph), added in quads.items()]


def inserts(change: Change, name: str) -> bool:
    return any(added and graph == name for added, _, graph in change)


def answers(
    query: Query, background: Background, case: generate.Case, dictionary: Dictionary, evaluator: str
) -> list[object]:
    made = choose_evaluator(query, background, dictionary, evaluator, streams=generate.STREAMS).evaluator
    found: list[object] = []
    for step in case.steps:
        answer = made.advance(generate.slab(step, dictionary))
        columns = [answer.columns[name].tolist() for name in sorted(answer.columns)]
        found.append((answer.empty.tolist(), sorted(zip(answer.at.tolist(), *columns, strict=True))))
    return found


@given(st.integers(0, 2**32))
def test_extracts_with_changes_answer_like_the_whole_time_varying_graph(seed: int) -> None:
    rng = Random(seed)
    case = generate.case(rng)
    static = {"default": case.default, **case.named}
    plain = {name: tuple((*row[:3], None, None) for row in rows) for name, rows in static.items()}
    dictionary = Dictionary()
    named = {name: generate.table(rows, dictionary) for name, rows in plain.items() if name != "default"}
    base = Background(generate.table(plain["default"], dictionary), named)
    extractor = StaticGraphs(TableSource(base), dictionary)
    before = rng.randrange(2)
    changes = [random_change(rng) for _ in range(rng.randrange(1, 5))]
    layers: list[Background] = []
    whole = [base]
    for place, change in enumerate(changes):
        if place == before:
            layers.append(extractor.extract(case.query, generate.STREAMS))
        parts = [tables(change, dictionary, inserted=added) for added in (True, False)]
        number = extractor.apply(*parts)
        whole += [
            Background(
                events(part.default, number, inserted=added),
                {name: events(table, number, inserted=added) for name, table in part.named.items()},
            )
            for part, added in zip(parts, (True, False), strict=True)
        ]
        found = extractor.change(case.query, number, generate.STREAMS)
        if layers and found is not None:
            layers.append(found)
    if not layers:
        layers.append(extractor.extract(case.query, generate.STREAMS))
    times = {number + 1: rng.randrange(-2, 25) for number in range(len(changes))}
    made = {
        name: tuple(place + 1 for place, change in enumerate(changes) if inserts(change, name))
        for name in dict.fromkeys(graph.value for graph in generate.GRAPHS)
        if name not in named and any(inserts(change, name) for change in changes)
    }
    everything = Background(
        stacked([part.default for part in whole]),
        {
            name: stacked([part.named.get(name, GraphTable.empty()) for part in whole])
            for name in (*named, *made)
        },
        made,
    )
    expected = answers(case.query, resolved(everything, times), case, dictionary, "reference")
    part = resolved(layered(layers), times)
    assert answers(case.query, part, case, dictionary, "reference") == expected
    assert answers(case.query, part, case, dictionary, "auto") == expected


def test_the_work_of_a_change_follows_its_size() -> None:
    """A paper more of one author adds a handful of triples to the extract, however large the graph is."""
    dictionary = Dictionary()
    rng = np.random.default_rng(7)
    by, name = dictionary.encode(IRI("urn:p")), dictionary.encode(IRI("urn:q"))
    people = dictionary.encode_terms([IRI(f"urn:person{n}") for n in range(2000)])
    papers = dictionary.encode_terms([IRI(f"urn:paper{n}") for n in range(8000)])
    authors = rng.choice(people, 8000)
    graph = GraphTable(
        np.concatenate([papers, people]),
        np.concatenate([np.full(8000, by), np.full(2000, name)]),
        np.concatenate([authors, people]),
    )
    query = parse_query()
    extractor = StaticGraphs(TableSource(Background(graph)), dictionary)
    assert len(extractor.extract(query).default.subject) == 10000 - (2000 - len(np.unique(authors)))
    fresh = dictionary.encode_terms([IRI("urn:new")])
    added = GraphTable(fresh, np.array([by]), people[:1])
    number = extractor.apply(Background(added), Background())
    change = extractor.change(query, number)
    assert change is not None
    assert len(change.default.subject) == 2


def parse_query() -> Query:
    return parse(
        "SELECT ?a FROM NAMED WINDOW <w> ON <urn:s1> [RANGE PT1S] "
        "WHERE { WINDOW <w> { ?a <urn:at> ?b } ?paper <urn:p> ?a . ?a <urn:q> ?n }"
    )
