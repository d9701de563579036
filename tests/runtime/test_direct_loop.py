"""The direct runner: every kind of source and sink, changes while it runs, its end, and how it is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from network_peers import until
from weir import Engine
from weir.errors import DataError, EvaluationError, UsageError
from weir.kernel.functions.builtins import BUILTINS
from weir.language.algebra.expressions import Builtin
from weir.runtime.control.failure import QueryLimits
from weir.runtime.direct_loop import DirectLoop, Turns
from weir.runtime.ingest.sources import FileSource
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.running import RunningJob

QUERY = """REGISTER RSTREAM <{name}> AS SELECT ?s FROM NAMED WINDOW <w> ON <{stream}>
[RANGE PT1S STEP PT1S] WHERE {{ WINDOW <w> {{ ?s <urn:p> ?o }} }}"""


def query(name: str, stream: str = "urn:s") -> str:
    return QUERY.format(name=name, stream=stream)


def lines(*seconds: int) -> str:
    return "".join(f"{second}000\t<urn:{second}> <urn:p> <urn:o> .\n" for second in seconds)


class Heard(Sink):
    """A sink that keeps all result lines."""

    form = "jsonl"
    promise = "at least once"

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def write(self, batch: int, results: list[Results]) -> None:  # type: ignore[override]
        self.lines += [json.loads(line) for each in results for line in each.table["line"].to_pylist()]

    def values(self, name: str) -> list[str]:
        return [line["bindings"]["s"]["value"] for line in self.lines if line["query"] == name]


def started(heard: Sink, *streams: tuple[str, Any], queries: tuple[str, ...] = (), **how: Any) -> RunningJob:
    engine = Engine(runner="direct")
    for iri, source in streams:
        engine.stream(iri, source)
    for text in queries:
        engine.register(text)
    return engine.start(sinks=[heard], **how)


def test_a_finite_run_ends_with_its_sources_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path, heard, seen = tmp_path / "s.tnq", Heard(), []
    path.write_text(lines(1, 2, 3))
    engine = Engine(runner="direct")
    engine.stream("urn:s", path)
    engine.register(query("q"))
    out = tmp_path / "out.jsonl"
    metrics = engine.run(out=out, sinks=[heard], observer=lambda told: seen.append(told.batches))
    assert heard.values("q") == ["urn:1", "urn:2", "urn:3"]
    assert [json.loads(line) for line in out.read_text().splitlines()] == heard.lines
    assert (metrics.triples, metrics.results, seen[-1]) == (3, 3, metrics.batches)
    job = engine.start()
    folder = job.checkpoint.folder
    assert isinstance(job, DirectLoop) and job.wait()
    assert not folder.exists()


def test_what_is_pushed_is_answered_and_queries_come_and_go_meanwhile() -> None:
    heard = Heard()
    job = started(heard, ("urn:s", "push:"), live=True)
    writer = job.receivers.writer("urn:s")
    job.register(query("a"))
    writer.append(lines(1, 2, 3).encode())
    until(lambda: heard.values("a") == ["urn:1", "urn:2"])
    job.register(query("b"))
    writer.append(lines(4, 5).encode())
    until(lambda: heard.values("b") == ["urn:4"])
    job.pause("a")
    writer.append(lines(6).encode())
    until(lambda: heard.values("b") == ["urn:4", "urn:5"])
    job.drop("b")
    job.finish()
    until(lambda: not job.receivers.state())
    job.stop()
    assert heard.values("a") == ["urn:1", "urn:2", "urn:3", "urn:4"]
    assert not job.active
    with pytest.raises(UsageError, match="the job has ended"):
        job.register(query("c"))


def test_a_query_is_paused_though_its_batch_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has set a limit. The query is ended in the batch, whose other results come; a change that waits
    for the batch is made then."""
    stuck = threading.Event()
    real = BUILTINS[Builtin.UCASE]

    def held(text: Any) -> Any:
        while text.lexical == "HTTP://HOLD":
            stuck.set()
            time.sleep(0.001)
        return real(text)

    monkeypatch.setitem(BUILTINS, Builtin.UCASE, held)
    heard = Heard()
    job = started(heard, ("urn:s", "push:"), live=True)
    writer = job.receivers.writer("urn:s")
    job.register(query("good"))
    job.register(query("bad").replace("} }", "} BIND(UCASE(UCASE(STR(?s))) AS ?m) }"), evaluator="reference")
    writer.append(lines(1, 2).encode())
    until(lambda: heard.values("bad") == ["urn:1"])
    writer.append((lines(3).replace("urn:3", "http://hold") + lines(4)).encode())
    assert stuck.wait(60)
    registering = threading.Thread(target=job.register, args=[query("late")])
    registering.start()
    job.pause("bad")
    paused = {each.name: each.paused for each in job.queries()}
    assert paused["bad"] and not paused["good"]
    registering.join(60)
    assert not registering.is_alive()
    until(lambda: heard.values("good") == ["urn:1", "urn:2", "http://hold"])
    assert (heard.values("bad"), job.failures) == (["urn:1"], {})
    assert not job.metrics.failures
    job.resume("bad")
    writer.append(lines(5, 6).encode())
    until(lambda: heard.values("bad") == ["urn:1", "urn:5"] and heard.values("late") == ["urn:5"])
    job.stop()


def test_the_end_of_input_closes_every_window(tmp_path: Path) -> None:
    heard, folder = Heard(), tmp_path / "s"
    folder.mkdir()
    source = FileSource(str(folder), watch=True)
    job = started(heard, ("urn:s", source), queries=(query("q"),))
    (tmp_path / "part").write_text(lines(1, 2))
    (tmp_path / "part").rename(folder / "1.tnq")
    until(lambda: heard.values("q") == ["urn:1"])
    job.finish()
    until(lambda: heard.values("q") == ["urn:1", "urn:2"])
    job.stop()


def test_a_failing_query_ends_alone(tmp_path: Path) -> None:
    heard = Heard()
    for second in range(1, 9):
        rare = lines(second).replace("urn:p", "urn:rare") if second in (2, 7) else ""
        (tmp_path / f"{second}.tnq").write_text(lines(second) + rare)
    wide = query("wide", "urn:t").replace("PT1S STEP", "PT1H STEP")
    engine = Engine(runner="direct")
    engine.limits = QueryLimits(rows=4)
    for iri in ("urn:s", "urn:t"):
        engine.stream(iri, tmp_path, files_per_batch=1)
    for text in (query("q").replace("urn:p", "urn:rare"), wide):
        engine.register(text)
    metrics = engine.run(sinks=[heard])
    assert list(metrics.failures) == ["wide"]
    assert heard.values("q") == ["urn:2", "urn:7"]


@pytest.mark.parametrize("error", [DataError("the peer is gone"), OSError("no")])
def test_a_sink_that_fails_ends_the_job(tmp_path: Path, error: Exception) -> None:
    class Broken(Heard):
        def write(self, batch: int, results: list[Results]) -> None:
            raise error

    path = tmp_path / "s.tnq"
    path.write_text(lines(1, 2))
    job = started(Broken(), ("urn:s", path), queries=(query("q"),))
    kind = DataError if isinstance(error, DataError) else EvaluationError
    with pytest.raises(kind, match=str(error)):
        job.wait()
    assert not job.active


def test_changes_do_not_wait_for_ever_behind_batches() -> None:
    turns, over, made = Turns(), threading.Event(), []

    def work() -> None:
        while not over.is_set():
            with turns.batch(len(made)):
                made.append("batch")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        until(lambda: len(made) > 0)
        for _ in range(5):
            with turns.change(True):
                count = len(made)
                time.sleep(0.01)
                assert len(made) == count
    finally:
        over.set()
        thread.join()


def test_what_only_spark_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown runner 'flink'"):
        Engine(runner="flink")
    with pytest.raises(UsageError, match="keeps nothing"):
        Engine(runner="direct", checkpoint=tmp_path)
    engine = Engine(runner="direct", master="local[2]")
    (tmp_path / "s.tnq").touch()
    engine.stream("urn:s", tmp_path / "s.tnq")
    engine.register(query("q"))
    with pytest.raises(UsageError, match="has no Spark"):
        engine.start()
    with pytest.raises(UsageError, match="given a list, which is no source"):
        engine.stream("urn:t", [])  # type: ignore[arg-type]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_sign_ends_it_quietly_with_one_line(tmp_path: Path, sign: signal.Signals) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "1.tnq").write_text(lines(1, 2))
    (tmp_path / "q.rq").write_text(query("q"))
    command = [sys.executable, "-m", "weir", "try", "q.rq", "--stream", "urn:s=s", "--watch"]
    with subprocess.Popen(
        [*command, "--format", "jsonl"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as child:
        assert child.stdout is not None
        assert "urn:1" in child.stdout.readline()
        child.send_signal(sign)
        _, said = child.communicate(timeout=60)
    assert child.returncode == 0
    waiting, summed_up = said.splitlines()
    assert waiting == f"weir: <urn:s>: watching {tmp_path / 's'}, waiting for messages"
    assert summed_up.startswith("weir: 2 triples in") and summed_up.endswith("(interrupted)")
