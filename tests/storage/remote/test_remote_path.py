"""A path on a store answers as one on a disk does, and is never taken for one."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from weir.errors import UsageError
from weir.storage.files import make_folder, replace_file
from weir.storage.places import path_at
from weir.storage.remote import RemotePath


def test_it_reads_as_its_address_and_joins_as_a_path() -> None:
    path = RemotePath.of("s3a://b/a/c d?e=f#g.tnq")
    assert str(path) == path.as_uri() == "s3a://b/a/c d?e=f#g.tnq"
    assert (path.parent / "x.y").key == "a/x.y"
    assert (path.name, path.with_name("n").suffix) == ("c d?e=f#g.tnq", "")
    assert str(RemotePath.of("s3://b")) == "s3a://b"
    assert path.absolute() == pickle.loads(pickle.dumps(path)) == path_at(str(path)) == path_at(path)
    with pytest.raises(UsageError, match="no bucket or host"):
        RemotePath.of("hdfs:///a")


def test_the_operating_system_is_not_asked_for_it() -> None:
    with pytest.raises(UsageError, match="s3a://b/x is not on a disk"):
        os.listdir(RemotePath.of("s3a://b/x"))
    with pytest.raises(UsageError, match="is not written piece by piece"):
        RemotePath.of("s3a://b/x").open("ab")


def test_what_is_there_is_told_alike(place: Path) -> None:
    make_folder(place / "a" / "b")
    replace_file(place / "a" / "b" / "one.x", b"12345")
    replace_file(place / "a" / "two.y", "zwölf".encode())
    two = place / "a" / "two.y"
    assert (two.read_text(encoding="utf-8"), two.stat().st_size, two.is_file(), two.is_dir()) == (
        "zwölf", 6, True, False,
    )  # fmt: skip
    with two.open("rb") as file:
        assert file.read(2) == b"zw"
    assert two.stat().st_mtime_ns // 10**9 == int(two.stat().st_mtime)
    assert ((place / "a").is_dir(), (place / "a").is_file(), (place / "a").exists()) == (True, False, True)
    assert sorted(each.name for each in (place / "a").iterdir()) == ["b", "two.y"]
    assert sorted(each.name for each in place.rglob("*")) == ["a", "b", "one.x", "two.y"]
    assert list(place.glob("a/*/o*")) == [place / "a" / "b" / "one.x"] and not list(place.glob("a/x*"))
    absent = place / "nothing"
    assert not absent.exists() and not absent.is_dir() and not absent.is_file()
    for ask in (absent.stat, absent.read_bytes):
        with pytest.raises(FileNotFoundError):
            ask()


def test_a_range_ends_where_the_object_does(store: RemotePath) -> None:
    replace_file(store / "x", b"0123456789")
    ranges = [(0, 4), (4, 4), (8, 20), (10, 20), (3, None)]
    assert [(store / "x").read_range(*each) for each in ranges] == [b"0123", b"", b"89", b"", b"3456789"]
