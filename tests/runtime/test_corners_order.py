"""Corners of the order of results, from text to lines: evaluations of one time, unbound variables, equal rows
under ORDER BY, DESCRIBE; and what static graphs are there."""

from __future__ import annotations

from typing import Any

import pytest

from weir.testing import Scenario

EVALUATORS = pytest.mark.parametrize("evaluator", ["interval", "reference"])
HEAD = "PREFIX : <urn:> "


def line(time: int, subject: str, predicate: str, target: str) -> str:
    return f"{time}\t<urn:{subject}> <urn:{predicate}> <urn:{target}> .\n"


def values(found: list[dict[str, Any]], *names: str) -> list[tuple[str, ...]]:
    return [tuple(each["bindings"].get(name, {}).get("value", "-") for name in names) for each in found]


@EVALUATORS
@pytest.mark.parametrize("cut", [1, 2])
def test_tuple_by_tuple_each_evaluation_has_its_line(evaluator: str, cut: int) -> None:
    """Two messages of one time, each an evaluation, in one batch or in two."""
    query = (
        HEAD
        + """REGISTER STREAM <out> AS CONSTRUCT RSTREAM { ?x :q ?y }
        FROM NAMED WINDOW <w> ON <s> [ALL TICK TUPLE] EMPTY WHERE { WINDOW <w> { ?x :p ?y } }"""
    )
    messages = [line(5, "a", "p", "b"), line(4, "z", "z", "z"), line(5, "c", "p", "d")]
    batches = ["".join(messages)] if cut == 1 else [messages[0], "".join(messages[1:])]
    found = Scenario(query, evaluator=evaluator).run(batches, "s")
    triples = [each.get("triples") for each in found]
    one, other = "<urn:a> <urn:q> <urn:b> .", "<urn:c> <urn:q> <urn:d> ."
    assert triples[-2:] == [[one], [one, other]]


@EVALUATORS
def test_tuple_by_tuple_rows_of_an_evaluation_are_in_the_order_of_their_text(evaluator: str) -> None:
    query = (
        HEAD
        + """SELECT RSTREAM ?x FROM NAMED WINDOW <w> ON <s> [ALL TICK TUPLE]
        WHERE { WINDOW <w> { ?x :p ?y } }"""
    )
    message = line(5, "c", "p", "o") + line(5, "a", "p", "o") + line(5, "b", "p", "o")
    found = Scenario(query, evaluator=evaluator).run([message], "s")
    assert values(found, "x") == [("urn:a",), ("urn:b",), ("urn:c",)]


@EVALUATORS
@pytest.mark.parametrize("slots", [1, 3])
def test_unbound_variables_sort_by_the_text_of_the_line(evaluator: str, slots: int) -> None:
    """A line without bindings ends where another goes on: "}" is behind the quotation mark."""
    query = (
        HEAD
        + """SELECT RSTREAM ?y FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE {
        WINDOW <w> { ?x :p ?o OPTIONAL { ?x :q ?y } } }"""
    )
    message = "".join([*(line(5, each, "p", "o") for each in "abcd"), line(5, "a", "q", "z")])
    found = Scenario(query, evaluator=evaluator, slots=slots).run([message], "s")
    assert values(found, "y") == [("urn:z",), ("-",), ("-",), ("-",)]


@EVALUATORS
def test_of_equal_rows_those_that_were_there_are_the_first(evaluator: str) -> None:
    """ORDER BY a variable that is not selected: the first a of the second answer counts as the one that was
    there, though it is the last that was."""
    query = (
        HEAD
        + """SELECT ISTREAM ?x FROM NAMED WINDOW <w> ON <s> [ALL]
        WHERE { WINDOW <w> { ?x :p ?y } } ORDER BY ?y"""
    )
    batches = [line(1, "a", "p", "3"), line(2, "a", "p", "1") + line(2, "b", "p", "2")]
    found = Scenario(query, evaluator=evaluator).run(batches, "s")
    assert values(found, "x") == [("urn:a",), ("urn:b",), ("urn:a",)]


@EVALUATORS
def test_the_order_of_a_subquery_is_not_that_of_the_query(evaluator: str) -> None:
    query = (
        HEAD
        + """SELECT RSTREAM ?x FROM NAMED WINDOW <w> ON <s> [ALL]
        WHERE { { SELECT ?x ?y WHERE { WINDOW <w> { ?x :p ?y } } ORDER BY DESC(?y) } }"""
    )
    found = Scenario(query, evaluator=evaluator).run([line(1, "b", "p", "2") + line(1, "a", "p", "1")], "s")
    assert values(found, "x") == [("urn:a",), ("urn:b",)]


@EVALUATORS
def test_descriptions_come_in_the_order_of_time_one_line_an_evaluation(evaluator: str) -> None:
    query = (
        HEAD
        + """DESCRIBE ?x FROM NAMED WINDOW <w> ON <s> [ALL REPORT CONTENT CHANGE]
        WHERE { WINDOW <w> { ?x :p ?y } }"""
    )
    lines = [f"{time}\t<urn:a> <urn:p> _:b .\n{time}\t_:b <urn:q> <urn:{time}> .\n" for time in range(1, 4)]
    found = Scenario(query, evaluator=evaluator).run(["".join(lines)], "s")
    assert [each["at"][-4:] for each in found] == ["001Z", "002Z", "003Z"]
    assert [len(each["triples"]) for each in found] == [2, 4, 6]


@EVALUATORS
def test_from_named_makes_no_graph(evaluator: str) -> None:
    query = (
        HEAD
        + """SELECT RSTREAM ?g FROM NAMED :none FROM NAMED :there FROM NAMED WINDOW <w> ON <s> [NOW]
        WHERE { WINDOW <w> { ?x :p ?y } GRAPH ?g { } }"""
    )
    scenario = Scenario(query, evaluator=evaluator, graphs={"urn:there": ""})
    found = scenario.run([line(1, "a", "p", "b")], "s")
    assert values(found, "g") == [("urn:there",)]


@EVALUATORS
def test_a_graph_that_from_named_lists_is_there_from_its_first_insertion_on(evaluator: str) -> None:
    query = (
        HEAD
        + """SELECT RSTREAM ?g FROM NAMED :made FROM NAMED WINDOW <w> ON <s> [NOW]
        WHERE { WINDOW <w> { ?x :p ?y } GRAPH ?g { } }"""
    )
    scenario = Scenario(query, evaluator=evaluator, graphs={None: ""})
    scenario.update("INSERT DATA { GRAPH <urn:made> { <urn:a> <urn:b> <urn:c> } }", at=2_000)
    found = scenario.run([line(1, "a", "p", "b") + line(3, "a", "p", "b")], "s")
    assert [each["at"][-4:] for each in found] == ["003Z"]


@EVALUATORS
def test_an_update_counts_at_a_time_that_waits_for_company(evaluator: str) -> None:
    """One window has closed at T = 10, the other waits for more messages of that time: nothing was evaluated
    then, so the update counts then."""
    query = (
        HEAD
        + """SELECT RSTREAM ?z FROM NAMED WINDOW <w> ON <s> [RANGE 5 STEP 5]
        FROM NAMED WINDOW <v> ON <s> [ALL] WHERE { WINDOW <v> { ?x :p ?y } ?y :is ?z }"""
    )
    scenario = Scenario(query, evaluator=evaluator, graphs={None: ""})
    lane = scenario.lane("s").put(line(10, "a", "p", "b"))
    found = scenario.batch()
    scenario.update("INSERT DATA { <urn:b> <urn:is> <urn:there> }")
    lane.end()
    found += scenario.batch()
    assert [each["at"][-4:] for each in found] == ["010Z", "015Z"]
