"""The queries of one slot: chains run inside one step, and what nobody reads any more goes."""

from __future__ import annotations

from weir.runtime.worker.group import Group, Step
from weir.testing import Scenario

FIRST = (
    "PREFIX : <http://e/> REGISTER STREAM <doubled> AS CONSTRUCT ISTREAM { ?x :q ?y } "
    "FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { WINDOW <w> { ?x :p ?y } }"
)
SECOND = (
    "PREFIX : <http://e/> SELECT ?x FROM NAMED WINDOW <w> ON <doubled> [RANGE 10 STEP 10] "
    "WHERE { WINDOW <w> { ?x :q ?y } }"
)
LINES = "1\t<http://e/a> <http://e/p> <http://e/b> .\n25\t<http://e/c> <http://e/p> <http://e/d> .\n"


def test_a_query_reads_what_another_makes_in_the_same_step() -> None:
    """time     0         10        20        30
    messages      1                      25
    first     |---------|---------|---------|
    second              |---------|            what the first made at 10
    """
    scenario = Scenario({"first": FIRST, "second": SECOND})
    scenario.lane("s").put(LINES).end()
    scenario.batch()
    step: Step = scenario.steps[-1]
    answered = {each.member.name: len(each.answers.at) for each in step.each()}
    assert answered["first"] == answered["second"] == 2
    assert step.ended and step.results == 4


def test_a_query_that_is_dropped_takes_its_inbox_along() -> None:
    scenario = Scenario({"first": FIRST, "second": SECOND})
    scenario.lane("s").put(LINES)
    scenario.batch()
    group: Group = scenario.group
    assert {key[0] for key in group.inboxes} == {"s", "doubled"}
    group.drop("second")
    assert {key[0] for key in group.inboxes} == {"s"}
    assert list(group.members) == ["first"]


def test_ids_of_waiting_messages_are_live() -> None:
    scenario = Scenario({"first": FIRST})
    scenario.lane("s").put(LINES)
    scenario.batch()
    texts = {scenario.group.dictionary.text(each) for each in scenario.group.live_ids().tolist() if each > 0}
    assert "<http://e/c>" in texts
