"""What tests of faults share: input that takes many batches, with garbage and late messages in it."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

from typer.testing import Result

from cli_kit import COUNTS, FLOOR, REACHES, detected, weir

ARGUMENTS = (
    *("counts.rq", "reaches.rq", "--stream", "rfid=stream", "--graph", "floorplan=floor.ttl"),
    *("--files-per-batch", "1", "--format", "jsonl"),
)
"""Of ``weir run``: a file a batch."""


def write_input(folder: Path, files: int) -> None:
    """Detections every 10 ms, 400 ms a file; some lines are garbage, some messages late."""
    dice = random.Random(5)
    (folder / "counts.rq").write_text(COUNTS.replace("STEP PT1S", "STEP PT1S LATENESS PT0.1S"))
    (folder / "reaches.rq").write_text(REACHES)
    (folder / "floor.ttl").write_text(FLOOR)
    (folder / "stream").mkdir()
    for number in range(files):
        lines = []
        for i in range(40):
            time_ = 400 * number + 10 * i
            lines.append(detected(time_, dice.randrange(9), 1 + dice.randrange(3)))
            if dice.random() < 0.05:
                lines.append("garbage\n")
            if dice.random() < 0.05 and number:
                lines.append(detected(time_ - 350, 99, 1))
        (folder / "stream" / f"{number:03d}.tnq").write_text("".join(lines))


def undisturbed(folder: Path, files: int, *options: str) -> Result:
    """Write the input, and ``whole.jsonl``: what a run in one process writes that nothing disturbs."""
    write_input(folder, files)
    done = weir("try", *ARGUMENTS, "--out", "whole.jsonl", *options)
    assert done.exit_code == 0, done.stderr
    assert f"{files} batches" in done.stderr
    return done


def wait_for_growth(process: subprocess.Popen[bytes], path: Path, size: int, limit: float = 300.0) -> None:
    """Until the file has grown past ``size`` or the process is done."""
    deadline = time.monotonic() + limit
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists() and path.stat().st_size > size:
            return
        time.sleep(0.02)
