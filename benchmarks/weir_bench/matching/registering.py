"""Queries registered over the public API: one more beside thousands that run, and what others notice of it.

Times are processor time of the whole process, over the direct runner: control log and groups of a job,
without Spark.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource
from weir_bench.data.energy import STREAM, energy
from weir_bench.matching.queries import text
from weir_bench.matching.spark import write_stream
from weir_bench.matching.systems import Patterns

_BATCHES, _SIZE, _MORE = 8, 2_000, 21


def adding_to(found: Sequence[Patterns], window: int, count: int) -> dict[str, float]:
    """Milliseconds of one registration beside ``count`` others (the median of some), of the batch that takes
    those in, and of batches before and after (medians). ``found`` are more patterns than ``count``."""
    with tempfile.TemporaryDirectory(prefix="weir-adding-") as name:
        write_stream(energy(_BATCHES * _SIZE), Path(name) / "stream", _BATCHES)
        job = DirectJob(Path(name) / "job")
        job.registry.add_stream(STREAM, FileSource(str(Path(name) / "stream"), files_per_batch=1))
        texts = {f"q{number}": text(each, window, f"q{number}") for number, each in enumerate(found[:count])}
        job.registry.register_all(texts, "auto", "auto")
        before = [_milliseconds(job.batch) for _ in range(3)]
        more = [text(each, window, f"x{n}") for n, each in enumerate(found[count : count + _MORE])]
        adding = [_milliseconds(partial(job.register, each)) for each in more]
        batches = [_milliseconds(job.batch) for _ in range(_BATCHES - 3)]
    return {
        "one more": float(np.median(adding)),
        "batch before": float(np.median(before[1:])),
        "batch with them": batches[0],
        "batch after": float(np.median(batches[1:])),
    }


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)
