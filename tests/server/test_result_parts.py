"""Large batches of the result log: kept as slots left them, put together when somebody reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from disk_kit import Faults
from weir.errors import StorageError
from weir.runtime.output.outputs import Output, merged
from weir.runtime.output.results import PARTS, QUERY
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.text_columns import Coded, weave
from weir.server import result_parts
from weir.server.result_log import ResultLog, Tail
from weir.storage.spool import INLINE, Spool

LARGE, SMALL = 3000, 40


def batch(folder: Path, number: int, first: int, slots: Sequence[int]) -> Results:
    """The answers of slots of so many lines each, numbered from ``first`` in the order of all."""
    spool, rows, total = Spool(folder / "own"), [], sum(slots)
    mine: list[list[int]] = [[] for _ in slots]
    for place in range(total):
        mine[place % len(slots) if place < len(slots) * min(slots) else slots.index(max(slots))].append(place)
    for slot, numbers in enumerate(mine):
        lines = [json.dumps({"n": first + each, "text": "x" * 100}) + "\n" for each in numbers]
        # Two lines are of one time.
        times = [(first + each) // 2 for each in numbers]
        table = pa.table({"at": pa.array(times), "line": pa.array(lines, pa.large_string())})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        carried = spool.put(number, memoryview(sink.getvalue()))
        rows.append(Output("jsonl", "q", slot, spool.get(carried)))
    (answers,) = merged(rows)
    return answers


def shared(folder: Path, counts: dict[str, int]) -> list[Results]:
    """What one slot answered to queries that were evaluated together: one file."""
    names = [name for name, count in counts.items() for _ in range(count)]
    lines = [json.dumps({"n": n, "text": name * 100}) + "\n" for name in counts for n in range(counts[name])]
    columns = {
        "at": pa.array(range(len(lines))),
        "line": pa.array(lines, pa.large_string()),
        QUERY: pa.array(names).dictionary_encode(),
    }
    sink, spool = pa.BufferOutputStream(), Spool(folder / "own")
    with pa.ipc.new_stream(sink, pa.table(columns).schema) as stream:
        stream.write_table(pa.table(columns))
    carried = spool.put(0, memoryview(sink.getvalue()))
    return merged([Output("jsonl", "", 0, spool.get(carried))])


def numbers(tail: Tail, position: int = 0) -> list[int]:
    found: list[int] = []
    while (chunk := tail.read(position, 50_000)).next > position:
        assert chunk.first == position
        found += [json.loads(line)["n"] for _, line in chunk.lines()]
        position = chunk.next
    return found


def opened(folder: Path, **sizes: int) -> ResultLog:
    log = ResultLog(folder / "results", **sizes)
    log.open()
    return log


def kinds(folder: Path) -> tuple[int, int]:
    """How many files of lines, and how many parts there are."""
    place = folder / "results" / "q"
    return len(list(place.glob("*.jsonl"))), len(list(place.glob("*.part")))


def test_a_large_batch_is_put_together_by_its_first_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, total = opened(tmp_path), 0
    with monkeypatch.context() as unread:
        unread.setattr(result_parts, "put_together", None)
        unread.setattr("weir.server.result_log.joined", None)
        for each in range(2):
            log.write(each, [batch(tmp_path, each, total, [LARGE, LARGE, SMALL])])
            total += 2 * LARGE + SMALL
            Spool(tmp_path / "own").clear(each)
    latest = [json.loads(line)["n"] for line in log.tail("q").latest(3)]
    assert latest == sorted(latest) and latest[0] > LARGE
    # Nobody has read of it: nothing was put together, also where the service starts again.
    assert kinds(tmp_path) == (0, 6)
    log = opened(tmp_path)
    tail = log.tail("q")
    assert (tail.start, tail.end) == (0, total)
    log.write(2, [batch(tmp_path, 2, total, [SMALL])])
    log.write(3, [batch(tmp_path, 3, total + SMALL, [SMALL])])
    assert numbers(tail, total) == list(range(total, total + 2 * SMALL))
    assert [json.loads(line)["n"] for line in tail.latest(2)] == [
        total + 2 * SMALL - 2,
        total + 2 * SMALL - 1,
    ]
    assert kinds(tmp_path) == (1, 6)
    assert numbers(tail, 7000) == list(range(7000, total + 2 * SMALL))
    assert kinds(tmp_path) == (2, 3)
    every = list(range(total + 2 * SMALL))
    assert numbers(tail) == every
    assert kinds(tmp_path) == (3, 0)
    assert numbers(opened(tmp_path).tail("q")) == every


def test_queries_that_were_evaluated_together_share_the_file(tmp_path: Path) -> None:
    log = opened(tmp_path)
    log.write(0, shared(tmp_path, {"p": 10, "q": LARGE, "r": LARGE}))
    Spool(tmp_path / "own").clear(0)
    (part,) = (tmp_path / "results" / "q").iterdir()
    assert part.stat().st_nlink == 2
    assert log.tail("q").size < part.stat().st_size * 0.6
    for known in (log, opened(tmp_path)):
        assert [len(numbers(known.tail(name))) for name in ("p", "q", "r")] == [10, LARGE, LARGE]
    assert kinds(tmp_path) == (1, 0)


def test_large_batches_are_let_go_of_and_erased(tmp_path: Path) -> None:
    log = opened(tmp_path, keep=3 * INLINE)
    for each in range(4):
        log.write(each, [batch(tmp_path, each, each * LARGE, [LARGE])])
    tail = log.tail("q")
    assert tail.start in (2 * LARGE, 3 * LARGE)
    assert numbers(tail, tail.start) == list(range(tail.start, 4 * LARGE))
    log.erase("q")
    assert kinds(tmp_path) == (0, 0)
    log.write(4, [batch(tmp_path, 4, 4 * LARGE, [LARGE])])
    assert numbers(opened(tmp_path).tail("q"), 4 * LARGE) == list(range(4 * LARGE, 5 * LARGE))


@pytest.mark.parametrize(("request_", "number"), [("sync", 1), ("link", 1), ("sync_folder", 1), ("write", 1)])
def test_a_large_batch_that_the_disk_refused_never_happened(
    tmp_path: Path, faults: Faults, request_: str, number: int
) -> None:
    log = opened(tmp_path)
    log.write(0, [batch(tmp_path, 0, 0, [LARGE])])
    answers = batch(tmp_path, 1, LARGE, [LARGE])
    faults.plan(request_, number)
    with pytest.raises(StorageError):
        log.write(1, [answers])
    faults.heal()
    again = opened(tmp_path)
    assert (again.tail("q").end, kinds(tmp_path)) == (LARGE, (0, 1))
    again.write(1, [answers])
    assert numbers(again.tail("q")) == list(range(2 * LARGE))


@pytest.mark.parametrize("most", [3, 50])
def test_the_last_lines_of_numbered_texts_are_looked_at(tmp_path: Path, most: int) -> None:
    """Large answers are of numbered texts; who lists the queries looks at some of their lines."""
    lines = [f'{{"n":{number}}}\n' for number in range(20)]
    told = weave([Coded(np.arange(20), pa.array(lines, pa.large_string()))]).numbered()
    table = pa.table({"at": pa.array(range(20)), PARTS: told})
    path = tmp_path / f"0-0-{table.nbytes}.part"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    assert result_parts.last_lines("q", path, most) == [line.strip().encode() for line in lines[-most:]]
