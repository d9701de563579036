"""Input as bad as it comes: the job lives, what is good is counted exactly, what is bad has its line."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources.feeds import Place
from weir.runtime.ingest.sources.file_source import FileFeed, FileSource
from weir.runtime.ingest.stage import read_messages

COUNT = """REGISTER RSTREAM <counts> AS
SELECT (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S]
WHERE { WINDOW <w> { ?x <http://e/p> ?y } }
"""
GARBAGE = [
    b"garbage",
    b"12\tnonsense",
    b"12\t<http://e/s> <http://e/p> .",
    b"later\t<http://e/s> <http://e/p> <http://e/o> .",
    b'12\t<http://e/s> <http://e/p> "\xff\xfe" .',
    b"\xff\xfe\xfa",
    b"\x00\x00",
    b"12\t<http://e/\x00> <http://e/p> <http://e/o> .",
    b"0000-00-00T00:00:00Z\t<http://e/s> <http://e/p> <http://e/o> .",
]


def good(time: int, name: int = 0) -> bytes:
    return f"{time}\t<http://e/s{name}> <http://e/p> <http://e/o> .".encode()


def read(path: Path, folder: Path, size: int) -> tuple[int, int, list[dict[str, Any]]]:
    """Triples, messages and dead letters of a file, in batches of ``size`` bytes and two parts each."""
    feed = FileFeed(FileSource(str(path), bytes_per_batch=size), Place("s", folder / "weir", "s", 2))
    triples = messages = 0
    dead: list[dict[str, Any]] = []
    start: dict[str, Any] = {}
    while (end := dict(feed.latest(start, False))) != start:
        for part in feed.parts(start, end):
            if part.path:
                found = read_messages(pickle.loads(pickle.dumps(part)), b"k")
                triples += len(found.parsed.messages.message)
                messages += len(found.parsed.messages.time)
                dead += found.dead
        start = end
    return triples, messages, dead


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("seed", range(3))
def test_one_line_in_twenty_is_garbage(tmp_path: Path, end: bytes, seed: int) -> None:
    chance = random.Random(seed)
    lines = [
        chance.choice(GARBAGE) if chance.random() < 0.05 else good(number // 2, number)
        for number in range(20_000)
    ]
    bad = [number + 1 for number, line in enumerate(lines) if line in GARBAGE]
    path = tmp_path / "s.tnq"
    path.write_bytes(b"\xef\xbb\xbf" * chance.randrange(2) + end.join(lines))
    triples, messages, dead = read(path, tmp_path, 600_000)
    times = {number // 2 for number, line in enumerate(lines) if line not in GARBAGE}
    assert triples == 20_000 - len(bad)
    assert messages == len(times)
    assert [letter["line"] for letter in dead] == bad
    assert all(letter["reason"] and letter["source"] == str(path) for letter in dead)


def test_lines_of_a_hundred_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "s.tnq"
    with path.open("wb") as file:
        file.write(good(1) + b"\n" + b"x" * (100 << 20) + b"\n" + good(2) + b"\n")
        file.write(b'3\t<http://e/s> <http://e/p> "' + b"x" * (20 << 20) + b'" .\n' + good(4))
    triples, messages, dead = read(path, tmp_path, 40 << 20)
    assert (triples, messages) == (3, 3)
    assert [(letter["line"], letter["reason"]) for letter in dead] == [
        (2, "longer than 16 MiB"),
        (4, "longer than 16 MiB"),
    ]
    assert max(len(letter["text"]) for letter in dead) < 300


def test_a_job_counts_what_is_good_and_lists_what_is_not(tmp_path: Path) -> None:
    """Year 9999 is ahead of its lane, year 1 late; an empty file is nothing; the last line has no end.

    s (seconds)   1  1.5  [9999]  2.2  garbage …  [year 1]  3.5
    windows       [1,2): 2        [2,3): 1                  [3,4): 1
    """
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.tnq").write_bytes(good(1000) + b"\n" + good(1500, 1) + b"\n")
    (folder / "b.tnq").touch()
    (folder / "c.tnq").write_bytes(
        b"9999-12-31T23:59:59Z\t<http://e/s> <http://e/p> <http://e/o> .\r\n" + good(2200) + b"\r\n"
    )
    (folder / "d.tnq").write_bytes(b"\n".join(GARBAGE))
    (folder / "e.tnq").write_bytes(
        b"0001-01-01T00:00:00Z\t<http://e/s> <http://e/p> <http://e/o> .\n" + good(3500)
    )
    job = DirectJob(tmp_path / "check", slots=1)
    job.registry.add_stream("s", FileSource(str(folder), files_per_batch=1))
    job.register(COUNT)
    results = job.run()
    assert [line["bindings"]["n"]["value"] for line in results] == ["2", "1", "1"]
    dropped = [(item.reason, item.time) for step in job.steps for _, item in step.dropped]
    assert dropped == [("ahead", 253402300799000000), ("late", -62135596800000000)]
    letters = [letter for letter in job.dead.found if "line" in letter]
    assert [(Path(letter["source"]).name, letter["line"]) for letter in letters] == [
        ("d.tnq", number + 1) for number in range(len(GARBAGE))
    ]
