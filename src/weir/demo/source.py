"""The live stream: a thread that writes small files into a watched directory, stamped with the clock."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from weir.demo.world import World, detection

_PERIOD = 0.1


class LiveStream(threading.Thread):
    """``rate`` detections a second until ``stop``. A file appears whole, by a rename."""

    def __init__(self, world: World, folder: Path, rate: int) -> None:
        super().__init__(name="weir-demo-stream", daemon=True)
        self.world = world
        self.folder = folder
        self.rate = rate
        self.written = 0
        self._halt = threading.Event()

    def run(self) -> None:
        walk = self.world.walk()
        last = time.time()
        number = 0
        while not self._halt.wait(_PERIOD):
            now = time.time()
            count = max(1, round((now - last) * self.rate))
            times = [int(1000 * (last + (now - last) * (i + 1) / count)) for i in range(count)]
            last = now
            lines = [detection(at, *next(walk)) for at in times]
            partial = self.folder / f".{number:06d}.partial"
            partial.write_text("".join(lines), encoding="utf-8")
            os.replace(partial, self.folder / f"{number:06d}.tnq")
            number += 1
            self.written += count

    def stop(self) -> None:
        """Write no more."""
        self._halt.set()
        self.join()
