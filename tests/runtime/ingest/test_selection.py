"""What a query's demand selects of a batch: matching triples, and one triple for the name of each graph."""

from __future__ import annotations

import numpy as np

from weir.plan.analysis.demand import Wanted
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI
from weir.runtime.ingest.matching import Selection, witnesses

MESSAGE = np.array([0, 0, 0, 0, 1, 1, 1])
GRAPH = np.array([7, 0, 7, 9, 9, 9, 0])


def test_the_first_triple_of_each_graph_of_each_message_stands_for_its_name() -> None:
    assert witnesses(MESSAGE, GRAPH).tolist() == [0, 3, 4]


def test_without_named_graphs_there_are_none() -> None:
    assert witnesses(MESSAGE, np.zeros(7, np.int64)).tolist() == []


def kept(*wanted: Wanted) -> list[int]:
    """The rows kept of seven triples in graphs a, none, a, b of one message and b, b, none of another."""
    dictionary = Dictionary()
    a, b, p = (dictionary.encode(IRI(f"urn:{name}")) for name in "abp")
    graph = np.array([a, 0, a, b, b, b, 0])
    predicate = np.array([1, 1, p, 1, 1, p, 1])
    row = np.arange(7)
    batch = Messages(np.array([0, 1]), np.array([4, 3]), MESSAGE, row, row + 1, predicate, row + 1, graph)
    found = Selection(wanted, dictionary).of(batch)
    assert np.array_equal(found.time, batch.time) and np.array_equal(found.triples, batch.triples)
    return found.place.tolist()


def test_names_of_all_graphs_or_of_one() -> None:
    assert kept(Wanted(names=True)) == [0, 3, 4]
    assert kept(Wanted(graph=IRI("urn:b"), names=True)) == [3, 4]
    assert kept(Wanted(graph=IRI("urn:c"), names=True)) == []


def test_triples_and_names_together() -> None:
    assert kept(Wanted(predicate=IRI("urn:p"))) == [2, 5]
    assert kept(Wanted(predicate=IRI("urn:p")), Wanted(names=True)) == [0, 2, 3, 4, 5]


def test_a_selection_of_a_selection_is_the_same() -> None:
    """What other queries keep beside does not change which triple stands for a name."""
    thinned = witnesses(MESSAGE, GRAPH)
    again = witnesses(MESSAGE[thinned], GRAPH[thinned])
    assert thinned[again].tolist() == thinned.tolist()
