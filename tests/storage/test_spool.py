"""What is large goes by file, what is small by itself; nothing is left when a batch is done."""

from __future__ import annotations

from pathlib import Path

from weir.storage.spool import INLINE, Spool


def test_what_comes_out_is_what_went_in(place: Path) -> None:
    spool = Spool(place)
    small, large = b"x" * INLINE, b"y" * (INLINE + 1)
    assert spool.put(3, small) == small
    assert not list(place.iterdir())
    carried = spool.put(3, large)
    assert len(carried) < 100
    mapped = spool.get(carried)
    assert (spool.get(small), mapped[:]) == (small, large)
    spool.put(4, large)
    spool.clear(3)
    assert [path.name for path in (place / "spool").iterdir()] == ["4"]
    assert mapped[:] == large, "a mapping outlives its file"
    spool.clear()
    assert not (place / "spool").exists()


def test_where_nothing_can_be_written_rows_carry_everything(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("in the way")
    large = b"y" * (INLINE + 1)
    spool = Spool(tmp_path)
    assert spool.get(spool.put(1, large)) == large
