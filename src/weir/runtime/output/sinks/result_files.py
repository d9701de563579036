"""Result lines and other texts on disk, exactly once also across ``kill -9``: one file, or one a query.

A batch that comes again after a failure changes nothing. What goes to a stream goes at least once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TypeAlias

from weir.runtime.output.sinks.base import Results
from weir.storage import AppendFile, Commits
from weir.storage.files import add_lines, make_folder, remove, replace_file, writing
from weir.storage.places import file_name
from weir.storage.remote import RemotePath

Text = bytes | Iterable[memoryview]
Render = Callable[[Sequence[Results], str], tuple[Text, str]]
"""The text of a batch's results, given a note on the text before it (``""`` where there is none), and the
note for the text after it. What is written depends on these alone, so that a restart changes nothing."""


class ExactFile:
    """An append-only file with a log of (batch, length, note) beside the checkpoint.

    A batch is written and synced, then committed to the log. On opening, the file is cut to the last length
    that was committed, so what a crash left half-done is gone; a batch that the log already has is not
    written again. ``note`` is what its writer wanted to remember with the last batch.
    """

    def __init__(self, path: Path, log: Path) -> None:
        self.path = path
        self._commits = Commits(log)
        self._file: AppendFile | None = None

    @property
    def note(self) -> str:
        return str(self._commits.marks.get("", (0, ""))[1])

    def has(self, batch: int) -> bool:
        """Whether the batch was written before."""
        return self._commits.has(batch)

    def open(self, *, lazy: bool = False) -> None:
        """Cut to what is known to be done; a lazy file is made when there is something to write."""
        self._commits.open()
        length = self._length
        if lazy and not length:
            remove(self.path)
        else:
            self._file = self._opened(length)

    @property
    def _length(self) -> int:
        return int(self._commits.marks.get("", (0, ""))[0])

    def _opened(self, length: int) -> AppendFile:
        make_folder(self.path.parent)
        return AppendFile(self.path, length)

    def append(self, batch: int, data: Text, note: str = "") -> bool:
        """Write a batch and commit it; False where it was written before. Where this raises, the file is as
        it was."""
        if self.has(batch):
            return False
        self._file = file = self._file or self._opened(0)
        before = file.size
        size = file.append([data] if isinstance(data, bytes) else data)
        try:
            self._commits.commit(batch, {"": (size, note)})
        except BaseException:
            file.undo(before)
            raise
        return True

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class ExactParts(ExactFile):
    """The same on a store, where nothing is appended: a folder with a file for each batch that has results.

    A file is there whole or not at all. On opening, those of batches that were not committed are removed.
    """

    def open(self, *, lazy: bool = False) -> None:
        self._commits.open()
        for path in self.path.glob("batch-*"):
            number = path.name.removeprefix("batch-").partition(".")[0]
            if number.isdigit() and not self.has(int(number)):
                remove(path)

    def append(self, batch: int, data: Text, note: str = "") -> bool:
        if self.has(batch):
            return False
        with writing(self.path / f"batch-{batch:08}{self.path.suffix}") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
        self._commits.commit(batch, {"": (0, note)})
        return True


def exact_file(path: Path, log: Path) -> ExactFile:
    """What keeps results at ``path``, on a disk or on a store."""
    return (ExactParts if isinstance(path, RemotePath) else ExactFile)(path, log)


class SharedFile:
    """Lines of several runs, also of some that go on side by side: each adds its own, at least once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self, *, lazy: bool = True) -> None:
        """It is made when there is something to write."""

    def append(self, batch: int, data: bytes) -> None:
        if isinstance(self.path, RemotePath):
            name = f"batch-{batch:08}-{secrets.token_hex(8)}{self.path.suffix}"
            replace_file(self.path / name, data)
            return
        make_folder(self.path.parent)
        add_lines(self.path, data)

    def close(self) -> None:
        """Nothing is held open."""


Asides: TypeAlias = dict[str, ExactFile | SharedFile]


def asides_at(places: Mapping[str, Path | None], logs: Path | None) -> Asides:
    """The files of what is set aside, by kind: dead letters, late messages. Without ``logs`` that outlive the
    run nothing tells its lines from those of an earlier one: they are added."""
    return {
        kind: SharedFile(path) if logs is None else exact_file(path, logs / f"{kind}.commits")
        for kind, path in places.items()
        if path
    }


class TextSink:
    """A way to write results, into a file exactly once or to a stream at least once."""

    def __init__(self, render: Render, target: ExactFile | IO[bytes], form: str = "columns") -> None:
        self.form = form
        self.promise = "exactly once" if isinstance(target, ExactFile) else "at least once"
        self._render = render
        self._target = target
        self._note = ""

    def open(self) -> None:
        if isinstance(self._target, ExactFile):
            self._target.open()
            self._note = self._target.note

    def write(self, batch: int, results: Sequence[Results]) -> None:
        some = [result for result in results if len(result)]
        if not some or (isinstance(self._target, ExactFile) and self._target.has(batch)):
            return
        data, note = self._render(some, self._note)
        if isinstance(self._target, ExactFile):
            self._target.append(batch, data, note)
        else:
            self._target.writelines([data] if isinstance(data, bytes) else data)
            self._target.flush()
        self._note = note

    def close(self) -> None:
        """A stream is left open: it is not ours."""
        if isinstance(self._target, ExactFile):
            self._target.close()


def json_lines_sink(target: ExactFile | IO[bytes]) -> TextSink:
    """Result lines, as they are."""
    return TextSink(lambda results, note: (pieces(results), note), target, "jsonl")


def pieces(results: Sequence[Results]) -> Iterator[memoryview]:
    """The result lines of all results one after the other; Arrow holds them that way already."""
    for result in results:
        for block in result.blocks():
            for chunk in block["line"].chunks:
                offsets, data = chunk.buffers()[1:]
                starts = memoryview(offsets).cast("q")
                first, last = starts[chunk.offset], starts[chunk.offset + len(chunk)]
                if last > first:
                    yield memoryview(data)[first:last]


def joined(results: Sequence[Results]) -> bytes:
    """The same as one text."""
    return b"".join(pieces(results))


def lines_of(result: Results) -> list[bytes]:
    """The result lines one by one, without their ends."""
    return joined([result]).splitlines()


class FilePerQuery:
    """Result lines in ``folder/NAME.jsonl``, a file for each query, made with its first result.

    One log has the lengths of all files: a batch is there in all of them or in none.
    """

    form = "jsonl"
    promise = "exactly once"

    def __init__(self, folder: Path, logs: Path) -> None:
        self.folder = folder
        self._commits = Commits(logs / f"{file_name(str(folder.absolute()))}.files.commits")
        self._files: dict[str, AppendFile] = {}

    def path(self, query: str) -> Path:
        """Where the results of a query go."""
        return self.folder / f"{file_name(query)}.jsonl"

    def open(self) -> None:
        """Cut every file to what is known to be done, also those of queries that write no more."""
        make_folder(self.folder)
        self._commits.open()
        for query in self._commits.marks:
            self._file(query)

    def write(self, batch: int, results: Sequence[Results]) -> None:
        some = [result for result in results if len(result)]
        if not some or self._commits.has(batch):
            return
        before = {result.name: self._file(result.name).size for result in some}
        try:
            for result in some:
                self._files[result.name].append(pieces([result]), sync=False)
            AppendFile.sync_all([self._files[name] for name in before])
            self._commits.commit(batch, {name: self._files[name].size for name in before})
        except BaseException:
            for name, size in before.items():
                self._files[name].undo(size)
            raise

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}

    def _file(self, query: str) -> AppendFile:
        if query not in self._files:
            self._files[query] = AppendFile(self.path(query), self._commits.marks.get(query, 0))
        return self._files[query]
