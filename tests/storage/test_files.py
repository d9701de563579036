"""Objects appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from disk_kit import REQUESTS, Faults
from weir.errors import StorageError
from weir.storage.files import (
    Scratch,
    add_lines,
    make_folder,
    move,
    numbered,
    put_if_absent,
    remove,
    remove_folder,
    replace_file,
    sync_tree,
    writing,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_nothing_is_left_beside_it(place: Path) -> None:
    replace_file(place / "a", b"one")
    replace_file(place / "a", b"two", durable=False)
    assert (place / "a").read_bytes() == b"two"
    assert names(place) == ["a"]


def test_a_failure_while_writing_leaves_what_was_there(place: Path) -> None:
    replace_file(place / "a", b"one")
    with pytest.raises(RuntimeError), writing(place / "a") as file:
        file.write(b"half")
        raise RuntimeError
    assert (place / "a").read_bytes() == b"one"
    assert names(place) == ["a"]


def test_lines_that_a_disk_cut_short_do_not_run_into_others(tmp_path: Path, faults: Faults) -> None:
    path = tmp_path / "lines"
    add_lines(path, b"one\n")
    with faults.failing("write"), pytest.raises(StorageError, match="No space left"):
        add_lines(path, b"three\n")
    add_lines(path, b"two\n")
    assert path.read_bytes() == b"one\nthr\ntwo\n"


def test_an_object_is_put_once(place: Path) -> None:
    assert put_if_absent(place / "1", b"first")
    assert not put_if_absent(place / "1", b"second")
    assert (place / "1").read_bytes() == b"first"
    assert names(place) == ["1"]


@pytest.mark.parametrize("request_", ["open_file", "write", "sync", "rename", "sync_folder"])
def test_a_disk_that_fails_is_told_of_and_leaves_one_of_both(
    tmp_path: Path, faults: Faults, request_: str
) -> None:
    """Where only the folder could not be synced, the new content may be there: it was not promised."""
    replace_file(tmp_path / "a", b"one")
    with faults.failing(request_), pytest.raises(StorageError, match="No space left"):
        replace_file(tmp_path / "a", b"two")
    left = b"two" if request_ == "sync_folder" else b"one"
    assert (tmp_path / "a").read_bytes() == left
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("request_", ["open_file", "write", "sync", "link"])
def test_an_object_that_could_not_be_put_is_not_there(tmp_path: Path, faults: Faults, request_: str) -> None:
    with faults.failing(request_), pytest.raises(StorageError):
        put_if_absent(tmp_path / "1", b"first")
    assert names(tmp_path) == []
    assert put_if_absent(tmp_path / "1", b"first")


def test_names_are_synced_with_their_folders(tmp_path: Path, faults: Faults) -> None:
    """A folder that is made, a file that is renamed: each sync is of the folder that has the new name."""
    faults.counts.clear()
    make_folder(tmp_path / "a" / "b")
    assert faults.counts["sync_folder"] == 2
    make_folder(tmp_path / "a" / "b")
    assert faults.counts["sync_folder"] == 2
    (tmp_path / "x").write_bytes(b"")
    move(tmp_path / "x", tmp_path / "a" / "x")
    assert faults.counts["sync_folder"] == 4
    assert names(tmp_path / "a") == ["b", "x"]


def test_a_tree_of_others_is_synced_file_by_file(tmp_path: Path, faults: Faults) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x").write_bytes(b"1")
    (tmp_path / "a" / "y").write_bytes(b"2")
    faults.counts.clear()
    sync_tree(tmp_path / "a")
    assert (faults.counts["sync"], faults.counts["sync_folder"]) == (2, 2)
    assert (tmp_path / "a" / "b" / "x").read_bytes() == b"1"


def test_what_is_not_there_is_removed_already(tmp_path: Path) -> None:
    remove(tmp_path / "a")
    remove_folder(tmp_path / "b")
    (tmp_path / "c" / "d").mkdir(parents=True)
    remove_folder(tmp_path / "c")
    assert names(tmp_path) == []
    with pytest.raises(StorageError, match="could not be removed"):
        remove(tmp_path)


def test_numbered_objects_are_listed_in_order(place: Path) -> None:
    for name in ("0000000010.seg", "2.seg", "synced", ".3.seg.partial", "4"):
        replace_file(place / name, b"")
    assert numbered(place, ".seg") == [2, 10]
    assert numbered(place) == [4]
    assert numbered(place / "none") == []


def test_the_kit_refuses_every_request_of_the_disk() -> None:
    assert set(REQUESTS) < set(__import__("weir.storage.disk", fromlist=["disk"]).__dict__)


def test_what_is_written_over_is_there_for_the_next_process(tmp_path: Path) -> None:
    note = Scratch(tmp_path / "note")
    for data in (b"a long text", b"short", b""):
        note.write(data)
        assert note.read() == data == Scratch(note.path).read()
    note.close()
