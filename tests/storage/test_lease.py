"""One writer: the lock keeps two apart, the epoch tells an old one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weir.errors import CheckpointError
from weir.storage.lease import Lease, check, locked, newest

HOLD = "import sys; from pathlib import Path; from weir.storage.lease import Lease; Lease(Path(sys.argv[1]))"


def test_a_second_writer_is_refused_and_told_who_is_first(tmp_path: Path) -> None:
    lease = Lease(tmp_path / "weir")
    with pytest.raises(CheckpointError, match=rf"(?s)process {os.getpid()} on .*hint: stop it first"):
        Lease(tmp_path / "weir")
    lease.check()
    lease.close()
    lease.close()
    Lease(tmp_path / "weir").close()


def test_the_lock_goes_with_the_process(tmp_path: Path) -> None:
    code = f"{HOLD}; print('held', flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        with pytest.raises(CheckpointError, match=f"process {process.pid} "):
            Lease(tmp_path)
    finally:
        process.kill()
        process.communicate()
    Lease(tmp_path).close()


def test_every_writer_has_an_epoch_of_its_own_and_the_newest_counts(place: Path) -> None:
    assert newest(place) == 0
    epochs = []
    for _ in range(12):
        lease = Lease(place)
        epochs.append(lease.epoch)
        lease.close()
    assert epochs == list(range(1, 13))
    assert newest(place) == 12
    assert len(list((place / "epochs").iterdir())) == 8
    check(place, 12)
    with pytest.raises(CheckpointError, match="another job has taken over the checkpoint"):
        check(place, 11)


def test_on_a_store_whoever_comes_later_takes_over(store: Path) -> None:
    old = Lease(store)
    old.check()
    Lease(store).check()
    with pytest.raises(CheckpointError, match=rf"(?s)another job has taken over.*process {os.getpid()} "):
        old.check()


def test_a_writer_whose_lock_was_lost_finds_out(tmp_path: Path) -> None:
    """As on storage without locks, or after the lock file was removed: the second one takes over."""
    old = Lease(tmp_path)
    (tmp_path / "lock").unlink()
    new = Lease(tmp_path)
    new.check()
    with pytest.raises(CheckpointError, match=r"(?s)taken over.*writes nothing more"):
        old.check()


def test_a_file_is_locked_once(tmp_path: Path) -> None:
    first = locked(tmp_path / "lock")
    assert first is not None and locked(tmp_path / "lock") is None
    os.close(first)
