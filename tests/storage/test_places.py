"""Places from what users write, and files for any name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.errors import UsageError
from weir.storage.places import file_name, local_path


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


@pytest.mark.parametrize("place", ["s3a://bucket/ck", "hdfs://host:8020/ck", "abfss://c@a/x", "gs://b/x"])
def test_schemes_that_do_not_work_are_refused_with_what_does(place: str) -> None:
    for told in (place, Path(place)):
        with pytest.raises(
            UsageError, match=r"(?s)a checkpoint cannot be at .*does not work yet.*file:///path"
        ):
            local_path(told, "a checkpoint")


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
