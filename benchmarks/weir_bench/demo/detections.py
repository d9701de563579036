"""Detections of the demo: a thread that writes small files into a watched folder, stamped with the clock."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from weir_bench.demo.world import World, detection

_PERIOD = 0.1


class Detections(threading.Thread):
    """``rate`` detections a second until ``stop``. A file appears whole, by a rename."""

    def __init__(self, world: World, folder: Path, rate: int) -> None:
        super().__init__(name="weir-demo-stream", daemon=True)
        self.world = world
        self.folder = folder
        self.rate = rate
        self.written = 0
        self._halt = threading.Event()
        self._walk = world.walk()
        self._number = 0

    def first(self) -> None:
        """A single detection, for the first batch to warm up with."""
        self._write([int(1000 * time.time())])

    def run(self) -> None:
        last = time.time()
        while not self._halt.wait(_PERIOD):
            now = time.time()
            count = max(1, round((now - last) * self.rate))
            self._write([int(1000 * (last + (now - last) * (i + 1) / count)) for i in range(count)])
            last = now

    def _write(self, times: Sequence[int]) -> None:
        lines = [detection(at, *next(self._walk)) for at in times]
        partial = self.folder / f".{self._number:06d}.partial"
        partial.write_text("".join(lines), encoding="utf-8")
        os.replace(partial, self.folder / f"{self._number:06d}.tnq")
        self._number += 1
        self.written += len(times)

    def stop(self) -> None:
        """Write no more."""
        self._halt.set()
        if self.is_alive():
            self.join()
