"""Columns go into a container and come out of it."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.errors import CheckpointError
from weir.storage.container import numbers, pack, unpack

KIND = "weir.test/1"
columns = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6)


@given(st.dictionaries(st.text(max_size=4), columns, max_size=4))
def test_what_goes_in_comes_out(found: dict[str, list[int]]) -> None:
    tables = {name: {"id": np.array(values, np.int64)} for name, values in found.items()}
    header = {"names": list(found)}
    data = pack(KIND, header, tables)
    assert data == pack(KIND, header, tables)
    read = unpack(data, KIND)
    assert read.header == header
    assert {name: numbers(table["id"]).tolist() for name, table in read.tables.items()} == found


def test_tables_have_lengths_and_types_of_their_own() -> None:
    text = pa.array(["a", None, "long " * 10], pa.large_string())
    narrow = np.arange(5, dtype=np.int32)
    read = unpack(pack(KIND, {}, {"texts": {"text": text, "n": narrow[:3]}, "none": {}}), KIND)
    assert read.table("texts")["text"].to_pylist() == text.to_pylist()
    assert numbers(read.table("texts")["n"]).dtype == np.int64
    assert read.table("none") == {}


def test_slices_of_columns_are_stored_as_what_they_show() -> None:
    whole = pa.array(["a", "b", "c", "d"], pa.large_string())
    data = pack(KIND, {}, {"t": {"x": whole[1:3], "y": np.arange(9)[2:4]}})
    read = unpack(data, KIND).table("t")
    assert read["x"].to_pylist() == ["b", "c"]
    assert numbers(read["y"]).tolist() == [2, 3]


def test_columns_of_a_mapped_file_are_views(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(pack(KIND, {}, {"t": {"x": np.arange(10_000)}}))
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    column = numbers(unpack(data, KIND).table("t")["x"])
    assert not column.flags.owndata
    assert column[-1] == 9_999


def test_another_kind_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"this is weir.test/1, and weir.test/2 was expected"):
        unpack(pack(KIND, {}, {}), "weir.test/2")


@pytest.mark.parametrize("keep", [0, 3, 40, 0.5, 0.9])
def test_what_is_damaged_is_refused(keep: float) -> None:
    data = pack(KIND, {}, {"t": {"x": np.arange(100)}}).to_pybytes()
    with pytest.raises(CheckpointError):
        _ = unpack(data[: int(keep if keep > 1 else keep * len(data))], KIND).tables
