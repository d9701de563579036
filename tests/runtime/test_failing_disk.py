"""A disk that refuses the n-th request, for every n: nothing lost, nothing doubled, and it goes on.

A job without Spark has every sink that writes to disk, a stream that is pushed into, queries that come and
go and a graph that is updated. Its user does what users do: whatever fails is tried again, at once or after
a restart. In the end every output is that of an undisturbed run, to the byte, and every message that was
acknowledged counts once.
"""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from disk_kit import REQUESTS, Faults
from weir.errors import StorageError
from weir.runtime.control.planning import feed_key
from weir.runtime.control.registry import stream_entry
from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.log_source import LogSource
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.output.sinks.base import Sink
from weir.runtime.output.sinks.folders import ResultsFolder
from weir.runtime.output.sinks.making import FORMATS, sink_at, sink_for
from weir.runtime.output.sinks.result_files import ExactFile
from weir.server.result_log import ResultLog
from weir.storage import disk

PREFIX = "PREFIX : <http://e/> "
EACH = PREFIX + "SELECT ?n ?name WHERE { STREAM <s> [NOW] { ?x :n ?n } OPTIONAL { ?x :name ?name } }"
COUNT = (
    PREFIX + "REGISTER RSTREAM <http://e/count> AS SELECT (COUNT(*) AS ?all) "
    "FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10] WHERE { WINDOW <w> { ?x :n ?n } }"
)
MADE = (
    PREFIX + "REGISTER RSTREAM <made> AS CONSTRUCT { ?x :seen ?n } "
    "FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { WINDOW <w> { ?x :n ?n } }"
)
INSERT = 'INSERT DATA { <http://e/x1> <http://e/name> "one" }'
SOURCE = LogSource(segment_bytes=300)


class Run:
    """One job with its sinks and the log of its stream; ``again`` is how its user goes on after a failure."""

    def __init__(self, folder: Path, faults: Faults) -> None:
        self.folder, self.faults = folder, faults
        self.failures: list[str] = []
        self.acknowledged: list[int] = []
        self.restarts = False
        self.job: DirectJob | None = None
        self.writer: LogWriter | None = None
        self.sinks: list[Sink] = []
        self.log: ResultLog | None = None

    def go(self) -> None:
        """All that the user does."""
        self.until_done(self.open)
        self.until_done(lambda: self.running.registry.register(EACH, "each", "auto", "auto"))
        self.until_done(lambda: self.running.register(COUNT))
        for number in (1, 2, 12):
            self.push(number)
        self.until_done(lambda: self.running.graphs.update(INSERT))
        self.until_done(self.batch)
        self.until_done(lambda: self.running.register(MADE))
        self.push(13)
        self.push_garbage()
        self.push(25)
        self.until_done(self.batch)
        self.until_done(lambda: self.running.registry.pause("made"))
        self.push(47)
        self.push(60)
        self.until_done(self.batch)
        self.close()

    @property
    def running(self) -> DirectJob:
        assert self.job is not None
        return self.job

    def open(self) -> None:
        """Everything, anew where it was there before; state and positions are what Spark would have kept."""
        before = self.job
        self.close()
        logs, out = self.folder / "logs", self.folder / "out"
        makers = [sink_for(form, out / form, io.BytesIO()) for form in FORMATS]
        self.log = ResultLog(self.folder / "results", segment=200)
        self.sinks = [make(logs) for make in [*makers, sink_at(f"files:{out / 'files'}")]]
        self.sinks += [ResultsFolder(out / "compact", logs / "compact.log"), self.log]
        letters = ExactFile(out / "dead.jsonl", logs / "dead.log")
        for sink in self.sinks:
            sink.open()
        letters.open(lazy=True)
        job = DirectJob(
            self.folder / "ck", slots=2, key=b"k" * 16, sinks=self.sinks, durable=True, dead=letters
        )
        self.job = job
        if before is not None:
            job.stores, job.number, job.reached = before.stores, before.number, before.reached
        if "s" not in job.registry.catalog().streams:
            job.registry.add_stream("s", SOURCE)
        own = job.checkpoint.own
        self.writer = SOURCE.writer(Place("s", own, feed_key(stream_entry("s", SOURCE, 0))))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None
        for sink in self.sinks:
            sink.close()
        self.sinks = []
        if self.job is not None:
            self.job.close()

    def push(self, number: int) -> None:
        def once() -> None:
            assert self.writer is not None
            self.writer.append(f'{number}\t<http://e/x{number}> <http://e/n> "{number}" .'.encode())

        self.until_done(once)
        self.acknowledged.append(number)

    def push_garbage(self) -> None:
        def once() -> None:
            assert self.writer is not None
            self.writer.append(b"14\tgarbage")

        self.until_done(once)

    def batch(self) -> None:
        self.running.batch()

    def until_done(self, act: Callable[[], object]) -> None:
        """Do something again until the disk takes it."""
        for _ in range(20):
            try:
                act()
                return
            except StorageError as error:
                assert "No space left" in str(error) or "could not be written" in str(error)
                self.failures.append(str(error))
            if self.restarts and act != self.open:
                self.until_done(self.open)
        raise AssertionError(f"it does not go on: {self.failures[-1]}")

    def content(self) -> dict[str, bytes]:
        """Every output."""
        out = self.folder / "out"
        found = {
            str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()
        }
        log = ResultLog(self.folder / "results")
        log.open()
        for name in ("each", "http://e/count", "made"):
            found[f"result log of {name}"] = log.tail(name).read(0, 1 << 20).data
        return found


@contextmanager
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Syncs are counted and refused, but wait for no disk: nothing crashes here."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", lambda _: None)
        patched.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture
def undisturbed(tmp_path: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, Counter[str]]:
    run = Run(tmp_path / "whole", faults)
    with quick(monkeypatch):
        faults.plan("nothing", 0)
        run.go()
    return run, Counter(faults.counts)


def disturbed(
    run: Run, wanted: dict[str, bytes], request: str, number: int, times: int, restarts: bool
) -> None:
    run.restarts = restarts
    run.faults.plan(request, number, times)
    run.go()
    run.faults.heal()
    case = f"{request} {number}, {times} times, {'restarted' if restarts else 'tried again'}"
    assert run.faults.refused, case
    found = run.content()
    assert list(found) == list(wanted), case
    for name, data in wanted.items():
        assert found[name] == data, f"{case}: {name}"
    lines = [json.loads(line) for line in found["files/each.jsonl"].splitlines()]
    counted = Counter(int(line["bindings"]["n"]["value"]) for line in lines)
    # The time of the last message is not over.
    assert counted == Counter(run.acknowledged[:-1]), case


def test_the_undisturbed_run_uses_every_sink_and_counts_every_message(
    undisturbed: tuple[Run, Counter[str]],
) -> None:
    run, counts = undisturbed
    found = run.content()
    assert {name.partition("/")[0] for name in found} >= {*FORMATS, "files", "compact", "dead.jsonl"}
    assert all(found.values())
    assert b"garbage" in found["dead.jsonl"]
    lines = [json.loads(line) for line in found["files/each.jsonl"].splitlines()]
    assert (
        [int(line["bindings"]["n"]["value"]) for line in lines]
        == run.acknowledged[:-1]
        == [1, 2, 12, 13, 25, 47]
    )
    assert lines[0]["bindings"]["name"]["value"] == "one"
    assert all(counts[request] for request in REQUESTS if request not in ("truncate",))


KINDS = [each for each in REQUESTS if each != "truncate"]
"""A file is cut only after a failure: two at once are told apart below."""


@pytest.mark.parametrize("restarts", [False, True], ids=["tried again", "restarted"])
@pytest.mark.parametrize("request_", KINDS)
def test_a_request_that_is_refused_loses_and_doubles_nothing(
    undisturbed: tuple[Run, Counter[str]],
    tmp_path: Path,
    faults: Faults,
    monkeypatch: pytest.MonkeyPatch,
    request_: str,
    restarts: bool,
) -> None:
    """Some requests of each kind, spread over the run."""
    run, counts = undisturbed
    wanted = run.content()
    step = max(1, counts[request_] // 4)
    with quick(monkeypatch):
        for number in range(1 + restarts * step // 2, counts[request_] + 1, step):
            disturbed(Run(tmp_path / str(number), faults), wanted, request_, number, 1 + number % 3, restarts)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("restarts", [False, True], ids=["tried again", "restarted"])
@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("request_", KINDS)
def test_whatever_request_is_refused_nothing_is_lost_or_doubled(
    undisturbed: tuple[Run, Counter[str]],
    tmp_path: Path,
    faults: Faults,
    monkeypatch: pytest.MonkeyPatch,
    request_: str,
    times: int,
    restarts: bool,
) -> None:
    """Every request of each kind, refused once, twice and five times."""
    run, counts = undisturbed
    wanted = run.content()
    with quick(monkeypatch):
        for number in range(1, counts[request_] + 1):
            disturbed(Run(tmp_path / str(number), faults), wanted, request_, number, times, restarts)


def test_what_can_be_neither_synced_nor_cut_back_is_cut_off_later(
    undisturbed: tuple[Run, Counter[str]], tmp_path: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk takes data, does not sync them, and does not cut them off either. After a restart nobody could
    tell them from what was promised: here the process goes on."""
    run, counts = undisturbed
    wanted = run.content()
    with quick(monkeypatch), monkeypatch.context() as broken:
        real, refused = disk.truncate, 0

        def cut(file: int, size: int, path: Path) -> None:
            nonlocal refused
            refused += 1
            if refused == 1:
                raise StorageError(f"{path} could not be cut: No space left on device")
            real(file, size, path)

        broken.setattr(disk, "truncate", cut)
        for number in range(1, counts["sync"] + 1, counts["sync"] // 6):
            refused = 0
            disturbed(Run(tmp_path / str(number), faults), wanted, "sync", number, 1, False)
