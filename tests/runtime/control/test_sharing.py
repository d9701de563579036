"""Queries evaluated together give what each gives by itself, whatever the cuts, order, workers, restarts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuts_kit import Message, answers, cut_and_shuffled, line
from weir.kernel.contract import Background
from weir.language import parse
from weir.rdf.terms import XSD
from weir.runtime.control.catalog import SHARED
from weir.runtime.control.sharing import by_shape, shape_key, why_alone
from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource
from weir.runtime.worker.state_store import load_group
from weir.testing import Scenario

WINDOWS = [
    "[RANGE 20 STEP 10 LATE]",
    "[TRIPLES 3 REPORT CONTENT CHANGE LATE]",
    "[ELEMENTS 2 CONTENT BAG LATE]",
    "[RANGE 15 STEP 5 REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG LATE]",
]
BODIES = ["?x :p ?y", ":a :p ?y", "?x :p ?y . ?x :q ?z", "?x ?p :x . ?x :q ?y", "?x :p ?y . ?z :q ?y"]
QUERIES = {
    f"q{w}{b}{r2s[0]}": (
        f"PREFIX : <http://e/> REGISTER {r2s} <q{w}{b}{r2s[0]}> AS SELECT * FROM NAMED WINDOW <w> ON <s> "
        f"{window.replace('LATE', 'LATENESS PT0.03S')} WHERE {{ WINDOW <w> {{ {body} }} }}"
    )
    for w, window in enumerate(WINDOWS)
    for b, body in enumerate(BODIES)
    for r2s in (("RSTREAM", "ISTREAM")[(w + b) % 2],)
}


SHAPES = [
    "WINDOW <w> {{ ?x :p ?y FILTER (?y != :{}) }}",
    "WINDOW <w> {{ ?x :p ?y OPTIONAL {{ ?x :q :{} }} }}",
    "WINDOW <w> {{ ?x :p ?y MINUS {{ ?x ?q :{} }} }}",
    "{{ SELECT ?y (COUNT(*) AS ?n) WHERE {{ WINDOW <w> {{ ?x :p ?y . FILTER (?x = :{}) }} }} GROUP BY ?y }}",
    "WINDOW <w> {{ ?x (:p|:q) ?y FILTER (?y = :{}) }}",
    "{{ SELECT (COUNT(*) AS ?n) WHERE {{ WINDOW <w> {{ ?x ?p :{} }} }} GROUP BY (STR(?p)) }}",
]
SHAPED = {
    f"s{shape}{constant}{r2s[0]}": (
        f"PREFIX : <http://e/> REGISTER {r2s} <s{shape}{constant}{r2s[0]}> AS SELECT * FROM NAMED WINDOW <w> "
        f"ON <s> [RANGE 30 STEP 10 LATENESS PT0.03S] WHERE {{ {body.format(constant)} }}"
    )
    for shape, body in enumerate(SHAPES)
    for constant in "abxy"
    for r2s in (("RSTREAM", "ISTREAM")[shape % 2],)
}


def test_conjunctions_on_equal_windows_have_one_key():
    keys = {name: shape_key(parse(text)) for name, text in QUERIES.items()}
    assert None not in keys.values()
    assert len(set(keys.values())) == len({(name[:2], name[-1]) for name in QUERIES})


@given(script=cut_and_shuffled(), workers=st.integers(0, 3))
@settings(max_examples=12, deadline=None)
def test_shared_queries_give_what_others_give(
    script: tuple[list[Message], list[list[Message]]], workers: int
) -> None:
    ordered, batches = script
    alone = answers(QUERIES, "interval", [ordered])
    assert answers(QUERIES, "shared", batches, restarts=not workers, workers=workers or 1) == alone


@given(script=cut_and_shuffled(), workers=st.integers(0, 2))
@settings(max_examples=6, deadline=None)
def test_shared_queries_of_one_shape_give_what_evaluators_give(
    script: tuple[list[Message], list[list[Message]]], workers: int
) -> None:
    ordered, batches = script
    alone = answers(SHAPED, "interval", [ordered])
    assert answers(SHAPED, "shared", batches, restarts=not workers, workers=workers or 1) == alone


def test_queries_of_one_shape_have_one_key_whatever_their_constants() -> None:
    keys = {name: shape_key(parse(text)) for name, text in SHAPED.items()}
    assert None not in keys.values()
    by_shape = {shape: {key for name, key in keys.items() if name[1] == str(shape)} for shape in range(6)}
    # The constants of MINUS cannot be joined with.
    assert [len(each) for each in by_shape.values()] == [1, 1, 4, 1, 1, 1]


def test_a_job_shares_many_of_one_shape(tmp_path: Path) -> None:
    text = (
        "PREFIX : <http://e/> REGISTER ISTREAM <t{0}> AS SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> "
        "[RANGE 20 STEP 10] WHERE {{ WINDOW <w> {{ ?x :p ?y FILTER (?y > {0}) }} }}"
    )
    queries = {f"t{limit}": text.format(limit) for limit in range(16)}
    lines = "".join(
        f'{time}\t<http://e/{"abc"[time % 3]}> <http://e/p> "{time % 23}"^^<{XSD}integer> .\n'
        for time in range(0, 200, 3)
    )
    (tmp_path / "s.tnq").write_text(lines)
    job = DirectJob(tmp_path / "c", slots=2)
    job.registry.add_stream("s", FileSource(str(tmp_path / "s.tnq"), bytes_per_batch=1500))
    job.registry.register_all(queries, "auto", "auto")
    assert {query.evaluator for query in job.registry.queries()} == {SHARED}
    found = job.run()
    assert {name: [each for each in found if each["query"] == name] for name in queries} == {
        name: Scenario({name: query}, evaluator="interval").run([lines], "s")
        for name, query in queries.items()
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW TICK TUPLE] WHERE { WINDOW <w> { ?s <p> 1 } }",
            "message",
        ),
        ("ASK FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?s <p> 1 } }", "neither a SELECT"),
        ("SELECT * WHERE { ?s <p> 1 }", "one stream"),
        ("SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?s <p> 1 } } LIMIT 1", "LIMIT"),
        (
            "CONSTRUCT { [] <p> ?s } FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?s <p> 1 } }",
            "blank",
        ),
    ],
)
def test_why_a_query_is_by_itself(text: str, reason: str) -> None:
    found = why_alone(parse(text))
    assert found is not None and reason in found, found
    assert shape_key(parse(text)) is None


def test_results_and_evaluations_are_counted():
    scenario = Scenario(QUERIES, evaluator="shared")
    found = scenario.run([line((1, "a", "p", "x")), line((2, "a", "q", "x"))], "s")
    counted = {name: member.results for name, member in scenario.group.members.items()}
    assert sum(counted.values()) == len(found) > 0
    assert all(member.evaluations for member in scenario.group.members.values())


def test_the_state_has_what_is_shared_once():
    scenario = Scenario(QUERIES, evaluator="shared")
    scenario.lane("s").put(line((1, "a", "p", "x")))
    scenario.batch()
    panes = [name.partition("/")[0] for name in scenario.store.panes]
    assert panes.count("shared") == 1
    assert "query" not in panes


def test_state_outlives_whoever_is_dropped():
    scenario = Scenario(QUERIES, evaluator="shared")
    scenario.lane("s").put(line((1, "a", "p", "x")) + line((40, "b", "p", "y")))
    scenario.batch()
    left = {name: text for name, text in QUERIES.items() if name != min(QUERIES)}
    smaller = Scenario(left, evaluator="shared")
    fresh = smaller.group
    fresh.origin = scenario.group.origin
    loaded = load_group(scenario.store, None, lambda: fresh, lambda group: None)
    (elder,), (younger,) = (group.shared.values() for group in (scenario.group, loaded.group))
    rows = [each.evaluator.statistics()["live_rows"] for each in (elder, younger)]
    assert rows[0] == rows[1] > 0


STATIC = (
    "PREFIX : <http://e/> SELECT ?y FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10] "
    "WHERE {{ WINDOW <w> {{ ?x :p ?y }} ?d :by ?x . ?d :by ?z . ?z :name 'n{0}' }}"
)


def test_what_is_looked_at_as_one_has_what_each_needs() -> None:
    """Of a shape: the extract of all holds that of each, and is not the whole graph; so do changes."""
    lines = [f"<http://e/d{n % 9}> <http://e/by> <http://e/a{n}> ." for n in range(30)]
    lines += [f"<http://e/a{n}> <http://e/name> 'n{n}' ." for n in range(30)]
    names = [3, 4, 5]
    queries = {f"q{n}": STATIC.format(n) for n in names}
    scenario = Scenario(queries, graphs={None: "\n".join(lines)}, evaluator="shared")
    job = scenario.job
    registered, graphs = job.registry.queries(), job.extractor.graphs
    ((query, members),) = by_shape(registered, graphs.dictionary)
    assert [member.name for member in members] == list(queries)
    whole = triples(graphs.extract(query))
    own = [triples(graphs.extract(member.query)) for member in members]
    assert set().union(*own) <= whole and 0 < len(whole) < len(lines)
    job.graphs.update("INSERT DATA { <http://e/d1> <http://e/by> <http://e/a4> }")
    number = graphs.delta.number
    changes = [graphs.change(each, number) for each in (query, *(member.query for member in members))]
    together, *alone = [set() if each is None else triples(each) for each in changes]
    assert set().union(*alone) <= together and alone[1]
    (update,) = job.registry.catalog().updates
    assert len(set(update.parts.values())) == 1 and set(update.parts) == set(queries)


def triples(background: Background) -> set[tuple[int, ...]]:
    table = background.default
    return set(zip(*(each.tolist() for each in (table.subject, table.predicate, table.object)), strict=True))
