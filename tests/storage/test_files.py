"""Objects appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.storage.files import numbered, replace_file, sync_folder, writing


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", b"one")
    replace_file(tmp_path / "a", b"two", durable=False)
    assert (tmp_path / "a").read_bytes() == b"two"
    assert names(tmp_path) == ["a"]


def test_a_failure_while_writing_leaves_what_was_there(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", b"one")
    with pytest.raises(RuntimeError), writing(tmp_path / "a") as file:
        file.write(b"half")
        raise RuntimeError
    assert (tmp_path / "a").read_bytes() == b"one"
    assert names(tmp_path) == ["a"]


def test_numbered_objects_are_listed_in_order(tmp_path: Path) -> None:
    for name in ("0000000010.seg", "2.seg", "synced", ".3.seg.partial", "4"):
        (tmp_path / name).touch()
    assert numbered(tmp_path, ".seg") == [2, 10]
    assert numbered(tmp_path) == [4]
    assert numbered(tmp_path / "none") == []


def test_a_folder_that_is_not_there_cannot_be_synced(tmp_path: Path) -> None:
    sync_folder(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "none")
