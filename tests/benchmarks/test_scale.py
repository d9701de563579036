"""The benchmark of slots: it measures every number of slots, and each ratio is a goal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("matplotlib", reason="plots need matplotlib (extra: bench)")

from weir_bench.scale import benchmark as scale
from weir_bench.scale.driver import cpu_seconds
from weir_bench.scale.readings import readings


def test_readings_are_lines_that_repeat() -> None:
    assert readings(50) == readings(50)
    assert readings(50).count(b"\n") == 50


def test_every_number_of_slots_is_measured() -> None:
    found = scale.measure(400, 1)
    assert tuple(found) == scale.SLOTS
    for each in found.values():
        assert each["match_ns"] > 0 and each["parse_ns"] > 0
        assert each["bytes"] > 2 * 8, "at least the ids of a triple's subject and object"


def test_processor_time_is_that_of_a_process_and_all_below_it() -> None:
    """A child of a child computes; what it spent counts for whoever is above."""
    code = "import time; until = time.process_time() + 0.3\nwhile time.process_time() < until: pass"
    before = cpu_seconds([os.getpid()])
    subprocess.run(
        [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"]
    )
    assert cpu_seconds([os.getpid()]) - before > 0.29
    assert cpu_seconds([2**22 + 1]) == 0, "there is no such process"
