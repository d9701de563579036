"""A sink that keeps the results of every query as a log of its own, exactly once also across ``kill -9``.

Lines of a batch are written to the tails and synced, then one line of the commit log says how long each
tail is; a batch that the log has is not written again. On opening, tails are cut to what the log says.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.lines import joined
from weir.server.resource_ids import slug
from weir.server.tail import Mark, Tail

_MANY = 4096
"""Commits after which the log is written anew, with one line."""


class ResultLog:
    """Tails by the names of queries. ``listeners`` are called with the names that have something new, from
    the thread of the sink, once it can be read."""

    form = "jsonl"
    promise = "exactly once"

    def __init__(self, folder: Path, *, segment: int = 8 << 20, keep: int = 64 << 20) -> None:
        self.folder = folder
        self.segment = segment
        self.keep = keep
        self.listeners: list[Callable[[Sequence[str]], None]] = []
        self._log = folder / "commits.jsonl"
        self._marks: dict[str, Mark] = {}
        self._tails: dict[str, Tail] = {}
        self._last = -1
        self._commits = 0
        self._opened = False
        self._lock = threading.RLock()

    def open(self) -> None:
        """Read the commit log, write it anew in one line, and cut the tails to it; once."""
        with self._lock:
            if self._opened:
                return
            self._opened = True
            self.folder.mkdir(parents=True, exist_ok=True)
            for line in _whole_lines(self._log):
                entry = json.loads(line)
                self._last = max(self._last, entry["batch"])
                self._marks |= {name: Mark(*mark) for name, mark in entry["tails"].items()}
            self._rewrite()

    def tail(self, name: str) -> Tail:
        """The tail of a query, made where it is new."""
        with self._lock:
            found = self._tails.get(name)
            if found is None:
                found = Tail(self.folder / slug(name), segment=self.segment, keep=self.keep)
                found.open(self._marks.get(name, Mark(0, 0, 0)))
                self._tails[name] = found
            return found

    def write(self, batch: int, results: Sequence[Results]) -> None:
        with self._lock:
            if batch <= self._last:
                return
            written: dict[str, tuple[Mark, bytes]] = {}
            for answers in results:
                if len(answers):
                    data = joined([answers])
                    written[answers.name] = self.tail(answers.name).append(data, len(answers)), data
            if not written:
                return
            self._commit(batch, {name: mark for name, (mark, _) in written.items()})
            for name, (mark, data) in written.items():
                self._tails[name].publish(mark, data)
        for listener in self.listeners:
            listener(tuple(written))

    def erase(self, name: str) -> None:
        """Forget the results of a query that was dropped; a later one of its name goes on counting."""
        with self._lock:
            self._commit(self._last, {name: self.tail(name).erase()})

    def close(self) -> None:
        """Every write was synced."""

    def _commit(self, batch: int, marks: dict[str, Mark]) -> None:
        self._marks |= marks
        self._last = batch
        self._commits += 1
        if self._commits > _MANY:
            self._rewrite()
            return
        with open(self._log, "ab") as log:
            log.write(_entry(batch, marks))
            log.flush()
            os.fsync(log.fileno())

    def _rewrite(self) -> None:
        partial = self._log.with_suffix(".partial")
        with open(partial, "wb") as log:
            log.write(_entry(self._last, self._marks))
            log.flush()
            os.fsync(log.fileno())
        os.replace(partial, self._log)
        self._commits = 0


def _entry(batch: int, marks: dict[str, Mark]) -> bytes:
    tails = {name: [mark.first, mark.size, mark.end] for name, mark in marks.items()}
    return json.dumps({"batch": batch, "time": time.time(), "tails": tails}).encode() + b"\n"


def _whole_lines(path: Path) -> Iterable[bytes]:
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1].splitlines()
