"""All streams in one source of Spark: they come and go with the control log; a replay finds what it had."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from network_peers import until
from weir.runtime.control.catalog import (
    Entry,
    Registration,
    StreamEntry,
    entry_of,
)
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.control_log import ControlLog
from weir.runtime.control.planning import (
    FINISH,
    HELD,
    HOLD,
    STOP,
    ControlWriter,
    Feeds,
    PlanningHold,
    feed_key,
    wait_while_held,
)
from weir.runtime.ingest.parts import Part, shares_of
from weir.runtime.ingest.sources import FileSource, Place

READER = Registration("q", "", reads=("one", "two"))


def stream(folder: Path, name: str, number: int = 0, watch: bool = False) -> StreamEntry:
    path = folder / f"{name}.tnq"
    path.write_text("1\t<http://e/s> <http://e/p> <http://e/o> .\n")
    return StreamEntry(name, source=FileSource(str(path), watch).as_json(), number=number)


def streams_of(parts: list[Part]) -> list[str]:
    return [part.stream for part in parts if part.path]


def test_a_stream_that_is_added_is_read_from_the_next_batch_on(tmp_path: Path) -> None:
    log = ControlLog(tmp_path)
    one, two = stream(tmp_path, "one"), stream(tmp_path, "two", 1)
    log.append([entry_of(READER, 0), entry_of(one, 0)])
    feeds = Feeds(tmp_path, 2)
    first = feeds.latest({})
    assert streams_of(feeds.parts({}, first)) == ["one"]
    assert feeds.latest(first) == first
    log.append([entry_of(two, 1)])
    second = feeds.latest(first)
    assert streams_of(feeds.parts(first, second)) == ["two"]
    assert streams_of(Feeds(tmp_path, 2).parts({}, second)) == [
        item.iri for item in sorted((one, two), key=feed_key)
    ]


def test_a_dropped_stream_is_read_no_more_but_replayed(tmp_path: Path) -> None:
    log = ControlLog(tmp_path)
    log.append([entry_of(READER, 0), entry_of(stream(tmp_path, "one"), 0)])
    feeds = Feeds(tmp_path, 2)
    first = feeds.latest({})
    log.append([Entry(1, "drop_stream", {"iri": "one"})])
    assert feeds.latest(first) == first
    assert streams_of(Feeds(tmp_path, 2).parts({}, first)) == ["one"]
    log.append([entry_of(stream(tmp_path, "one", number=1), 2)])
    again = feeds.latest(first)
    assert len(again) == 2
    assert streams_of(feeds.parts(first, again)) == ["one"]


def test_sources_that_are_told_to_stop_offer_nothing_and_finish_when_told(tmp_path: Path) -> None:
    entry = stream(tmp_path, "one", watch=True)
    ControlLog(tmp_path).append([entry_of(entry, 0)])
    feeds = Feeds(tmp_path, 2)
    (tmp_path / STOP).touch()
    assert feeds.latest({}) == {}
    (tmp_path / STOP).unlink()
    first = feeds.latest({})
    assert not first[feed_key(entry)]["end"]
    (tmp_path / FINISH).touch()
    assert feeds.latest(first)[feed_key(entry)]["end"]


def test_a_finite_stream_waits_until_it_is_read_but_a_live_one_flows(tmp_path: Path) -> None:
    log = ControlLog(tmp_path)
    finite, live = stream(tmp_path, "one"), stream(tmp_path, "live", 1, watch=True)
    log.append([entry_of(finite, 0), entry_of(live, 0)])
    feeds = Feeds(tmp_path, 2)
    first = feeds.latest({})
    assert list(first) == [feed_key(live)]
    log.append([entry_of(READER, 1)])
    second = feeds.latest(first)
    assert set(second) == {feed_key(finite), feed_key(live)}
    log.append([Entry(2, "drop", {"name": "q"})])
    assert feeds.latest(second) == second


def test_shares_are_of_equal_size_whatever_the_files_are(tmp_path: Path) -> None:
    sizes = [30_000_000, 1_000, 47_123_456, 5_000_000]
    for number, size in enumerate(sizes):
        with (tmp_path / f"{number}.tnq").open("wb") as file:
            file.truncate(size)
    for parallelism in (1, 2, 3):
        place = Place("urn:s", tmp_path / "own", f"f{parallelism}", parallelism)
        (tmp_path / "own" / "sources").mkdir(parents=True, exist_ok=True)
        feed = FileSource(str(tmp_path), bytes_per_batch=1 << 30).feed(place)
        parts = feed.parts({}, feed.latest({}, True))
        pieces = [(part.number, part.start, part.end) for part in parts if part.path]
        for number, size in enumerate(sizes):
            mine = [(start, end) for which, start, end in pieces if which == number]
            assert mine[0][0] == 0
            assert mine[-1][1] == size
            assert all(one[1] == other[0] for one, other in pairwise(mine))
        assert max(end - start for _, start, end in pieces) <= 12 << 20
        read = [sum(part.weight for part in share) for share in shares_of(parts, parallelism)]
        assert len(read) == parallelism
        assert max(read) - min(read) <= len(parts)


def test_little_is_read_by_one_worker() -> None:
    def small(number: int) -> Part:
        return Part("urn:s", "s", "f.tnq", number, 0, 2_000)

    assert [len(share) for share in shares_of([small(number) for number in range(9)], 4)] == [9]
    kafka = [Part("urn:s", str(lane), kafka={}, end=100_000) for lane in range(2)]
    assert [len(share) for share in shares_of(kafka, 4)] == [1, 1]
    assert shares_of([], 4) == []


def test_who_cannot_wait_for_a_batch_under_way_goes_before_who_does(tmp_path: Path) -> None:
    """Batch 4 is planned and not committed; a change waits until batch 5 is being planned."""
    checkpoint = Checkpoint.open(tmp_path, version="", slots=1)
    for each in ("offsets", "commits"):
        (checkpoint.spark / each).mkdir(parents=True)
    (checkpoint.spark / "offsets" / "4").touch()
    (checkpoint.spark / "commits" / "3").touch()
    hold = PlanningHold(checkpoint.own, lambda: True)

    @contextmanager
    def held(wait: bool) -> Iterator[int]:
        with hold(*() if wait else (checkpoint.under_way,)):
            yield checkpoint.next_batch()

    control = ControlWriter(checkpoint, lambda: False, held)
    register = entry_of(Registration("q", ""), 5)
    waiting = threading.Thread(target=control.append, args=[lambda batch: [register]])
    waiting.start()
    until((checkpoint.own / HOLD).exists)
    assert control.append_now(lambda catalog, batch: [Entry(batch, "pause", {"name": "p"})]) == 5
    assert waiting.is_alive() and (checkpoint.own / HOLD).exists()
    (checkpoint.spark / "commits" / "4").touch()
    planning = threading.Thread(target=wait_while_held, args=[checkpoint.own])
    planning.start()
    waiting.join(60)
    planning.join(60)
    assert [entry.operation for entry in checkpoint.control().entries()] == ["pause", "register"]
    assert not (checkpoint.own / HOLD).exists()


def test_planning_waits_while_it_is_held(tmp_path: Path) -> None:
    told: list[str] = []

    def plan() -> None:
        while "over" not in told:
            wait_while_held(tmp_path)
            told.append("planned")
            time.sleep(0.002)

    thread = threading.Thread(target=plan)
    thread.start()
    try:
        hold = PlanningHold(tmp_path, lambda: True)
        with hold():
            before = len(told)
            with hold():
                pass
            time.sleep(0.1)
            assert len(told) == before
    finally:
        told.append("over")
        thread.join()
    assert not (tmp_path / HOLD).exists()
    assert not (tmp_path / HELD).exists()
