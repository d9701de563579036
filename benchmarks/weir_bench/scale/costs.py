"""What the stages of a job cost in this process: the router, the work of a slot, the planner and the commit.

Each is the code that a job runs, called with as much as it would have to do on some cluster. What cannot be
measured at its size on one machine is taken apart by least squares: so much a triple, so much a frame, so
much in any case. Every turn gives figures of its own, so that each has a spread.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median, quantiles

import numpy as np

from weir.rdf.columns import NEVER
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.formats.tnq_split import padded
from weir.runtime.control.planning import Feeds
from weir.runtime.direct import DirectJob, MemoryStore
from weir.runtime.ingest.frames import Frame, Watermark
from weir.runtime.ingest.parts import FILE_SHIFT, LaneInput, Part, shares_of
from weir.runtime.ingest.sources import FileSource
from weir.runtime.output.outputs import Output, merged, written_row
from weir.runtime.output.partial_answers import PART
from weir.runtime.output.putting_together import put_together
from weir.runtime.output.report_rows import packed_rows, parts_in, parts_row, rows_of
from weir.runtime.output.sinks.part_folders import PartFolder, ResultPart
from weir.runtime.output.task_reports import Reports
from weir.runtime.pipeline import Delivery, SlotBatch, SlotWork, advance
from weir.runtime.worker.worker_cache import WorkerCache
from weir.spark.tasks import packed
from weir_bench.scale.readings import crowd

KEY = b"weir bench scale"
STREAM = "s"
ROOMS = """PREFIX : <http://example.org/> REGISTER RSTREAM <rooms> AS SELECT ?person ?room
FROM NAMED WINDOW <w> ON <s> [RANGE PT5S STEP PT5S] WHERE { WINDOW <w> { ?person :in ?room } }"""
"""Split by person; each reading is in one answer."""
COUNTS = """PREFIX : <http://example.org/> REGISTER RSTREAM <counts> AS SELECT ?room (COUNT(?person) AS ?n)
FROM NAMED WINDOW <w> ON <s> [RANGE PT5S STEP PT5S] WHERE { WINDOW <w> { ?person :in ?room } }
GROUP BY ?room ORDER BY DESC(?n) ?room LIMIT 10"""
"""In two stages: every slot has a part of every room, and one task puts them together."""
SPAN = 10_000
"""ms of data in a batch: two evaluations."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was measured, once each turn."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return float(np.median(self.values))

    @property
    def quartiles(self) -> tuple[float, float]:
        if len(self.values) < 2:
            return self.median, self.median
        first, _, third = quantiles(self.values, n=4, method="inclusive")
        return first, third

    def as_json(self) -> dict[str, object]:
        return {"median": self.median, "quartiles": list(self.quartiles), "turns": len(self.values)}


def fitted(rows: Sequence[Sequence[float]], seconds: Sequence[Sequence[float]]) -> list[Sample]:
    """The cost of each column of ``rows``, none below 0, that explain the ``seconds`` of each turn best;
    large and small measurements count alike."""
    design = np.array(rows, float)
    found = []
    for each in seconds:
        weight = 1 / np.array(each)
        left = list(range(design.shape[1]))
        while True:
            solved = np.linalg.lstsq(design[:, left] * weight[:, None], np.ones(len(each)), rcond=None)[0]
            if (solved >= 0).all():
                break
            left = [column for column, cost in zip(left, solved, strict=True) if cost > 0]
        costs = np.zeros(design.shape[1])
        costs[left] = solved
        found.append(costs)
    return [Sample(tuple(column)) for column in np.array(found).T.tolist()]


def seconds_of(work: Callable[[], object]) -> float:
    """Processor time of a call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def dealt(folder: Path, slots: int, data: bytes, query: str = ROOMS) -> list[float]:
    """How many triples the router gives to each slot, beside the mean."""
    stages = Stages(folder, slots, query)
    parsed = parse_lines(padded(data), scope="s 0", key=KEY)
    found = stages.place.match_plan(0).dealt(STREAM, parsed.messages)
    counts = np.bincount(found.slot, minlength=slots)
    return [float(each) for each in counts / counts.mean()]


class Stages:
    """The stages of a job with ``slots`` slots, over its checkpoint in ``folder``."""

    def __init__(self, folder: Path, slots: int, query: str = ROOMS) -> None:
        self.folder, self.slots = folder, slots
        self._stream = folder / "stream"
        self._stream.mkdir(parents=True, exist_ok=True)
        job = DirectJob(folder / "ck", slots=slots, key=KEY)
        job.registry.add_stream(STREAM, FileSource(str(self._stream)))
        self.query = job.register(query)
        self.place = WorkerCache(str(folder / "ck"))
        self.results = PartFolder(folder / "out", "jsonl")
        self.results.open("bench")

    def routed(self, data: bytes) -> tuple[float, list[Frame], int]:
        """Seconds to parse lines, match them and deal them to slots, the frames by slot, and their bytes."""
        plan = self.place.match_plan(0)
        began = time.process_time()
        parsed = parse_lines(padded(data), scope="s 0", key=KEY)
        rows = list(packed(plan.packed(STREAM, LaneInput("", parsed)), self.place.checkpoint, 0))
        took = time.process_time() - began
        size = sum(batch.nbytes for batch in rows)
        frames = [Frame.from_bytes(each.as_py()) for batch in rows for each in batch.column("frame")]
        return took, frames, size

    def frames(self, slot: int, rows: int, parts: int) -> list[Frame]:
        """What so many parts, which are a batch together, bring to one slot that gets about so many rows."""
        lines = crowd(rows * self.slots, SPAN).splitlines(keepends=True)
        found = []
        for part in range(parts):
            first, last = (len(lines) * each // parts for each in (part, part + 1))
            frame = self.routed(b"".join(lines[first:last]))[1][slot]
            found.append(replace(frame, position=part << FILE_SHIFT))
        return found

    def slot(self, slot: int, frames: Sequence[Frame]) -> Iterator[tuple[float, list[Output]]]:
        """Batch by batch what one slot spends on such frames, again and again ``SPAN`` later: to read them,
        evaluate, put its state away and write."""
        store = MemoryStore()
        for number in count():
            told = [moved(frame, number, len(frames)).to_bytes() for frame in frames]
            began = time.process_time()
            read = [Frame.from_bytes(each) for each in told]
            work = SlotWork(self.place, slot, store, [self.results.form])
            _, found = advance(work, SlotBatch(number, read))
            answers = merged([row for row in found if row.kind == self.results.form])
            self.results.write(number, 0, answers)
            yield time.process_time() - began, found

    def planned(self, parts: int, size: int) -> tuple[float, list[list[Part]]]:
        """Seconds in which the planner lists so many files of ``size`` bytes and deals them to as many cores,
        and their shares."""
        first = self._stream / "0.tnq"
        if not first.exists():
            first.write_bytes(crowd(max(1, size // 80), 10))
        for number in range(1, parts):
            path = self._stream / f"{number}.tnq"
            if not path.exists():
                os.link(first, path)
        feeds = Feeds(self.folder / "ck" / "weir", parts)
        began = time.process_time()
        shares = shares_of(feeds.parts({}, feeds.latest({})), parts)
        return time.process_time() - began, shares

    def committed(self, batch: int, tasks: int, told: Sequence[Output]) -> float:
        """Seconds in which the driver hears of a batch in which each slot said this, and publishes what
        ``tasks`` have written."""
        pending = self.folder / "out" / "_parts"
        said = [
            packed_rows(
                [
                    *(replace(row, slot=slot) for slot in range(task, self.slots, tasks) for row in told),
                    written_row(1),
                    parts_row([ResultPart(f"batch-{batch}-{task}.jsonl", f"{batch:08}-{task}", 1, 1)]),
                ]
            )
            for task in range(tasks)
        ]
        for task in range(tasks):
            (pending / f"{batch:08}-{task}").write_bytes(b"{}\n")
        reports, delivery = Reports(self.folder / "ck" / "weir"), Delivery([])

        def take() -> None:
            reports.tell(batch, "all", said)
            rows = rows_of(reports.read(batch))
            delivery.take(batch, rows)
            self.results.publish(batch, parts_in(rows))
            reports.heard(batch)

        return seconds_of(take)

    def put_together(self, told: Sequence[Output]) -> float:
        """Seconds in which one task puts together what all slots answered, each of them this."""
        parts = [replace(row, slot=slot) for slot in range(self.slots) for row in told if row.kind == PART]
        catalog = self.place.catalog(0)
        return seconds_of(lambda: list(put_together(parts, catalog, KEY, [self.results.form])))


def moved(frame: Frame, batches: int, parts: int) -> Frame:
    """The frame as it would come so many batches later, where each has so many parts."""
    by, mark = 1000 * SPAN * batches, frame.watermark
    if mark is not None:
        mark = Watermark(mark.lead + by, mark.rest if mark.rest == NEVER else mark.rest + by)
    messages = replace(frame.messages, time=frame.messages.time + by)
    position = frame.position + (batches * parts << FILE_SHIFT)
    return replace(frame, messages=messages, watermark=mark, position=position)


def contention(data: bytes, turns: int) -> Sample:
    """How much longer a core takes for the same work while another one does it, too."""
    code = "import sys; from weir_bench.scale.costs import parsing; parsing(sys.stdin.buffer.read(), {})"

    def took(beside: int) -> list[float]:
        command = [sys.executable, "-c", code.format(turns)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        running = [subprocess.Popen(command, **pipes) for _ in range(beside)]  # type: ignore[call-overload]
        for each in running:
            each.stdin.write(data)
            each.stdin.close()
        return [median(map(float, each.stdout.read().split())) for each in running]

    return Sample(tuple(max(took(2)) / took(1)[0] for _ in range(3)))


def parsing(data: bytes, turns: int) -> None:
    """Print the seconds that lines take to be parsed, each turn."""
    for _ in range(4 * turns):
        print(seconds_of(lambda: parse_lines(padded(data), scope="s 0", key=KEY)))
