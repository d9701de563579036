"""``kill -9`` of the whole driver at random moments: the file is that of an undisturbed run, to the byte.

A kill costs a start of Spark: one by default, ``WEIR_KILLS`` for many.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cli_kit import weir
from fault_kit import ARGUMENTS, wait_for_growth, write_input

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
KILLS = int(os.environ.get("WEIR_KILLS", "1"))
FILES = max(24, 4 * KILLS)


def start(folder: Path, out: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "weir", "run", *ARGUMENTS, "--out", out, "--checkpoint", "ck"]
    return subprocess.Popen(
        [*command, "--master", "local[2]"],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def test_the_output_after_kills_is_that_of_an_undisturbed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    seed = int(os.environ.get("WEIR_SEED", str(random.randrange(10**6))))
    print(f"WEIR_SEED={seed}")
    dice = random.Random(seed)
    monkeypatch.chdir(tmp_path)
    write_input(tmp_path, FILES)
    undisturbed = weir("run", *ARGUMENTS, "--out", "whole.jsonl")
    assert undisturbed.exit_code == 0, undisturbed.stderr
    assert f"{FILES} batches" in undisturbed.stderr

    out = tmp_path / "out.jsonl"
    for _ in range(KILLS):
        process = start(tmp_path, "out.jsonl")
        size = out.stat().st_size if out.exists() else 0
        wait_for_growth(process, out, size)
        time.sleep(dice.uniform(0.0, 1.5))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    last = start(tmp_path, "out.jsonl")
    _, errors = last.communicate(timeout=600)
    assert last.returncode == 0, errors.decode()
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    letters = "out.jsonl.dead.jsonl", "whole.jsonl.dead.jsonl"
    assert (tmp_path / letters[0]).read_bytes() == (tmp_path / letters[1]).read_bytes()
