"""Columns of terms and times as text: what one by one would give."""

from __future__ import annotations

import polars as pl

from weir.runtime.output.text_columns import stamps, timestamp, weave


def test_stamps() -> None:
    times = [0, 999, -1, -1001, 1_407_110_400_123_456, 250_000_000_000_000_000]
    woven = weave(stamps(pl.Series(times).to_numpy()))
    assert woven.rows().to_pylist() == [timestamp(each) for each in times]
