"""Mutated texts into every parser entry, in a process of its own: a signal, a hang or an exception fails.

An input that fails has a seed and a number: ``python tests/fuzz_child.py SEED N N+1 FILE`` repeats it, with
the 50 inputs before it where it is a line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHILD = Path(__file__).parents[1] / "fuzz_child.py"
_PIECE = 20_000
"""Inputs of one process."""


def survived(seed: str, first: int, last: int, mark: Path) -> None:
    mark.write_bytes(b" " * 64)
    command = [sys.executable, str(CHILD), seed, str(first), str(last), str(mark)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    place = f"seed {seed!r}, input {mark.read_bytes().strip().decode()}"
    assert done.returncode >= 0, f"signal {-done.returncode} at {place}\n{done.stderr[-3000:]}"
    assert done.returncode == 0, f"{place}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"


def test_no_text_ends_a_process(tmp_path: Path) -> None:
    survived("sample", 0, 1_000, tmp_path / "mark")


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_million_texts_end_no_process(tmp_path: Path) -> None:
    """``WEIR_FUZZ`` is how many, ``WEIR_SEED`` of which seed."""
    count, seed = int(os.environ.get("WEIR_FUZZ", "1000000")), os.environ.get("WEIR_SEED", "long")
    begun = time.monotonic()
    for first in range(0, count, _PIECE):
        survived(seed, first, min(first + _PIECE, count), tmp_path / "mark")
        done = min(first + _PIECE, count)
        print(f"{done:,} of {count:,} texts of seed {seed!r} in {time.monotonic() - begun:,.0f} s")
