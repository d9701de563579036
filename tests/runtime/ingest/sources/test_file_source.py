"""The file source: name order, cuts inside files, gzip, watched folders, the end."""

from __future__ import annotations

import gzip
from dataclasses import asdict
from pathlib import Path

import pytest

from weir.errors import CheckpointError, UsageError
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources.feeds import Place, Reached
from weir.runtime.ingest.sources.file_source import FileFeed, FileSource, Offset
from weir.runtime.ingest.stage import read_messages

START: Reached = {}


def at(file: int, byte: int = 0, end: bool = False) -> Reached:
    return asdict(Offset(file, byte, end))


def line(time: int, name: str = "o") -> str:
    return f"{time}\t<http://e/s> <http://e/p> <http://e/{name}> .\n"


def feed(path: Path, folder: Path, **options: object) -> FileFeed:
    source = FileSource(str(path), **options)  # type: ignore[arg-type]
    return FileFeed(source, Place("s", folder / "weir", "s", 2))


def batches(feed: FileFeed, most: int = 100) -> list[list[str]]:
    """The objects read by each batch, until there is nothing more."""
    out, start = [], START
    for _ in range(most):
        end = feed.latest(start, False)
        if end == start:
            break
        out.append(["".join(objects(part)) for part in feed.parts(start, end) if part.path])
        start = end
    return out


def objects(part: Part) -> list[str]:
    terms = read_messages(part, b"k").parsed.terms[2]
    return [text.rsplit("/", 1)[1][:-1] for text in terms.texts.gather(terms.codes)]


def test_a_directory_is_read_in_name_order_and_ends(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("b", "a", "c"):
        (folder / f"{name}.tnq").write_text(line(1, name))
    (folder / "ignored.txt").write_text("x")
    (folder / ".hidden.tnq").write_text(line(1, "h"))
    assert batches(feed(folder, tmp_path, files_per_batch=2)) == [["a", "b"], ["c"]]
    assert feed(folder, tmp_path).latest(at(2), False) == at(3, end=True)


def test_files_are_cut_by_bytes_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "s.tnq"
    path.write_text("".join(line(t, str(t % 10)) for t in range(100)))
    found = batches(feed(path, tmp_path, bytes_per_batch=700))
    assert len(found) > 4
    assert "".join("".join(batch) for batch in found) == "0123456789" * 10


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "s.tnq.gz"
    with gzip.open(path, "wt") as file:
        file.write(line(1, "a") + line(2, "b"))
    assert batches(feed(path, tmp_path)) == [["ab"]]


def test_a_watched_folder_takes_files_as_they_appear(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "m.tnq").write_text(line(1, "m"))
    watched = feed(folder, tmp_path, watch=True)
    first = watched.latest(START, False)
    assert first == at(1)
    assert watched.latest(first, False) == first
    (folder / "a.tnq").write_text(line(2, "a"))
    second = watched.latest(first, False)
    assert [objects(part) for part in watched.parts(first, second)] == [["a"]]
    assert watched.latest(second, True) == at(2, end=True)


def test_a_batch_planned_again_is_the_same_batch(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "m.tnq").write_text(line(1, "m"))
    watched = feed(folder, tmp_path, watch=True)
    end = watched.latest(START, False)
    planned = watched.parts(START, end)
    (folder / "a.tnq").write_text(line(2, "a"))
    assert feed(folder, tmp_path, watch=True).parts(START, end) == planned


def test_an_empty_file_has_an_end(tmp_path: Path) -> None:
    path = tmp_path / "s.tnq"
    path.touch()
    made = feed(path, tmp_path)
    end = made.latest(START, False)
    assert end["end"]
    assert [part.final for part in made.parts(START, end)] == [True]


def test_more_input_after_the_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.tnq"
    path.write_text(line(1))
    made = feed(path, tmp_path)
    end = made.latest(START, False)
    made.refuse_more(end)
    path.write_text(line(1) + line(2))
    with pytest.raises(CheckpointError, match="has ended, but there is more"):
        feed(path, tmp_path).refuse_more(end)


def test_missing_and_unknown_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such stream"):
        FileSource(str(tmp_path / "nothing.tnq")).check()
    other = tmp_path / "s.doc"
    other.touch()
    with pytest.raises(UsageError, match="unknown stream format"):
        FileSource(str(other)).check()
