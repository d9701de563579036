"""Whole jobs on Spark, on some of the cores of this machine: what small and large batches cost.

The files of a stream are batches, one each. Tasks write the results, so the manifests of batches tell when
each was done; from one to the next is everything that a batch costs: processor time of the job's processes,
which others on the machine hardly change, and the time that went by, which they do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from weir.runtime.output.sinks.part_folders import PartFolder
from weir_bench.scale.costs import ROOMS, SPAN, STREAM, Sample
from weir_bench.scale.driver import cpu_seconds
from weir_bench.scale.readings import crowd

_WARM = 3
_PATIENCE = 900
_LOOK = 0.02
_TASKS = """
import os
from weir_bench.scale.driver import cpu_seconds
from weir.spark.session import open_session
spark = open_session("local[1]")
def took(tasks):
    began = cpu_seconds([os.getpid()])
    spark.range(0, tasks, 1, tasks).selectExpr("sum(id)").collect()
    return cpu_seconds([os.getpid()]) - began
for _ in range(3): took(100)
for _ in range({turns}): print((took({many}) - took(10)) / ({many} - 10))
"""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of ``turns`` small batches and as many large ones, behind what makes the job warm."""

    folder: Path
    small: int
    large: int
    turns: int

    @property
    def sizes(self) -> list[int]:
        """Triples of each batch. The first of each kind has windows of the kind before it to close."""
        more = self.turns + 1
        return [*[self.large] * _WARM, *[self.small] * more, *[self.large] * more, *[self.small] * 2]

    def write(self) -> None:
        self.folder.mkdir()
        for number, size in enumerate(self.sizes):
            (self.folder / f"{number:02}.tnq").write_bytes(crowd(size, SPAN, number * SPAN))


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of processor time that small and large batches took, and the seconds that went by."""

    small: Sample
    large: Sample
    small_elapsed: Sample
    large_elapsed: Sample

    @property
    def waited(self) -> float:
        """The least that a small batch on one core took beyond its processor time."""
        pairs = zip(self.small_elapsed.values, self.small.values, strict=True)
        return max(0.0, min(elapsed - spent for elapsed, spent in pairs))

    def as_json(self) -> dict[str, object]:
        return {name: getattr(self, name).as_json() for name in self.__slots__}


def _on(cores: int) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def took(folder: Path, stream: Stream, cores: int, slots: int, partitions: int) -> Took:
    """A job over the stream, on so many cores of this machine."""
    folder.mkdir()
    (folder / "rooms.rq").write_text(ROOMS)
    command = [sys.executable, "-m", "weir", "run", "rooms.rq", "--stream", f"{STREAM}={stream.folder}"]
    command += ["--files-per-batch", "1", "--checkpoint", "ck", "--to", "jsonl:out"]
    command += ["--slots", str(slots), "--partitions", str(partitions), "--master", f"local[{cores}]"]
    parts = PartFolder(folder / "out", "jsonl")
    spent: list[float] = []
    with open(folder / "errors.log", "wb") as errors:
        job = subprocess.Popen(
            command, cwd=folder, preexec_fn=partial(_on, cores), stdout=errors, stderr=errors
        )
        try:
            until = time.monotonic() + _PATIENCE
            while job.poll() is None and time.monotonic() < until:
                done = len(parts.batches()) - len(spent)
                if done > 0:
                    # Batches whose end nobody saw by itself have their share of what was spent.
                    now, last = cpu_seconds([job.pid]), spent[-1] if spent else 0.0
                    spent += [last + (now - last) * each / done for each in range(1, done + 1)]
                time.sleep(_LOOK)
        finally:
            job.kill()
            job.wait()
    if job.returncode:
        raise RuntimeError((folder / "errors.log").read_text(errors="replace")[-2000:])
    ended = [(parts.folder / "_batches" / str(batch)).stat().st_mtime for batch in parts.batches()]
    # Number n of what is between two of them is batch n + 1. The end of the job is in none of these.
    first, second = _WARM, _WARM + stream.turns + 1
    kinds = [slice(each, each + stream.turns) for each in (first, second)]
    return Took(*(Sample(tuple(np.diff(each)[kind].tolist())) for each in (spent, ended) for kind in kinds))


def seconds_per_task(folder: Path, turns: int, many: int = 1000) -> Sample:
    """What the driver spends to send a task that does nothing, and to hear of its end; with what the core
    spends on it, which is more than the driver's part."""
    folder.mkdir()
    told = _run([sys.executable, "-c", _TASKS.format(turns=turns, many=many)], folder, 1)
    return Sample(tuple(max(0.0, float(line)) for line in told.split()))


def _run(command: Sequence[str], folder: Path, cores: int) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        preexec_fn=partial(_on, cores),
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    return done.stdout
