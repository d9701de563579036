"""Places from what users write, and files for any name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.errors import UsageError
from weir.storage.places import beside_driver, file_name, local_path, path_at


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("ck", "ck"),
        ("/a/b", "/a/b"),
        ("file:///a/b%20c", "/a/b c"),
        ("file:/a/b", "/a/b"),
        ("file://localhost/a", "/a"),
        ("FILE:///a", "/a"),
        ("./s3a:/x", "./s3a:/x"),
        ("C:/x", "C:/x"),
        ("a:b/c", "a:b/c"),
    ],
)
def test_paths_and_file_addresses_are_local(given: str, path: str) -> None:
    assert local_path(given, "a checkpoint") == Path(path)


@pytest.mark.parametrize("place", ["abfss://c@a/x", "gs://b/x", "ftp://h/x"])
def test_schemes_that_do_not_work_are_refused_with_what_does(place: str) -> None:
    for told in (place, Path(place)):
        for asked in (path_at, local_path):
            with pytest.raises(UsageError, match=r"(?s)a checkpoint cannot be at .*does not work.*hdfs://"):
                asked(told, "a checkpoint")


@pytest.mark.parametrize("place", ["s3a://bucket/ck", "S3://bucket/ck", "hdfs://host:8020/ck"])
def test_stores_are_refused_where_only_a_disk_will_do(place: str) -> None:
    assert str(path_at(place)).partition("://")[2] == place.partition("://")[2]
    for told in (place, Path(place)):
        with pytest.raises(UsageError, match=r"(?s)a query cannot be at .*on a disk.*file:///path"):
            local_path(told, "a query")


def test_word_about_a_store_is_left_on_this_machine(tmp_path: Path) -> None:
    assert beside_driver(tmp_path) == tmp_path
    places = [beside_driver(path_at(f"s3a://b/{name}/weir")) for name in ("a", "a", "c")]
    assert places[0] == places[1] != places[2] and places[0].parent.is_dir()


def test_a_file_on_another_host_is_refused() -> None:
    with pytest.raises(UsageError, match="three slashes"):
        local_path("file://host/a", "a graph")


def test_plain_names_stand_for_themselves() -> None:
    for name in ("q1", "alarm-15b82728", "a.b", "_x", "A-b_c"):
        assert file_name(name) == name


@given(st.lists(st.text(max_size=30), unique=True, max_size=20))
def test_names_that_differ_never_share_a_file(names: list[str]) -> None:
    every = dict.fromkeys([*names, *map(file_name, names), *(file_name(file_name(name)) for name in names)])
    found = [file_name(name) for name in every]
    assert len(set(found)) == len(every)
    for each in found:
        assert each not in ("", ".", "..") and "/" not in each and len(each) <= 80
