"""What the drivers in Python share: the folder is read, the clock runs, results and figures are written."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

ALL, EACH = "all", "each"

Feed = Callable[[bytes, bool], int]
"""Takes lines, and whether they are the last; how many results came of them."""


def told(folder: Path) -> dict[str, Any]:
    """What ``workload.json`` says."""
    found: dict[str, Any] = json.loads((folder / "workload.json").read_text(encoding="utf-8"))
    return found


def messages(folder: Path) -> Iterator[bytes]:
    """The lines of each message."""
    lines = (folder / "stream.tnq").read_bytes().splitlines(keepends=True)
    for _, group in groupby(lines, key=lambda line: line.partition(b"\t")[0]):
        yield b"".join(group)


def drive(folder: Path, mode: str, feed: Feed, slab: int) -> None:
    """Feed everything, ``slab`` messages at a time or one by one, and write the line of figures."""
    every = list(messages(folder))
    size = 1 if mode == EACH else slab
    parts = [b"".join(every[start : start + size]) for start in range(0, len(every), size)]
    results, first, waits = 0, None, []
    began = time.perf_counter()
    for number, part in enumerate(parts):
        start = time.perf_counter()
        came = feed(part, number + 1 == len(parts))
        now = time.perf_counter()
        waits.append(now - start)
        results += came
        if came and first is None:
            first = now - began
    seconds = time.perf_counter() - began
    figures = {
        "seconds": seconds,
        "results": results,
        "first_result": first,
        "latency_ms": 1000 * statistics.median(waits) if mode == EACH else None,
        "latency_p99_ms": 1000 * sorted(waits)[int(0.99 * (len(waits) - 1))] if mode == EACH else None,
    }
    sys.stdout.write(json.dumps({"figures": figures}) + "\n")
    sys.stdout.flush()


def cannot(reason: str) -> None:
    """Say instead of figures that this engine cannot say the query, and why."""
    sys.stdout.write(json.dumps({"cannot": reason}) + "\n")
