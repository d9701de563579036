"""``kill -9`` of the whole driver at random moments: the file is that of an undisturbed run, to the byte.

Where tasks write parts, the parts together have its lines, each once; dead letters are the same.

The last run is on the tests' own session. A kill costs a start of Spark: one by default, ``WEIR_KILLS`` for
many.
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
from fault_kit import ARGUMENTS, undisturbed, wait_for_growth

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
KILLS = int(os.environ.get("WEIR_KILLS", "1"))
FILES = max(8, 4 * KILLS)


def start(folder: Path, *where: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "weir", "run", *ARGUMENTS, *where, "--checkpoint", "ck"]
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
    undisturbed(tmp_path, FILES)

    out = tmp_path / "out.jsonl"
    for _ in range(KILLS):
        process = start(tmp_path, "--out", "out.jsonl")
        size = out.stat().st_size if out.exists() else 0
        wait_for_growth(process, out, size)
        time.sleep(dice.uniform(0.0, 1.0))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    last = weir("run", *ARGUMENTS, "--out", "out.jsonl", "--checkpoint", "ck")
    assert last.exit_code == 0, last.stderr
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    letters = "out.jsonl.dead.jsonl", "whole.jsonl.dead.jsonl"
    assert (tmp_path / letters[0]).read_bytes() == (tmp_path / letters[1]).read_bytes()


def test_parts_after_a_kill_have_every_result_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    """The second driver that is started meanwhile is refused, and the first goes on."""
    monkeypatch.chdir(tmp_path)
    undisturbed(tmp_path, FILES)
    where = ("--to", "jsonl:parts", "--dead-letters", "dead.jsonl")
    manifests = tmp_path / "parts" / "_batches"
    for kill in range(KILLS):
        process = start(tmp_path, *where)
        known = len(list(manifests.glob("[0-9]*")))
        while process.poll() is None and len(list(manifests.glob("[0-9]*"))) < known + 2:
            time.sleep(0.02)
        if not kill:
            second = weir("run", *ARGUMENTS, *where, "--checkpoint", "ck")
            assert second.exit_code == 2 and "another job runs with the checkpoint" in second.stderr
        time.sleep(random.uniform(0.0, 1.0))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert len(list(manifests.glob("[0-9]*"))) < FILES, "it was killed on its way"
    last = weir("run", *ARGUMENTS, *where, "--checkpoint", "ck")
    assert last.exit_code == 0, last.stderr
    parts = sorted((tmp_path / "parts").glob("batch-*"))
    found = [line for part in parts for line in part.read_text().splitlines()]
    assert sorted(found) == sorted((tmp_path / "whole.jsonl").read_text().splitlines())
    assert (tmp_path / "dead.jsonl").read_bytes() == (tmp_path / "whole.jsonl.dead.jsonl").read_bytes()
    assert not list((tmp_path / "parts" / "_parts").iterdir())
