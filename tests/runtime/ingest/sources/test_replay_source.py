"""A file played by the clock: what is due when, and that offsets mean the same when planned again."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from weir.errors import UsageError
from weir.runtime.ingest.sources import path_source, source_of
from weir.runtime.ingest.sources.feeds import Place, Reached
from weir.runtime.ingest.sources.replay_source import ReplayFeed, ReplaySource
from weir.runtime.ingest.stage import read_messages


class Clock:
    """Seconds that pass only by sleeping."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def played(folder: Path, clock: Clock, **options: object) -> ReplayFeed:
    source = ReplaySource(str(folder / "in"), **options)  # type: ignore[arg-type]
    source.check()
    return ReplayFeed(source, Place("s", folder / "weir", "s", 2), clock, clock.sleep)


def times(feed: ReplayFeed, start: Reached, end: Reached) -> list[int]:
    parts = [part for part in feed.parts(start, end) if part.path]
    found = [read_messages(part, b"k").parsed.messages.time.tolist() for part in parts]
    return [at // 1000 for each in found for at in each]


def line(time: int, name: str = "o") -> str:
    return f"{time}\t<http://e/s> <http://e/p> <http://e/{name}> .\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files: messages at 0, 1, 2 (two triples) and 5 s; 10 s; with what is no message in between."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.tnq").write_bytes(
        b"\xef\xbb\xbf# begin\n"
        + f"{line(0)}{line(1000)}bad\n{line(2000, 'a')}{line(2000, 'b')}{line(5000)}".encode()
    )
    (tmp_path / "in" / "b.tnq").write_text("garbage\n" + line(10000))
    return tmp_path


@pytest.mark.parametrize(
    ("options", "due"),
    [
        ({"rate": 2.0}, {0.3: [0], 0.5: [0, 1000], 1.6: [0, 1000, 2000, 5000], 2.0: None}),
        (
            {"rate": 2.0, "unit": "triples"},
            {0.5: [0, 1000], 1.9: [0, 1000, 2000], 2.0: [0, 1000, 2000, 5000]},
        ),
        ({"speed": 10.0}, {0.1: [0, 1000], 0.3: [0, 1000, 2000], 0.5: [0, 1000, 2000, 5000], 1.0: None}),
    ],
    ids=["messages", "triples", "speed"],
)
def test_what_is_due(folder: Path, options: dict[str, object], due: dict[float, list[int] | None]) -> None:
    clock = Clock()
    feed = played(folder, clock, **options)
    began, start = clock.now, feed.latest({}, False)
    for seconds, expected in due.items():
        clock.now = began + seconds + 1e-9
        start = feed.latest(start, False)
        found = times(feed, {}, start)
        assert found == (expected if expected is not None else [0, 1000, 2000, 5000, 10000])
    assert start.get("end", False) == (None in due.values())


def test_batches_add_up_to_the_file_and_mean_the_same_after_a_restart(folder: Path) -> None:
    clock = Clock()
    feed = played(folder, clock, rate=3.0)
    start: Reached = {}
    marks = [start]
    while not start.get("end"):
        start = feed.latest(start, False)
        marks.append(start)
        clock.sleep(0.05)
        if len(marks) == 4:
            feed = played(folder, clock, rate=3.0)
    assert start["turn"] > 0
    assert clock.now < 103
    fresh = played(folder, Clock(), rate=3.0)
    pieces = [times(fresh, a, b) for a, b in itertools.pairwise(marks)]
    assert [at for piece in pieces for at in piece] == [0, 1000, 2000, 5000, 10000]
    assert feed.latest(start, False) == start
    assert fresh.parts(marks[-2], marks[-1])[-1].final


def test_waiting_parts_carry_nothing_and_finishing_ends(folder: Path) -> None:
    clock = Clock()
    feed = played(folder, clock, speed=0.001)
    first = feed.latest({}, False)
    second = feed.latest(first, False)
    assert (second["turn"], second["byte"]) == (first["turn"] + 1, first["byte"])
    (waiting,) = feed.parts(first, second)
    assert (waiting.path, waiting.final) == (None, False)
    (last,) = feed.parts(second, feed.latest(second, True))
    assert last.final


def test_a_loop_goes_on_with_later_times(folder: Path) -> None:
    clock = Clock()
    feed = played(folder, clock, rate=10.0, loop=True)
    start = feed.latest({}, False)
    clock.now += 1.0
    end = feed.latest(start, False)
    found = times(feed, {}, end)
    assert found == [0, 1000, 2000, 5000, 10000, 12500, 13500, 14500, 17500, 22500, 25000]
    numbers = [part.number for part in feed.parts({}, end)]
    assert numbers == sorted(numbers)
    assert feed.latest(end, False) == end
    fresh = played(folder, clock, rate=10.0, loop=True)
    assert times(fresh, start, end) == found[1:]


def test_addresses_and_what_is_refused(folder: Path) -> None:
    path = folder / "in"
    source = path_source(f"replay:{path}?rate=100&unit=triples", {})
    assert source == ReplaySource(str(path), 100.0, unit="triples")
    assert source_of(json.loads(json.dumps(source.as_json()))) == source
    for text, said in [
        ("", "a rate or a speed"),
        ("?rate=1&speed=1", "a rate or a speed"),
        ("?rate=-1", "above 0"),
        ("?rate=1&unit=x", "unknown unit"),
        ("?rate=x", "rate is a number"),
    ]:
        with pytest.raises(UsageError, match=said):
            path_source(f"replay:{path}{text}", {}).check()
    (path / "c.tnq.gz").touch()
    with pytest.raises(UsageError, match="packed"):
        source.check()
