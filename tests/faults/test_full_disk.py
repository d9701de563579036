"""A disk that runs full under the output, and under the checkpoint, while a job runs.

The job ends with what the disk says. Once there is room it goes on with its checkpoint, and the output is
that of an undisturbed run, to the byte.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fault_kit import ARGUMENTS, undisturbed, wait_for_growth

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]
FILES = 24


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own, in memory."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted: that needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Leave no room on a disk; the file that takes it."""
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        size = 1 << 16
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    return ballast


def start(folder: Path, out: Path, checkpoint: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "weir", "run", *ARGUMENTS, "--out", str(out)]
    command += ["--checkpoint", str(checkpoint), "--dead-letters", "dead.jsonl", "--master", "local[2]"]
    return subprocess.Popen(
        command, cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("place", ["output", "checkpoint"])
def test_a_job_goes_on_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    undisturbed(tmp_path, FILES)
    with small_disk(tmp_path / "small", "64m") as small:
        out = (small if place == "output" else tmp_path) / "out.jsonl"
        checkpoint = (small if place == "checkpoint" else tmp_path) / "ck"
        process = start(tmp_path, out, checkpoint)
        wait_for_growth(process, out, 0)
        assert process.poll() is None, process.communicate()[1].decode()
        ballast = fill(small)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 1, errors.decode()
        assert "No space left on device" in errors.decode()
        ballast.unlink()
        again = start(tmp_path, out, checkpoint)
        _, errors = again.communicate(timeout=300)
        assert again.returncode == 0, errors.decode()
        assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert (tmp_path / "dead.jsonl").read_bytes() == (tmp_path / "whole.jsonl.dead.jsonl").read_bytes()
