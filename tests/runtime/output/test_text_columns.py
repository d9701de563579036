"""Columns of terms and times as text: what one by one would give."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from weir.runtime.output.text_columns import Coded, put_together, stamps, timestamp, weave


def test_stamps() -> None:
    times = [0, 999, -1, -1001, 1_407_110_400_123_456, 250_000_000_000_000_000]
    woven = weave(stamps(np.array(times)))
    assert woven.rows().to_pylist() == [timestamp(each) for each in times]


@pytest.mark.parametrize("distinct", [5, 70_000], ids=["narrow numbers", "wide numbers"])
@pytest.mark.parametrize("run", [1, 3], ids=["a row each", "rows run together"])
def test_any_part_of_what_is_woven_goes_by_arrow(distinct: int, run: int) -> None:
    texts = [*(f"{n}ä" * (n % 4) for n in range(distinct)), None]
    codes = np.random.default_rng(1).integers(0, len(texts), (3, 60))
    codes[0] = len(texts) - 1 - codes[0] // 2
    whole = ["".join(texts[code] or "" for code in row) for row in codes.T]
    columns = [Coded.of(each, texts) for each in codes]
    woven = weave(columns, None if run == 1 else np.arange(0, 60, run))
    expected = ["".join(whole[row : row + run]) for row in range(0, 60, run)]
    for first, last in ((0, None), (0, 7), (7, 20), (20, 20)):
        batch = pa.record_batch([woven.numbered(first, last)], names=["parts"])
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, batch.schema) as writer:
            writer.write_batch(batch)
        (read,) = pa.ipc.open_stream(stream.getvalue())
        assert put_together(read["parts"]).to_pylist() == expected[first:last]
        assert put_together(read["parts"][2:]).to_pylist() == expected[first:last][2:]
