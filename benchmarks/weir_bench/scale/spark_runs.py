"""Whole jobs on Spark, on some of the cores of this machine: how long small and large batches take.

The files of a stream are batches, one each. Tasks write the results, so the manifests of batches tell when
each was done; from one to the next is everything that a batch costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from weir.runtime.output.sinks.part_folders import PartFolder
from weir_bench.scale.costs import ROOMS, SPAN, STREAM, Sample
from weir_bench.scale.readings import crowd

_WARM = 3
_PATIENCE = 900
_TASKS = """
import time
from weir.spark.session import open_session
spark = open_session("local[1]")
def took(tasks):
    began = time.perf_counter()
    spark.range(0, tasks, 1, tasks).selectExpr("sum(id)").collect()
    return time.perf_counter() - began
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
        return [*[self.large] * _WARM, *[self.small] * more, *[self.large] * more, self.small]

    def write(self) -> None:
        self.folder.mkdir()
        for number, size in enumerate(self.sizes):
            (self.folder / f"{number:02}.tnq").write_bytes(crowd(size, SPAN, number * SPAN))


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds that small and large batches took."""

    small: Sample
    large: Sample


def _on(cores: int) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def took(folder: Path, stream: Stream, cores: int, slots: int, partitions: int) -> Took:
    """A job over the stream, on so many cores of this machine."""
    folder.mkdir()
    (folder / "rooms.rq").write_text(ROOMS)
    command = [sys.executable, "-m", "weir", "run", "rooms.rq", "--stream", f"{STREAM}={stream.folder}"]
    command += ["--files-per-batch", "1", "--checkpoint", "ck", "--to", "jsonl:out"]
    command += ["--slots", str(slots), "--partitions", str(partitions), "--master", f"local[{cores}]"]
    _run(command, folder, cores)
    parts = PartFolder(folder / "out", "jsonl")
    done = [(parts.folder / "_batches" / str(batch)).stat().st_mtime for batch in parts.batches()]
    seconds = np.diff(done)[: len(stream.sizes) - 1]
    # Number n of these is batch n + 1.
    small = seconds[_WARM : _WARM + stream.turns]
    large = seconds[_WARM + stream.turns + 1 : _WARM + 2 * stream.turns + 1]
    return Took(Sample(tuple(small.tolist())), Sample(tuple(large.tolist())))


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
