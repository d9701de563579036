"""What is large goes by file, what is small by itself; nothing is left when a batch is done."""

from __future__ import annotations

from pathlib import Path

from weir.runtime.worker.spool import INLINE, Spool


def test_what_comes_out_is_what_went_in(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    small, large = b"x" * INLINE, b"y" * (INLINE + 1)
    assert spool.put(3, small) == small
    assert not list(tmp_path.iterdir())
    carried = spool.put(3, large)
    assert len(carried) < 100
    mapped = spool.get(carried)
    assert (spool.get(small), mapped[:]) == (small, large)
    spool.put(4, large)
    spool.clear(3)
    assert [path.name for path in (tmp_path / "spool").iterdir()] == ["4"]
    assert mapped[:] == large, "a mapping outlives its file"
    spool.clear()
    assert not (tmp_path / "spool").exists()


def test_where_nothing_can_be_written_rows_carry_everything(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("in the way")
    large = b"y" * (INLINE + 1)
    spool = Spool(tmp_path)
    assert spool.get(spool.put(1, large)) == large


def test_answers_that_nobody_looks_at_are_written_over(tmp_path: Path) -> None:
    spool, worker = Spool(tmp_path, reused=True), Spool(tmp_path)
    free = tmp_path / "spool" / "free"

    def answered(batch: int, data: bytes) -> bytes:
        pile = worker.pile(batch)
        pile.write(data)
        return pile.carried()

    assert spool.get(answered(1, b"a" * (2 * INLINE)))[:1] == b"a"
    spool.clear(1)
    (kept,) = free.iterdir()
    inode = kept.stat().st_ino
    held = spool.get(answered(2, b"b" * (INLINE + 1)))
    assert (tmp_path / "spool" / "2").stat() and not list(free.iterdir())
    assert held[:] == b"b" * (INLINE + 1), "what was there before does not show"
    (path,) = (tmp_path / "spool" / "2").iterdir()
    assert path.stat().st_ino == inode
    spool.clear(2)
    assert not list(free.iterdir()), "what somebody still has is not written over"
    assert held[:] == b"b" * (INLINE + 1)
    spool.clear()
    assert not (tmp_path / "spool").exists()


def test_only_so_many_files_are_kept(tmp_path: Path) -> None:
    spool = Spool(tmp_path, reused=True)
    for _ in range(40):
        pile = spool.pile(1)
        pile.write(b"x" * (INLINE + 1))
        spool.get(pile.carried())
    spool.clear(1)
    assert len(list((tmp_path / "spool" / "free").iterdir())) == 16
