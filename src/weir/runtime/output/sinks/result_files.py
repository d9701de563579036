"""Results as text, into one file, exactly once also across ``kill -9``, or to a stream, at least once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import IO

from weir.runtime.output.sinks.base import Results
from weir.storage import AppendFile, LineLog

Text = bytes | Iterable[memoryview]
Render = Callable[[Sequence[Results], str], tuple[Text, str]]
"""The text of a batch's results, given a note on the text before it (``""`` where there is none), and the
note for the text after it. What is written depends on these alone, so that a restart changes nothing."""


class ExactFile:
    """An append-only file with a log of (batch, length, note) beside the checkpoint.

    The log is written after the data. On opening, the file is cut to the last length logged, so what a crash
    left half-done is gone; a batch that the log already has is not written again. Both are synced to disk
    while the next batch is computed. ``note`` is what its writer wanted to remember with the last batch.
    """

    def __init__(self, path: Path, log: Path) -> None:
        self.path = path
        self._log = LineLog(log)
        self._file: AppendFile | None = None
        self._syncing: Thread | None = None
        self._last = -1
        self.note = ""

    def has(self, batch: int) -> bool:
        """Whether the batch was written before."""
        return batch <= self._last

    def open(self, *, lazy: bool = False) -> None:
        """Cut to what is known to be done; a lazy file is made when there is something to write."""
        self._log.path.parent.mkdir(parents=True, exist_ok=True)
        length = 0
        if logged := self._log.lines():
            batch, size, *note = logged[-1].split(maxsplit=2)
            self._last, length, self.note = int(batch), int(size), b"".join(note).decode()
        if lazy and not length:
            self.path.unlink(missing_ok=True)
        else:
            self._file = self._opened(length)

    def _opened(self, length: int) -> AppendFile:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return AppendFile(self.path, length)

    def append(self, batch: int, data: Text, note: str = "") -> bool:
        """Write a batch and log it; False where it was written before. A note is one line."""
        if self.has(batch):
            return False
        self._file = self._file or self._opened(0)
        self._wait_for_sync()
        for piece in [data] if isinstance(data, bytes) else data:
            self._file.append(piece, sync=False)
        self._log.append([f"{batch} {self._file.size} {note}".rstrip().encode()], sync=False)
        self._syncing = Thread(target=self._sync, name="weir-sync", daemon=True)
        self._syncing.start()
        self._last, self.note = batch, note
        return True

    def close(self) -> None:
        self._wait_for_sync()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _sync(self) -> None:
        assert self._file is not None
        self._file.sync()
        self._log.sync()

    def _wait_for_sync(self) -> None:
        """Wait until what was written last is on disk."""
        if self._syncing is not None:
            self._syncing.join()
            self._syncing = None


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
        data, self._note = self._render(some, self._note)
        if isinstance(self._target, ExactFile):
            self._target.append(batch, data, self._note)
        else:
            self._target.writelines([data] if isinstance(data, bytes) else data)
            self._target.flush()

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
