"""What slots answered becomes what the query answers."""

from __future__ import annotations

import numpy as np

from weir.kernel.contract import Answers
from weir.kernel.interval.second_stage import answers_of_all
from weir.language import parse
from weir.plan.analysis.two_stages import Stages, staged
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal, Variable

WINDOW = "FROM NAMED WINDOW <w> ON <s> [RANGE 2 STEP 1] WHERE { WINDOW <w> { ?x :p ?y } }"


def stages(select: str, after: str = "") -> Stages:
    found = staged(parse(f"PREFIX : <http://e/> {select} {WINDOW} {after}"), Variable("x"))
    assert isinstance(found, Stages)
    return found


def part(at: list[int], *columns: tuple[str, list[int]], empty: tuple[int, ...] = ()) -> Answers:
    arrays = {name: np.array(values, np.int64) for name, values in columns}
    return Answers(np.array(at, np.int64), arrays, np.array(empty, np.int64))


def test_counts_of_slots_are_added_up_at_each_time() -> None:
    known = Dictionary()
    hall, attic = (known.encode(IRI(f"http://e/{name}")) for name in ("hall", "attic"))
    one, two = (known.encode(Literal(text, "http://www.w3.org/2001/XMLSchema#integer")) for text in "12")
    both = stages("SELECT ?y (COUNT(*) AS ?n)", "GROUP BY ?y HAVING (COUNT(*) > 1)")
    names = [variable.name for variable in both.first.form.variables]  # type: ignore[union-attr]
    counts = [(name, [one, one]) for name in names[1:]]
    first = part([1, 2], (names[0], [hall, hall]), *counts)
    second = part([1, 1], (names[0], [hall, attic]), *counts)
    found = answers_of_all(both, [first, second], known)
    assert found.at.tolist() == [1]
    assert found.columns["y"].tolist() == [hall] and found.columns["n"].tolist() == [two]


def test_of_nothing_there_is_one_row_at_each_time_that_is_told() -> None:
    known = Dictionary()
    zero = known.encode(Literal("0", "http://www.w3.org/2001/XMLSchema#integer"))
    both = stages("SELECT (COUNT(*) AS ?n)")
    names = [variable.name for variable in both.first.form.variables]  # type: ignore[union-attr]
    silent = part([], *((name, []) for name in names), empty=(3, 5))
    found = answers_of_all(both, [silent, silent], known)
    assert found.at.tolist() == [3, 5] and found.columns["n"].tolist() == [zero, zero]


def test_each_triple_is_there_once_at_each_time() -> None:
    columns = [(name, [7, 7]) for name in ("subject", "predicate", "object")]
    found = answers_of_all(stages("CONSTRUCT { ?x :r ?y }"), [part([2, 3], *columns)] * 2, Dictionary())
    assert found.at.tolist() == [2, 3] and found.columns["object"].tolist() == [7, 7]


def test_triples_of_slots_are_compared_within_a_time_alone() -> None:
    """1 and 4 are answered by one slot, 2 by all three, 3 by two that agree and differ."""
    slots = [
        {1: [5, 6], 2: [5], 3: [5, 7]},
        {2: [5, 6], 4: [5]},
        {2: [6], 3: [7, 8]},
    ]
    parts = []
    for slot in slots:
        at = [time for time, objects in slot.items() for _ in objects]
        objects = [each for found in slot.values() for each in found]
        same = [9] * len(at)
        parts.append(part(at, ("subject", same), ("predicate", same), ("object", objects)))
    found = answers_of_all(stages("CONSTRUCT { ?x :r ?y }"), parts, Dictionary())
    told = list(zip(found.at.tolist(), found.columns["object"].tolist(), strict=True))
    assert told == [(1, 5), (1, 6), (2, 5), (2, 6), (3, 5), (3, 7), (3, 8), (4, 5)]


def test_one_slot_that_says_so_is_enough() -> None:
    one, other = part([1, 2], ("boolean", [0, 1])), part([1, 2], ("boolean", [0, 0]))
    found = answers_of_all(stages("ASK"), [one, other], Dictionary())
    assert found.at.tolist() == [1, 2] and found.columns["boolean"].tolist() == [0, 1]


def test_where_no_slot_has_triples_the_times_are_told() -> None:
    columns = [(name, []) for name in ("subject", "predicate", "object")]
    silent = part([], *columns, empty=(3,))
    asked = parse(f"PREFIX : <http://e/> CONSTRUCT {{ ?x :r ?y }} {WINDOW.replace('WHERE', 'EMPTY WHERE')}")
    found = answers_of_all(staged(asked, Variable("x")), [silent, silent], Dictionary())
    assert found.at.tolist() == [] and found.empty.tolist() == [3]
