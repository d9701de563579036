"""A template's table and graphs follow the queries that come and go."""

from __future__ import annotations

import numpy as np

from matching_kit import batch
from weir.kernel.contract import Background, GraphTable, Slab
from weir.kernel.matching.shapes import Template, United, put_together
from weir.language import parse
from weir.plan.analysis.templates import Instance, instance
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

WINDOW = "FROM NAMED WINDOW <w> ON <urn:s> [TRIPLES 2] "
TEXT = "SELECT ?s " + WINDOW + "WHERE {{ WINDOW <w> {{ ?s <urn:p> <urn:{}> }} }}"


def given(*names: str) -> dict[str, tuple[Instance, Background]]:
    found = {name: instance(parse(TEXT.format(name[0]))) for name in names}
    return {name: (each, Background()) for name, each in found.items() if isinstance(each, Instance)}


def template(dictionary: Dictionary, since: int, *names: str) -> Template:
    queries = given(*names)
    shape = next(iter(queries.values()))[0].shape
    return Template(shape, since, queries, dictionary)


def slab(dictionary: Dictionary, time: int, what: str) -> Slab:
    rows = [(time, [(IRI(f"urn:x{time}"), IRI("urn:p"), IRI(f"urn:{what}"))])]
    return Slab({"urn:s": batch(rows, dictionary)}, time + 1)


def test_equal_queries_have_one_row_and_numbers_are_used_again():
    made = template(Dictionary(), 0, "a1", "a2", "b1")
    assert sorted(made.numbers.values()) == [0, 1]
    made.drop(["a1"])
    assert len(made.numbers) == 2
    made.drop(["a2"])
    made.add(given("c1"))
    assert sorted(made.numbers.values()) == [0, 1]


def test_each_gets_its_own_and_one_that_joins_gets_it_from_then_on():
    dictionary = Dictionary()
    made = template(dictionary, 0, "a1", "b1")
    assert made.advance(slab(dictionary, 1, "a")).counts() == {"a1": 1, "b1": 0}
    made.add(given("c1"))
    assert made.advance(slab(dictionary, 20, "c")).counts() == {"a1": 1, "b1": 0, "c1": 1}


def test_a_younger_one_joins_when_nothing_it_may_not_see_is_left():
    dictionary = Dictionary()
    elder = template(dictionary, 0, "a1")
    elder.advance(slab(dictionary, 1, "a"))
    younger = template(dictionary, 1, "b1")
    for time, left in ((4, 2), (8, 1)):
        for each in (elder, younger):
            each.advance(slab(dictionary, time, "b"))
        assert len(put_together([elder, younger], settled=0)) == 2
        assert len(put_together([elder, younger], settled=1)) == left
    assert elder.advance(slab(dictionary, 9, "b")).counts() == {"a1": 0, "b1": 2}


def test_of_equal_triples_the_first_counts():
    def table(*rows: tuple[int, int, int, int, int]) -> Background:
        return Background(GraphTable(*np.array(rows, np.int64).T))

    both = United()
    both.add(table((1, 2, 3, 0, 9)))
    both.add(table((1, 2, 3, 5, 9), (1, 2, 4, 5, 9)))
    found = both.whole.default
    assert sorted(zip(found.object.tolist(), found.start.tolist(), strict=True)) == [(3, 0), (4, 5)]
