"""Queries that are split over slots give what they give in one: decided, and tried on random input."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.language import parse
from weir.linked.graphs.graph_sources import GraphSources
from weir.plan.analysis.split import splitting
from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource
from weir.testing import Scenario

HEAD = "PREFIX : <http://e/> {select} FROM NAMED WINDOW <w> ON <s> {window} {after} WHERE {{ {body} }}"
PLAN = """@prefix : <http://e/> . :a :in :hall . :b :in :hall . :b :in :attic . :x :in :hall . :c :in :attic .
    :a :size 0.1, 3 . :x :size 0.2, 1e300 , "1.5"^^<http://www.w3.org/2001/XMLSchema#float> .
    :y :size 0.1e0, :x ."""


def query(
    select: str = "SELECT RSTREAM *",
    body: str = "WINDOW <w> { ?x :p ?y . ?x :q ?z }",
    window: str = "[RANGE 20 STEP 10]",
    after: str = "",
) -> str:
    text = HEAD.format(select=select, window=window, after="", body=body)
    return text + " " + after


SPLIT = {
    "subjects": query(),
    "objects": query(body="WINDOW <w> { ?x :p ?y . ?z :q ?y }"),
    "predicates": query(body="WINDOW <w> { ?x ?p :x . ?y ?p :y }"),
    "new": query("SELECT ISTREAM ?x ?y"),
    "gone": query("SELECT DSTREAM ?x ?y", window="[RANGE 15 REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG]"),
    "counted": query("SELECT ?x (COUNT(*) AS ?n)", after="GROUP BY ?x HAVING (COUNT(*) > 1)"),
    "distinct": query("SELECT DISTINCT ?x ?z"),
    "left out": query("SELECT ?z"),
    "optional": query(body="WINDOW <w> { ?x :p ?y OPTIONAL { ?x :q ?z } } GRAPH <plan> { ?x :in ?r }"),
    "union": query(body="{ WINDOW <w> { ?x :p ?y } } UNION { WINDOW <w> { ?x :q ?z } }"),
    "minus": query(body="WINDOW <w> { ?x :p ?y } MINUS { WINDOW <w> { ?x :q ?z } }"),
    "static": query(body="WINDOW <w> { ?x :p ?y } OPTIONAL { ?x :in ?r } MINUS { ?x :in :attic }"),
    "at two places": query(body="WINDOW <w> { ?x :p ?y . ?y :q ?z }"),
    "counted at two places": query(
        "SELECT ?y (COUNT(*) AS ?n)", body="WINDOW <w> { ?x :p ?y . ?y :q ?z }", after="GROUP BY ?y"
    ),
    "nothing in common": query(body="WINDOW <w> { ?x :p ?y . ?z :q ?w }"),
    "some everywhere": query(body="WINDOW <w> { ?x :p ?y OPTIONAL { ?z :q :x } }"),
    "some everywhere, outside": query(body="WINDOW <w> { ?x :p ?y } MINUS { WINDOW <w> { ?z :q ?y } }"),
    "new at two places": query("SELECT ISTREAM *", body="WINDOW <w> { ?x :p ?y . ?y :q ?z }"),
}
STAGED = {
    "triples": query("CONSTRUCT { ?x :r ?y . ?y :r ?x }"),
    "new triples": query("CONSTRUCT ISTREAM { ?x :r ?y . [] :s ?z }", window="[NOW]"),
    "gone triples": query("CONSTRUCT DSTREAM { ?y :r :o }"),
    "asked": query("ASK"),
    "ordered": query(after="ORDER BY DESC(?y) ?x LIMIT 2 OFFSET 1"),
    "distinct": query("SELECT DISTINCT ?z"),
    "silent": query().replace("WHERE", "EMPTY WHERE"),
    "silent triples": query("CONSTRUCT { ?x :r ?y }").replace("WHERE", "EMPTY WHERE"),
    "rooms": query(
        "SELECT ?r (COUNT(*) AS ?n) (COUNT(DISTINCT ?x) AS ?m) (SUM(?v) AS ?s) (AVG(?v) AS ?a) "
        "(MIN(?y) AS ?l)",
        body="WINDOW <w> { ?x :p ?y } GRAPH <plan> { ?x :in ?r } OPTIONAL { ?y :size ?v }",
        after="GROUP BY ?r HAVING (COUNT(*) > 0) ORDER BY ?r",
    ),
    "sizes": query(
        "SELECT ?z (SUM(?v) AS ?s) (AVG(?v) AS ?a) (MAX(?v) AS ?m) (SUM(?v + ?v) AS ?t)",
        body="WINDOW <w> { ?x :p ?y . ?x :q ?z } ?y :size ?v",
        after="GROUP BY ?z",
    ),
    "in all": query(
        "SELECT (COUNT(*) AS ?n) (SUM(?v) AS ?s) (AVG(?v) AS ?a) (MIN(?v) AS ?l) (SAMPLE(?y) AS ?o)",
        body="WINDOW <w> { ?x :p ?y } ?y :size ?v",
    ),
    "at every change": query(
        "SELECT ?z (COUNT(?x) AS ?n)", window="[RANGE 15 REPORT CONTENT CHANGE]", after="GROUP BY ?z"
    ),
    "each once": query(
        "SELECT ?z (SUM(DISTINCT ?v) AS ?s) (COUNT(DISTINCT ?y) AS ?n) "
        '(GROUP_CONCAT(DISTINCT ?y; SEPARATOR="|") AS ?t)',
        body="WINDOW <w> { ?x :p ?y . ?x :q ?z } ?y :size ?v",
        after="GROUP BY ?z",
    ),
    "ends of a join": query(
        "SELECT ?x (COUNT(?z) AS ?n)", body="WINDOW <w> { ?x :p ?y . ?y :q ?z }", after="GROUP BY ?x"
    ),
    "texts": query("SELECT (GROUP_CONCAT(STR(?y)) AS ?t) (COUNT(*) AS ?n)", after="GROUP BY (STR(?z))"),
}
WHOLE = {
    "share no variable": query(body="WINDOW <w> { ?x :p ?y . ?y :p ?z }"),
    "counts triples": query(window="[TRIPLES 3 REPORT CONTENT CHANGE]"),
    "default graph": query().replace("FROM NAMED WINDOW", "FROM WINDOW").replace("WINDOW <w> {", "{"),
    "message by message": query(window="[NOW TICK TUPLE]"),
    "new or gone": query("SELECT ISTREAM (STR(?z) AS ?t)"),
    "joined": query(body="GRAPH <plan> { ?x :in ?r } OPTIONAL { WINDOW <w> { ?x :p ?y } }"),
    "SERVICE": query(body="WINDOW <w> { ?x :p ?y } SERVICE <http://e/> { ?x :q ?z }"),
    "a path": query(body="WINDOW <w> { ?x :p+ ?y }"),
}


BY_TIME = {
    "a chain of patterns": query(body="WINDOW <w> { ?x :p ?y . ?z :q ?y . ?y :p ?w }"),
    "the latest": query("SELECT ISTREAM *", window="[TRIPLES 3 REPORT CONTENT CHANGE]"),
    "by count": query("SELECT DSTREAM *", window="[ELEMENTS 4 STEP 2]"),
    "default graph": query().replace("FROM NAMED WINDOW", "FROM WINDOW").replace("WINDOW <w> {", "{"),
    "a path": query(body="WINDOW <w> { ?x (:p|:q)+ ?y }"),
}


@pytest.mark.parametrize("name", BY_TIME)
def test_what_is_split_by_time(name: str) -> None:
    found = splitting(parse(BY_TIME[name]))
    assert found.place is None and found.by_time, found


@pytest.mark.parametrize(
    "text",
    [
        query(window="[NOW TICK TUPLE]"),
        query(body="WINDOW <w> { ?x :p ?y } SERVICE <http://e/> { ?x :q ?z }"),
        query("REGISTER STREAM <out> AS CONSTRUCT { ?x :p ?y }"),
        "SELECT * WHERE { ?x ?p ?y }",
    ],
)
def test_what_stays_together(text: str) -> None:
    found = splitting(parse(text))
    assert found.place is None and not found.by_time, found


@pytest.mark.parametrize(
    "body",
    [
        "WINDOW <w> { GRAPH ?g { OPTIONAL { ?x :p ?y } } }",
        "WINDOW <w> { GRAPH ?g { { ?x :p ?y } UNION { BIND(1 AS ?x) } } }",
        "WINDOW <w> { ?x :p ?y . GRAPH ?g {} }",
        "WINDOW <w> { ?x :p ?y OPTIONAL { GRAPH ?g {} } }",
        "WINDOW <w> { ?x :p ?y FILTER EXISTS { GRAPH :g {} } }",
        "WINDOW <w> { ?x :p ?y } MINUS { WINDOW <w> { GRAPH ?g { VALUES ?x { :a } } } }",
    ],
)
def test_a_query_that_needs_names_of_graphs_is_not_split_by_a_variable(body: str) -> None:
    found = splitting(parse(query(body=body)))
    assert found.place is None and found.by_time, found


@given(
    found=st.lists(
        st.tuples(st.integers(0, 90), st.sampled_from("abc"), st.sampled_from("pq"), st.sampled_from("axy")),
        max_size=40,
    ),
    cut=st.integers(0, 40),
)
@settings(max_examples=4, deadline=None)
def test_split_by_time_they_answer_the_same(found: list[tuple[int, str, str, str]], cut: int) -> None:
    found.sort()
    bound = found[min(cut, len(found) - 1)][0] if found else 0
    for name, text in BY_TIME.items():
        one = Scenario({name: text}, graphs={"plan": PLAN, None: PLAN}).run([lines(found)], "s")
        with TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "s").mkdir()
            (folder / "plan.ttl").write_text(PLAN)
            (folder / "s" / "0.tnq").write_text(lines([m for m in found if m[0] < bound]))
            (folder / "s" / "1.tnq").write_text(lines([m for m in found if m[0] >= bound]))
            library = GraphSources()
            library.add("plan", folder / "plan.ttl")
            library.add(None, folder / "plan.ttl")
            job = DirectJob(folder / "c", slots=3, library=library)
            job.registry.add_stream("s", FileSource(str(folder / "s"), files_per_batch=1))
            job.register(text, name)
            assert job.registry.queries()[0].slots == (0, 1, 2)
            three = sorted(job.run(), key=lambda line: line["at"])
            evaluations = sum(step.evaluations for step in job.steps)
        assert three == one, name
        assert evaluations >= len({line["at"] for line in one})


@pytest.mark.parametrize("name", SPLIT)
def test_what_is_split(name: str) -> None:
    found = splitting(parse(SPLIT[name]))
    assert found.place is not None, found


@pytest.mark.parametrize("name", STAGED)
def test_what_is_put_together_after_the_slots(name: str) -> None:
    found = splitting(parse(STAGED[name]))
    assert found.place is not None and found.stages is not None, found
    assert "At each evaluation time, of all slots" in str(found)


@pytest.mark.parametrize("reason", WHOLE)
def test_what_is_not_and_why(reason: str) -> None:
    found = splitting(parse(WHOLE[reason]))
    assert found.place is None and reason in str(found), found


def lines(messages: list[tuple[int, str, str, str]]) -> str:
    text = "{}\t<http://e/{}> <http://e/{}> <http://e/{}> .\n"
    return "".join(text.format(*message) for message in sorted(messages))


def in_one_slot(text: str) -> dict[str, list[str]]:
    """All queries in one group, each with the messages of the one batch and the end of input."""
    scenario = Scenario({**SPLIT, **STAGED}, graphs={"plan": PLAN, None: PLAN})
    return by_query(scenario.run([text], "s"))


def by_query(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {name: sorted(json.dumps(x) for x in found if x["query"] == name) for name in {**SPLIT, **STAGED}}


messages = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from("abc"), st.sampled_from("pq"), st.sampled_from("axy")),
    max_size=25,
)


@given(found=messages, cut=st.integers(0, 25))
@settings(max_examples=6, deadline=None)
def test_split_over_four_slots_they_answer_the_same(found: list[tuple[int, str, str, str]], cut: int) -> None:
    found.sort()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.ttl").write_text(PLAN)
        library = GraphSources()
        library.add("plan", folder / "plan.ttl")
        library.add(None, folder / "plan.ttl")
        (folder / "s").mkdir()
        # A message never spans two files: cut between two times.
        times = sorted({message[0] for message in found})
        bound = times[min(cut, len(times) - 1)] if times else 0
        (folder / "s" / "0.tnq").write_text(lines([m for m in found if m[0] < bound]))
        (folder / "s" / "1.tnq").write_text(lines([m for m in found if m[0] >= bound]))
        job = DirectJob(folder / "c", slots=4, library=library)
        job.registry.add_stream("s", FileSource(str(folder / "s"), files_per_batch=1))
        job.registry.register_all({**SPLIT, **STAGED}, "auto", "interval")
        assert {query.slots for query in job.registry.queries()} == {(0, 1, 2, 3)}
        assert by_query(job.run()) == in_one_slot(lines(found))
