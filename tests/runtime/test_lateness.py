"""Input out of order: within the lateness it changes nothing, beyond it everything is counted."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource
from weir.testing import Scenario

LATENESS = 20
HEAD = "PREFIX : <http://e/> REGISTER {r2s} <{name}> AS SELECT {select} FROM NAMED WINDOW <w> ON <s> "
OPEN = "[{window} LATENESS PT0.02S] WHERE {{ WINDOW <w> {{ ?x :p ?y }} }} {after}"
QUERIES = {
    name: (HEAD + OPEN).format(name=name, r2s=r2s, select=select, window=window, after=after)
    for name, r2s, select, window, after in (
        ("sums", "RSTREAM", "?x (COUNT(*) AS ?n)", "RANGE 20 STEP 10", "GROUP BY ?x"),
        ("latest", "ISTREAM", "?x ?y", "TRIPLES 3", ""),
        ("gone", "DSTREAM", "?x ?y", "RANGE 15 REPORT CONTENT CHANGE", ""),
    )
}


def line(message: tuple[int, str]) -> str:
    return f"{message[0]}\t<http://e/{message[1]}> <http://e/p> <http://e/{message[0]}> .\n"


def answers(batches: list[list[tuple[int, str]]]) -> tuple[dict[str, list[Any]], Scenario]:
    scenario = Scenario(QUERIES)
    found = scenario.run(["".join(map(line, batch)) for batch in batches], "s")
    return {name: [each for each in found if each["query"] == name] for name in QUERIES}, scenario


def cut(arrival: list[tuple[int, str]], cuts: list[bool]) -> list[list[tuple[int, str]]]:
    batches: list[list[tuple[int, str]]] = [[]]
    for message, ends in zip(arrival, cuts, strict=False):
        batches[-1].append(message)
        if ends:
            batches.append([])
    return batches


messages = st.dictionaries(st.integers(0, 150), st.sampled_from("ab"), max_size=16).map(
    lambda found: sorted(found.items())
)


@given(ordered=messages, data=st.data())
@settings(max_examples=20)
def test_shuffled_within_the_lateness_results_are_the_same(
    ordered: list[tuple[int, str]], data: st.DataObject
) -> None:
    delays = [data.draw(st.integers(0, LATENESS)) for _ in ordered]
    arrival = [ordered[i] for i in sorted(range(len(ordered)), key=lambda i: ordered[i][0] + delays[i])]
    cuts = [data.draw(st.booleans()) for _ in arrival]
    found, scenario = answers(cut(arrival, cuts))
    assert found == answers([ordered])[0]
    assert all(inbox.seen.late == 0 for inbox in scenario.group.inboxes.values())


@given(ordered=messages, data=st.data())
@settings(max_examples=20)
def test_beyond_it_every_message_is_counted(ordered: list[tuple[int, str]], data: st.DataObject) -> None:
    arrival = data.draw(st.permutations(ordered))
    cuts = [data.draw(st.booleans()) for _ in arrival]
    _, scenario = answers(cut(arrival, cuts))
    for inbox in scenario.group.inboxes.values():
        assert inbox.seen.messages + inbox.seen.late == len(ordered)
    told = {(item.lane, item.position) for step in scenario.steps for _, item in step.dropped}
    assert len(told) == max((inbox.seen.late for inbox in scenario.group.inboxes.values()), default=0)


def test_late_messages_are_kept_with_their_statements_where_asked_for(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    job = DirectJob(tmp_path / "c", slots=2)
    job.registry.keep_late = True
    job.registry.add_stream("s", FileSource(str(tmp_path / "s"), watch=True))
    job.register(QUERIES["sums"])
    late = '5\t<http://e/a> <http://e/p> <http://e/5> .\n5\t<http://e/b> <http://e/q> "x y" .\n'
    (tmp_path / "s" / "0.tnq").write_text(line((100, "a")))
    job.run()
    (tmp_path / "s" / "1.tnq").write_text(line((101, "a")) + late)
    job.run()
    told = {str(each["position"]): each for each in job.late.found}
    (only,) = told.values()
    assert only["at"] == "1970-01-01T00:00:00.005Z" and only["triples"] == 2
    assert only["statements"] == [text.partition("\t")[2] for text in late.splitlines()]


QUIET = "SELECT ?x FROM NAMED WINDOW <w> ON <s> [NOW{}] WHERE {{ WINDOW <w> {{ ?x <http://e/p> ?y }} }}"


def test_a_message_of_distinct_times_does_not_wait_for_the_next_one() -> None:
    for option, expected in (("", []), (" TIMES DISTINCT", ["http://e/a"])):
        scenario = Scenario(QUIET.format(option))
        scenario.lane("s").put(line((10, "a")))
        assert [each["bindings"]["x"]["value"] for each in scenario.batch()] == expected


def test_a_time_that_comes_again_breaks_the_promise() -> None:
    scenario = Scenario(QUIET.format(" TIMES DISTINCT"))
    found = []
    for message in ((10, "a"), (10, "b"), (11, "c")):
        scenario.lane("s").put(line(message))
        found += [each["bindings"]["x"]["value"] for each in scenario.batch()]
    assert found == ["http://e/a", "http://e/c"]
    assert [item.reason for step in scenario.steps for _, item in step.dropped] == ["late"]


@pytest.mark.parametrize("cut", [(0, 4), (0, 1, 4), (0, 2, 4), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_a_broken_promise_is_found_however_the_input_is_cut(cut: tuple[int, ...], evaluator: str) -> None:
    """The second message of time 10 and the one that goes back to 9 are late, also within a batch."""
    sent = [(10, "a"), (11, "b"), (10, "c"), (9, "d")]
    scenario = Scenario(QUIET.format(" TIMES DISTINCT"), evaluator=evaluator)
    found = []
    for low, high in pairwise(cut):
        scenario.lane("s").put("".join(map(line, sent[low:high])))
        found += [each["bindings"]["x"]["value"][-1] for each in scenario.batch()]
    assert found == ["a", "b"]
    assert [each["reason"] for each in scenario.dropped] == ["late", "late"]


def test_a_source_may_promise_distinct_times(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    job = DirectJob(tmp_path / "c")
    job.registry.add_stream("s", FileSource(str(tmp_path / "s"), watch=True, times_distinct=True))
    job.register(QUIET.format(""), "q")
    (tmp_path / "s" / "0.tnq").write_text(line((10, "a")))
    assert [each["bindings"]["x"]["value"] for each in job.run()] == ["http://e/a"]


AFTER = QUIET.format(" LATENESS PT0.02S")


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("settings", [{}, {"restarts": True}, {"workers": 2}])
@pytest.mark.parametrize("company", [False, True])
def test_time_counts_from_the_first_batch_of_a_query(
    company: bool, settings: dict[str, Any], slots: int
) -> None:
    """The second query begins with the second batch, in which 50 and 60 are late for the first alone.

    batch       100  │  50  130  60  │  80  115   131  │  end
    T before     −∞  │      80       │      110
    of second        │      −∞       │      110
    """
    queries = {"first": AFTER} if company else {"first": AFTER.replace("ON <s>", "ON <other>")}
    scenario = Scenario(queries, streams=["s"], slots=slots, **settings)
    scenario.lane("s").put(line((100, "a")))
    scenario.batch()
    scenario.job.registry.register(AFTER, "second", "auto", "auto")
    found = []
    for batch in ([(50, "b"), (130, "c"), (60, "d")], [(80, "e"), (115, "f"), (131, "g")]):
        scenario.lane("s").put("".join(map(line, batch)))
        found += scenario.batch()
    scenario.lane("s").end()
    found += scenario.batch()
    seen = [each["bindings"]["x"]["value"][-1] for each in found if each["query"] == "second"]
    assert seen == ["b", "d", "f", "c", "g"]
    if company and slots == 1:
        assert [each["bindings"]["x"]["value"][-1] for each in found if each["query"] == "first"] == [
            *("a", "f", "c", "g")
        ]
        # What both take in is the same since the second batch: they read from one inbox now.
        assert len(scenario.group.inboxes) == 1


@given(ordered=messages, data=st.data())
@settings(max_examples=20)
def test_queries_that_begin_later_say_what_they_say_alone(
    ordered: list[tuple[int, str]], data: st.DataObject
) -> None:
    """However disordered the input is, and whoever read it before."""
    batches = cut(data.draw(st.permutations(ordered)), [data.draw(st.booleans()) for _ in ordered])
    begins = data.draw(st.integers(0, len(batches) - 1))
    found = []
    for others in ({}, QUERIES):
        scenario = Scenario({f"{name}0": text for name, text in others.items()}, streams=["s"])
        lines = []
        for number, batch in enumerate(batches):
            if number == begins:
                for name, text in QUERIES.items():
                    scenario.job.registry.register(
                        text.replace(f"<{name}>", f"<{name}1>"), f"{name}1", "auto", "auto"
                    )
            scenario.lane("s").put("".join(map(line, batch)))
            lines += scenario.batch()
        scenario.lane("s").end()
        lines += scenario.batch()
        found.append([each for each in lines if each["query"].endswith("1")])
    assert found[0] == found[1]
