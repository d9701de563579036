"""What a user does with a job that runs: the same on every runner, shown on the direct one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from network_peers import until
from weir import Engine
from weir.errors import UsageError
from weir.runtime.ingest.sources import FileSource
from weir.runtime.running import RunningJob

QUERY = """REGISTER RSTREAM <{name}> AS SELECT ?s ?g
FROM NAMED WINDOW <w> ON <{stream}> [RANGE PT1S STEP PT1S]
WHERE {{ WINDOW <w> {{ ?s <urn:p> ?o }} OPTIONAL {{ GRAPH <urn:g> {{ ?s <urn:q> ?g }} }} }}"""


def line(second: int) -> bytes:
    return f"{second}000\t<urn:{second}> <urn:p> <urn:o> .\n".encode()


def values(out: Path, name: str) -> list[tuple[str, bool]]:
    """The subjects of a query's results, and whether the graph knew them."""
    told = [json.loads(each) for each in out.read_text().splitlines()]
    return [
        (each["bindings"]["s"]["value"], "g" in each["bindings"]) for each in told if each["query"] == name
    ]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


@pytest.fixture
def job(tmp_path: Path, out: Path) -> RunningJob:
    engine = Engine(runner="direct")
    engine.stream("s", "push:")
    (tmp_path / "g.nt").write_text("<urn:1> <urn:q> <urn:known> .\n")
    engine.graph("urn:g", tmp_path / "g.nt")
    return engine.start(out=out, live=True)


def test_queries_are_listed_paused_resumed_and_dropped(job: RunningJob, out: Path) -> None:
    writer = job.receivers.writer("s")
    texts = {name: QUERY.format(name=name, stream="s") for name in "ab"}
    assert job.register_all(texts) == ["a", "b"]
    assert job.register(QUERY.format(name="c", stream="s")) == "c"
    writer.append(line(1) + line(2))
    until(lambda: all(values(out, name) == [("urn:1", True)] for name in "abc"))
    job.pause("b")
    job.drop("c")
    assert {each.name: each.paused for each in job.queries()} == {"a": False, "b": True}
    writer.append(line(3))
    until(lambda: len(values(out, "a")) == 2)
    job.resume("b")
    writer.append(line(4) + line(5))
    until(lambda: len(values(out, "a")) == 4)
    assert values(out, "b") == [("urn:1", True), ("urn:4", False)]
    assert values(out, "c") == [("urn:1", True)]
    assert job.failures == {}
    job.stop()


def test_graphs_change_while_it_runs(job: RunningJob, out: Path, tmp_path: Path) -> None:
    writer = job.receivers.writer("s")
    job.register(QUERY.format(name="a", stream="s"))
    assert job.update("INSERT DATA { GRAPH <urn:g> { <urn:2> <urn:q> <urn:known> } }") == 1
    (tmp_path / "more.nt").write_text("<urn:3> <urn:q> <urn:known> .\n")
    assert job.insert("urn:g", tmp_path / "more.nt") == 2
    writer.append(line(2) + line(3) + line(4) + line(5))
    until(lambda: values(out, "a") == [("urn:2", True), ("urn:3", True), ("urn:4", False)])
    job.stop()


def test_streams_come_and_go(job: RunningJob, out: Path, tmp_path: Path) -> None:
    (tmp_path / "t.tnq").write_bytes(line(1) + line(2))
    job.add_stream("t", FileSource(str(tmp_path / "t.tnq")))
    with pytest.raises(UsageError, match="given twice"):
        job.add_stream("t", FileSource(str(tmp_path / "t.tnq")))
    job.register(QUERY.format(name="a", stream="t"))
    until(lambda: len(values(out, "a")) == 2)
    assert {each.iri: each.readers for each in job.streams()} == {"s": (), "t": ("a",)}
    with pytest.raises(UsageError, match="is read by 'a'"):
        job.drop_stream("t")
    job.drop("a")
    job.drop_stream("t")
    job.drop_stream("s")
    assert job.streams() == []
    with pytest.raises(UsageError, match="does not take messages"):
        job.receivers.writer("s")
    job.stop()
