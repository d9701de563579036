"""Rows of DataFrames as messages, without Spark: shapes, lanes, positions, times, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from weir.runtime.control.catalog import Registration, StreamEntry, entry_of
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.stage import row_frames
from weir.runtime.worker.worker_cache import WorkerCache

QUERY = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x ?p ?y } }"


@pytest.fixture
def place(tmp_path: Path) -> WorkerCache:
    checkpoint = Checkpoint.open(tmp_path / "c", version="1", slots=1)
    checkpoint.control().append([entry_of(StreamEntry("s"), 0), entry_of(Registration("q", QUERY), 0)])
    return WorkerCache(str(tmp_path / "c"))


def frames(place: WorkerCache, rows: dict[str, list[Any]], **how: Any) -> list[Frame]:
    return [
        Frame.from_bytes(bytes(data)) for _, data in row_frames(place, 0, pl.DataFrame(rows), "s", 100, **how)
    ]


def triples(count: int, **columns: list[Any]) -> dict[str, list[Any]]:
    rows = {name: [f"<http://e/{name}{n}>" for n in range(count)] for name in ("subject", "predicate")}
    return {**rows, "object": [f'"{n}"' for n in range(count)], **columns}


def test_triples_of_one_time_are_one_message(place: WorkerCache) -> None:
    (frame,) = frames(place, triples(4, time=[2000, 1000, 2000, 3000]))
    assert frame.messages.time.tolist() == [1000, 2000, 3000]
    assert frame.messages.triples.tolist() == [1, 2, 1]
    assert (frame.lane, frame.position) == ("", 100)


def test_positions_tell_messages_apart_and_order_them(place: WorkerCache) -> None:
    rows = triples(4, time=[5, 5, 5, 5], position=[8, 7, 8, 9], lane=["b", "a", "b", "b"])
    found = {frame.lane: frame for frame in frames(place, rows)}
    assert found["a"].messages.triples.tolist() == [1] and found["a"].position == 7
    assert found["b"].messages.triples.tolist() == [2, 1] and found["b"].position == 8


@pytest.mark.parametrize("clock", ["1000", "1970-01-01T00:00:01Z"])
def test_times_as_texts(place: WorkerCache, clock: str) -> None:
    (frame,) = frames(place, triples(1, clock=[clock]))
    assert frame.messages.time.tolist() == [1_000_000]


def test_graphs_and_what_is_no_statement(place: WorkerCache) -> None:
    rows = triples(3, time=[1, 2, 3], graph=["<http://e/g>", None, None])
    rows["subject"][1] = "not a term"
    (frame,) = frames(place, rows)
    assert frame.messages.time.tolist() == [1, 3]
    assert [graph != 0 for graph in frame.messages.graph.tolist()] == [True, False]
    assert [letter["stream"] for letter in frame.side["rejected"]] == ["s"]
    assert frame.side["triples"] == 2


def test_a_row_without_a_time_is_set_aside(place: WorkerCache) -> None:
    (frame,) = frames(place, triples(2, clock=["1", "never"]))
    assert frame.messages.time.tolist() == [1000] and len(frame.side["rejected"]) == 1


def test_lines_are_as_those_of_a_file_unless_they_have_positions(place: WorkerCache) -> None:
    line = b"%d\t<http://e/a> <http://e/p> <http://e/%d> ."
    values = [line % (1, 1), line % (1, 2), line % (2, 3)]
    (frame,) = frames(place, {"value": values})
    assert frame.messages.triples.tolist() == [2, 1]
    (frame,) = frames(place, {"value": values, "position": [5, 6, 7], "lane": ["0"] * 3})
    assert frame.messages.triples.tolist() == [1, 1, 1]


def test_messages_in_a_declared_format(place: WorkerCache) -> None:
    said = b"<http://e/m> <http://e/at> '1970-01-01T00:00:0%dZ'; <http://e/p> 1, 2 ."
    values = [said % 2, said % 1, b"nonsense"]
    (frame,) = frames(
        place, {"value": values, "position": [2, 3, 4]}, format="turtle", predicate="http://e/at"
    )
    assert frame.messages.time.tolist() == [2_000_000, 1_000_000]
    assert frame.messages.triples.tolist() == [3, 3] and len(frame.side["rejected"]) == 1
    (frame,) = frames(place, {"value": values, "time": [1, 2, 3]}, format="turtle")
    assert frame.messages.time.tolist() == [1, 2]
