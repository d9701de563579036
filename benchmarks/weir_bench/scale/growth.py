"""A long run: does a triple cost as much after 80 M of them as after 8 M, and does memory stay what it is?

One job counts readings by room. Files are batches, one each; when the results of a batch are there, the
processor time and the memory of the job's processes are noted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from weir.runtime.output.sinks.part_folders import PartFolder
from weir_bench.scale.costs import SPAN, STREAM
from weir_bench.scale.driver import cpu_seconds
from weir_bench.scale.readings import crowd

_LOOK, _PATIENCE = 0.1, 1800.0
_WARM = 2
COUNTS = """PREFIX : <http://example.org/> REGISTER RSTREAM <counts> AS SELECT ?room (COUNT(?person) AS ?n)
FROM NAMED WINDOW <w> ON <s> [RANGE PT5S STEP PT5S] WHERE { WINDOW <w> { ?person :in ?room } }
GROUP BY ?room"""


@dataclass(frozen=True, slots=True)
class Mark:
    """After so many triples: processor time, and bytes that the Python processes and the JVM hold."""

    triples: int
    seconds: float
    python: int
    jvm: int


@dataclass(frozen=True, slots=True)
class Growth:
    """The marks of a run, one a batch."""

    marks: list[Mark]

    def per_triple(self, triples: int) -> float:
        """Seconds a triple, of the first so many."""
        first = self.marks[0]
        last = next(each for each in self.marks if each.triples >= first.triples + triples)
        return (last.seconds - first.seconds) / (last.triples - first.triples)

    def python(self, triples: int) -> int:
        """The most that Python processes held in the first so many triples."""
        return max(each.python for each in self.marks if each.triples <= self.marks[0].triples + triples)

    def as_json(self) -> list[dict[str, Any]]:
        return [asdict(each) for each in self.marks]


def measure(folder: Path, triples: int, batch: int) -> Growth:
    """A job over so many triples, and what makes it warm before."""
    stream = folder / "stream"
    stream.mkdir(parents=True)
    (folder / "counts.rq").write_text(COUNTS)
    batches = triples // batch + _WARM
    for number in range(batches):
        (stream / f"{number:04}.tnq").write_bytes(crowd(batch, SPAN, number * SPAN))
    command = [sys.executable, "-m", "weir", "run", "counts.rq", "--stream", f"{STREAM}={stream}"]
    command += ["--files-per-batch", "1", "--checkpoint", "ck", "--to", "jsonl:out"]
    command += ["--master", f"local[{os.cpu_count()}]"]
    parts = PartFolder(folder / "out", "jsonl")
    marks: list[Mark] = []
    with open(folder / "errors.log", "wb") as errors:
        job = subprocess.Popen(command, cwd=folder, stdout=errors, stderr=errors)
        try:
            until = time.monotonic() + _PATIENCE
            while job.poll() is None and time.monotonic() < until:
                done = len(parts.batches())
                if done > len(marks):
                    marks.append(_mark(job.pid, done * batch))
                time.sleep(_LOOK)
        finally:
            job.kill()
            job.wait()
    if job.returncode:
        raise RuntimeError((folder / "errors.log").read_text(errors="replace")[-2000:])
    # The end of the input closes windows in a batch of its own.
    return Growth([each for each in marks if _WARM * batch <= each.triples <= batches * batch])


def _mark(pid: int, triples: int) -> Mark:
    held = {"python": 0, "jvm": 0}
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        with suppress(psutil.Error):
            kind = "jvm" if process.name() == "java" else "python"
            held[kind] += process.memory_info().rss
    return Mark(triples, cpu_seconds([pid]), held["python"], held["jvm"])
