"""What the operating system says is raised, with the path and what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from weir.errors import StorageError
from weir.storage import disk


def test_a_full_disk_is_told_with_what_to_do() -> None:
    path = Path("/dev/full")
    file = disk.open_file(path, os.O_WRONLY)
    try:
        with pytest.raises(
            StorageError, match=r"(?s)/dev/full could not be written: No space left.*make room"
        ):
            disk.write(file, b"x", path)
    finally:
        disk.close(file)


def test_what_cannot_be_opened_made_or_renamed_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"could not be opened: No such file.*(?s:.)*see to the disk"):
        disk.open_file(tmp_path / "none" / "x")
    with pytest.raises(StorageError, match="could not be renamed"):
        disk.rename(tmp_path / "none", tmp_path / "x")
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="could not be made: File exists"):
        disk.make_folder(tmp_path / "file")
    with pytest.raises(StorageError, match="could not be synced"):
        disk.sync_folder(tmp_path / "none")


def test_a_sync_that_fails_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    file = disk.open_file(tmp_path / "x")
    monkeypatch.setattr(os, "fdatasync", refused)
    with pytest.raises(StorageError, match="x could not be synced: Input/output error"):
        disk.sync(file, tmp_path / "x")
    disk.close(file)


def test_a_name_is_given_once_also_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    (tmp_path / "a").write_text("a")
    assert disk.link(tmp_path / "a", tmp_path / "b")
    assert not disk.link(tmp_path / "a", tmp_path / "b")
    monkeypatch.setattr(os, "link", refused)
    assert not disk.link(tmp_path / "a", tmp_path / "b")
    assert disk.link(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "c").read_text() == "a"


def test_a_file_is_cut_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    file = disk.open_file(path)
    assert disk.write(file, b"abc", path) == 3
    disk.truncate(file, 1, path)
    disk.close(file)
    disk.close(file)
    assert path.read_bytes() == b"a"
    disk.remove(path)
    disk.remove(path)
    assert not path.exists()
