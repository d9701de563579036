"""Queries and streams that come and go while a job runs: through the control log, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from weir.errors import SyntaxError, UsageError
from weir.linked.graphs.graph_sources import GraphSources
from weir.runtime.control.catalog import Catalog
from weir.runtime.control.failure import Failure
from weir.runtime.control.registry import StreamInfo
from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource
from weir.testing import Scenario

P = "PREFIX : <http://e/> "
COUNT = P + (
    "REGISTER RSTREAM <{name}> AS SELECT (COUNT(*) AS ?n) FROM NAMED WINDOW <w> ON <{stream}> "
    "[RANGE 10 STEP 10] WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}"
)
MAKES = P + (
    "REGISTER RSTREAM <{name}> AS CONSTRUCT {{ ?x :p ?y }} FROM NAMED WINDOW <w> ON <{stream}> [NOW] "
    "WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}"
)


def test_what_is_paused_while_it_fails_stays_paused(tmp_path: Path) -> None:
    """The failure is logged behind the pause, both for the same batch."""
    made = job(tmp_path)
    made.register(count("q"))
    query = made.registry.catalog().queries["q"]
    assert made.registry.pause("q") == made.number
    made.control.fail(made.number - 1, [Failure("q", query.since, "late")])
    assert made.registry.catalog().failures == {} and "q" in made.registry.catalog().paused
    assert made.registry.pause("q") is None
    made.registry.resume("q")
    assert "q" in made.registry.catalog().queries


def count(name: str, stream: str = "s") -> str:
    return COUNT.format(name=name, stream=stream)


def send(folder: Path, number: int, *times: int) -> str:
    """One file of the stream: a message a time. Its text."""
    folder.mkdir(exist_ok=True)
    text = "".join(f"{time}\t<http://e/a> <http://e/p> <http://e/{time}> .\n" for time in times)
    (folder / f"{number:03d}.tnq").write_text(text)
    return text


def job(folder: Path, **how: Any) -> DirectJob:
    (folder / "s").mkdir()
    made = DirectJob(folder / "checkpoint", **{"slots": 2, **how})
    made.registry.add_stream("s", watched(folder / "s"))
    return made


def watched(folder: Path) -> FileSource:
    return FileSource(str(folder), watch=True)


def counts(lines: list[dict[str, Any]], name: str) -> list[tuple[int, int]]:
    return [
        (int(line["at"][17:19]) * 1000 + int(line["at"][20:23]), int(line["bindings"]["n"]["value"]))
        for line in lines
        if line["query"] == name
    ]


def alone(name: str, *batches: str) -> list[tuple[int, int]]:
    """What a query answers that sees nothing but ``batches``."""
    scenario, found = Scenario({name: count(name)}), []
    for batch in batches:
        scenario.lane("s", "s").put(batch)
        found += scenario.batch()
    return counts(found, name)


def test_queries_come_pause_resume_and_go(tmp_path: Path) -> None:
    """Batches 0 to 4, a file each. Each query is as one that sees only the files under its bar.

    file   0      1      2      3      4
    a      |------|------|------|------|
    b             |------|dropped
    c             |------|paused|------|
    """
    running = job(tmp_path)
    running.register(count("a"))
    texts = [send(tmp_path / "s", 0, 1, 12, 21)]
    found = running.run()
    assert running.registry.register_all({"x": count("b"), "y": count("c")}, "auto", "auto") == ["b", "c"]
    texts.append(send(tmp_path / "s", 1, 22, 23, 35, 41))
    found += running.run()
    running.registry.drop("b")
    running.registry.pause("c")
    running.registry.pause("c")
    texts.append(send(tmp_path / "s", 2, 42, 53))
    found += running.run()
    running.restart()
    running.registry.resume("c")
    running.registry.resume("c")
    texts.append(send(tmp_path / "s", 3, 54, 61, 77))
    found += running.run()
    texts.append(send(tmp_path / "s", 4, 88, 100))
    found += running.run()
    assert counts(found, "a") == alone("a", *texts)
    assert counts(found, "b") == alone("b", texts[1]) != []
    assert counts(found, "c") == [*alone("c", texts[1]), *alone("c", *texts[3:])]
    told = {query.name: query for query in running.registry.queries()}
    assert {name: (query.since, query.paused) for name, query in told.items()} == {
        "a": (0, False),
        "c": (3, False),
    }
    assert told["c"].text == count("c") and told["c"].reads == ("s",)


def test_queries_that_come_are_routed_as_the_job_says_and_keep_that(tmp_path: Path) -> None:
    running = job(tmp_path)
    running.registry.routing = "cardinality"
    running.register(count("a"))
    running.restart()
    running.registry.pause("a")
    running.registry.resume("a")
    running.register(count("b"))
    assert {query.name: query.routing for query in running.registry.queries()} == {
        "a": "cardinality",
        "b": "cost",
    }


def test_a_dropped_or_ended_query_leaves_no_state(tmp_path: Path) -> None:
    running = job(tmp_path)
    running.register(count("a"))
    running.register(count("b"))
    send(tmp_path / "s", 0, 1, 2, 3)
    running.run()
    assert {slot for slot, store in running.stores.items() if store.head() is not None} == {0, 1}
    running.registry.pause("a")
    running.registry.drop("b")
    send(tmp_path / "s", 1, 4)
    running.run()
    assert all(store.head() is None and not store.panes for store in running.stores.values())
    send(tmp_path / "finite", 0, 1, 2, 3)
    running.registry.add_stream("f", FileSource(str(tmp_path / "finite")))
    running.register(count("c", "f"))
    assert counts(running.run(), "c") == [(10, 3)]
    assert [name for store in running.stores.values() for name in store.panes if "c" in name] == []
    assert counts(running.run(), "c") == []


def test_a_finite_stream_waits_for_its_first_reader(tmp_path: Path) -> None:
    running = job(tmp_path)
    send(tmp_path / "f", 0, 1, 2)
    running.registry.add_stream("f", FileSource(str(tmp_path / "f")))
    running.register(count("a"))
    send(tmp_path / "s", 0, 1, 2)
    running.run()
    running.register(count("b", "f"))
    assert counts(running.run(), "b") == [(10, 2)]


def test_a_stream_comes_goes_and_comes_again(tmp_path: Path) -> None:
    running = job(tmp_path)
    send(tmp_path / "one", 0, 1, 2)
    running.registry.add_stream("t", FileSource(str(tmp_path / "one")))
    name = running.register(count("a", "t"))
    assert counts(running.run(), "a") == [(10, 2)]
    running.registry.pause(name)
    with pytest.raises(UsageError, match="is read by 'a'"):
        running.registry.drop_stream("t")
    running.registry.drop(name)
    running.registry.drop_stream("t")
    assert [stream.iri for stream in running.registry.streams()] == ["s"]
    send(tmp_path / "two", 0, 3, 4, 5)
    running.registry.add_stream("t", FileSource(str(tmp_path / "two")))
    running.register(count("a", "t"))
    assert counts(running.run(), "a") == [(10, 3)]
    assert {stream.iri: stream.readers for stream in running.registry.streams()} == {"s": (), "t": ("a",)}


def test_chains_are_built_and_taken_down_in_order(tmp_path: Path) -> None:
    running = job(tmp_path)
    running.register(MAKES.format(name="mid", stream="s"))
    send(tmp_path / "s", 0, 1, 2)
    running.run()
    running.register(count("last", "mid"))
    send(tmp_path / "s", 1, 3, 14, 25)
    # Of the first file the message at 2 was not complete yet: the chained query sees what is made from it.
    assert counts(running.run(), "last") == [(10, 2), (20, 1)]
    for change in (running.registry.drop, running.registry.pause):
        with pytest.raises(UsageError, match="read by 'last'"):
            change("mid")
    running.registry.pause("last")
    running.registry.drop("mid")
    with pytest.raises(UsageError, match="unknown stream <mid>"):
        running.registry.resume("last")
    running.registry.drop("last")
    assert running.registry.queries() == []


@pytest.mark.parametrize(
    "text, problem",
    [
        ("SELECT", "expected"),
        (count("a"), "two queries are named 'a'"),
        (count("b", "nowhere"), "unknown stream <nowhere>"),
        (count("s"), "which has a source of its own"),
        (count("b", "a"), "makes no triples"),
        (MAKES.format(name="b", stream="b"), "in a circle"),
    ],
)
def test_what_cannot_run_is_refused_at_once_and_leaves_no_trace(
    tmp_path: Path, text: str, problem: str
) -> None:
    running = job(tmp_path)
    running.register(count("a"))
    before = running.checkpoint.control().entries()
    with pytest.raises((UsageError, SyntaxError), match=problem):
        running.register(text)
    with pytest.raises((UsageError, SyntaxError), match=problem):
        running.registry.register_all({"fine": count("c"), "bad": text}, "auto", "auto")
    assert running.checkpoint.control().entries() == before


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    running = job(tmp_path)
    for change in (running.registry.drop, running.registry.pause, running.registry.resume):
        with pytest.raises(UsageError, match="there is no query 'x'"):
            change("x")
    with pytest.raises(UsageError, match="there is no stream <x>"):
        running.registry.drop_stream("x")
    with pytest.raises(UsageError, match="given twice"):
        running.registry.add_stream("s", watched(tmp_path / "s"))
    running.register(MAKES.format(name="mid", stream="s"))
    with pytest.raises(UsageError, match="the output of the query 'mid'"):
        running.registry.add_stream("mid", watched(tmp_path / "s"))


def test_queries_without_a_name_get_one_that_is_free(tmp_path: Path) -> None:
    running = job(tmp_path)
    text = count("a").replace("REGISTER RSTREAM <a> AS ", "")
    assert running.register(text, "query2") == "query2"
    assert [running.register(text), running.register(text)] == ["query3", "query4"]


def test_a_variable_ranges_over_the_streams_registered_before_it(tmp_path: Path) -> None:
    running = job(tmp_path)
    running.register(P + "SELECT ?x WHERE { STREAM ?any [NOW] { ?x :p ?y } }", "a")
    send(tmp_path / "t", 0, 1, 2)
    running.registry.add_stream("t", watched(tmp_path / "t"))
    send(tmp_path / "s", 0, 1, 2, 3)
    found = running.run()
    running.restart()
    send(tmp_path / "s", 1, 4, 5)
    found += running.run()
    assert [line["at"][20:23] for line in found] == ["001", "002", "003", "004"]
    running.registry.drop_stream("t")


def test_a_query_that_is_registered_live_has_its_part_of_the_graphs(tmp_path: Path) -> None:
    (tmp_path / "g.nt").write_text('<http://e/a> <http://e/name> "A" .\n')
    library = GraphSources()
    library.add(None, tmp_path / "g.nt")
    running = job(tmp_path, library=library)
    running.graphs.update('INSERT DATA { <http://e/a> <http://e/name> "B" }')
    text = P + "SELECT ?n FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x :p ?y } ?x :name ?n }"
    running.register(text, "names")
    send(tmp_path / "s", 0, 1, 2)
    assert sorted(line["bindings"]["n"]["value"] for line in running.run()) == ["A", "B"]
    running.graphs.update('DELETE DATA { <http://e/a> <http://e/name> "A" }')
    send(tmp_path / "s", 1, 3, 4)
    assert [line["bindings"]["n"]["value"] for line in running.run()] == ["A", "B", "B"][1:]


def test_many_conjunctions_share_an_evaluator_from_the_start_or_later(tmp_path: Path) -> None:
    running = job(tmp_path)
    body = "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { WINDOW <w> { ?x ?p ?y } }"
    running.registry.register_all({f"q{n}": body for n in range(16)}, "auto", "auto")
    running.register(body, "late")
    running.register(body, "apart", evaluator="interval")
    assert {query.name: query.evaluator for query in running.registry.queries()} == {
        **{f"q{n}": "shared" for n in range(16)},
        "late": "shared",
        "apart": "interval",
    }


def test_catalogs_know_the_slots_that_were_vacated(tmp_path: Path) -> None:
    running = job(tmp_path, slots=1)
    running.register(count("a"))
    send(tmp_path / "s", 0, 1)
    running.run()
    running.registry.drop("a")
    log = running.checkpoint.control()
    assert Catalog.of(log.entries(0)).leaving(0) == []
    assert Catalog.of(log.entries(1)).leaving(1) == [0]
    assert Catalog.of(log.entries(9)).leaving(9) == []
    running.register(count("a"))
    assert Catalog.of(log.entries()).leaving(1) == []


def test_streams_are_listed_with_who_reads_them(tmp_path: Path) -> None:
    running = job(tmp_path)
    running.register(count("a"))
    source = watched(tmp_path / "s")
    assert running.registry.streams() == [StreamInfo("s", source.as_json(), endless=True, readers=("a",))]
