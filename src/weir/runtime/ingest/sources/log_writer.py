"""The writer of a durable log: what it has acknowledged is on stable storage.

Appends are gathered while a sync is under way and share the next one (group commit), so the rate does not
hang on how long a disk takes to sync. One writer a log, many threads a writer.

A block of the log (``storage.segments``) is a line of JSON, then payloads as they came. The line has the
length and the time of each, and as runs (lane, format, how many) what is the same: so lines of equal time
from two pushes stay two messages, and workers parse many payloads at once. Parsing is left to them: in the
one driver it would cost nearly as much again as logging (measured: 16 µs to log a small message, 10 µs to
parse Turtle). The first block of a segment lists every lane there was, and all notes.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

from weir.errors import BacklogFull, StorageError, UsageError
from weir.linked.http import WallClock
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads, shown
from weir.rdf.formats.times import FIRST_TIME, LAST_TIME, read_time, write_time
from weir.runtime.ingest.parts import FILE_SHIFT
from weir.storage.segments import SegmentWriter

TNQ = "tnq"
LIMIT = 256 << 20
SEGMENT = 64 << 20
_BLOCK = 4 << 20
_LIVELY = 10.0
"""Seconds after which a silent lane gets no heartbeats any more: IDLE gives it up anyway."""
_MOST_LANES = 4096
OTHERS = "…"
"""The lane of all lanes beyond the most that are kept apart."""


@dataclass(slots=True)
class _Pending:
    lane: str
    payload: bytes = b""
    form: str = TNQ
    time: int | None = None
    note: tuple[str, str] | None = None
    reason: str | None = None
    done: Future[int] = field(default_factory=Future)


class LogWriter:
    """Appends to the log in ``folder``.

    ``predicate`` states the time of messages that have none of their own. Where more than ``limit_bytes`` of
    the log are unread, appending raises ``BacklogFull``: the caller holds its peer back and tries again.
    What is written to a log that is not ``durable`` is there for readers, and may be lost with the machine.
    ``news`` is called, in the writer's thread, whenever there is more to read.
    """

    def __init__(
        self,
        folder: Path,
        *,
        predicate: str | None = None,
        limit_bytes: int = LIMIT,
        segment_bytes: int = SEGMENT,
        durable: bool = True,
        news: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder = folder
        self._news = news
        self.predicate = predicate
        self.limit_bytes = limit_bytes
        self.segment_bytes = segment_bytes
        self.notes: dict[str, str] = {}
        self.epoch = 0
        self._log = SegmentWriter(folder, durable=durable)
        headers = [header_of(body)[0] for body in self._log.found]
        for header in headers:
            self.notes.update(header["notes"])
        self._heard = dict.fromkeys(lanes_of(headers), float("-inf"))
        self._latest = _Pending(next(reversed(self._heard), ""))
        self._last_append = time.monotonic()
        self._queue: deque[_Pending] = deque()
        self._queued = 0
        self._condition = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._commit_all, name=f"log {folder.name}", daemon=True)
        self._thread.start()

    @property
    def latest_time(self) -> int | None:
        """The time of the last message of the last payload, None where there is none or it is bad.

        Only this one payload is looked at, and only when somebody asks.
        """
        last = self._latest
        if last.time is not None:
            return last.time
        if last.form == TNQ:
            return _last_time(last.payload)
        found = parse_payloads(
            [last.payload],
            format_of(last.form),
            scope="",
            key=b"",
            positions=[0],
            time_predicate=self.predicate,
        )
        times = found.messages.time
        return int(times[-1]) if len(times) else None

    @property
    def latest(self) -> tuple[bytes, str]:
        """The latest payload, and the name of its format."""
        return self._latest.payload, self._latest.form

    @property
    def quiet(self) -> float:
        """Seconds since the last message."""
        return time.monotonic() - self._last_append

    def append(self, payload: bytes, *, format: str = TNQ, time: int | None = None, lane: str = "") -> int:
        """Log one payload, a message of its own, and return its position once it is on stable storage.

        ``format`` is a name, ending or media type (``rdf.formats``). ``time`` is in µs; None: it is in the
        lines, or stated by the predicate, or else that of arrival. What is no RDF becomes a dead letter of
        the job when it is read. Raises ``BacklogFull``.
        """
        return self.submit(payload, format=format, time=time, lane=lane).result()

    def submit(
        self,
        payload: bytes,
        *,
        format: str = TNQ,
        time: int | None = None,
        lane: str = "",
        note: tuple[str, str] | None = None,
        epoch: int | None = None,
    ) -> Future[int]:
        """As ``append``, without waiting. ``note`` (name, value) is remembered together with the payload.

        ``epoch`` is an earlier ``LogWriter.epoch``: where something since then could not be written, this is
        refused with ``StorageError``, so that a receiver can go back to what was.
        """
        form = format_of(format)
        if form.timed:
            time = None
        elif time is None:
            time = None if self.predicate else WallClock.now()
        elif not FIRST_TIME <= time <= LAST_TIME:
            raise UsageError(f"{time} µs is not within the years 1 to 9999")
        ended = payload if payload.endswith(b"\n") else payload + b"\n"
        return self._put(_Pending(lane, ended, form.name, time, note), message=True, epoch=epoch)

    def set_aside(
        self, payload: bytes, reason: str, *, lane: str = "", note: tuple[str, str] | None = None
    ) -> Future[int]:
        """Log that a payload was refused: it is counted and told as a dead letter of the job."""
        return self._put(_Pending(lane, shown(payload).encode(), note=note, reason=reason))

    def complete(self, time: int, lane: str = "", *, epoch: int | None = None) -> Future[int]:
        """Say that the messages of ``time`` and before are all there in a lane. ``epoch`` is as in
        ``submit``."""
        return self._put(_Pending(lane, _beat(time + 1)), epoch=epoch)

    def heartbeat(self, time: int) -> None:
        """Say that no message older than ``time`` will come, in any lane that is alive."""
        line = _beat(time)
        since = _clock() - _LIVELY
        with self._condition:
            lanes = [lane for lane, heard in self._heard.items() if heard >= since]
        for lane in lanes or [self._latest.lane]:
            self._put(_Pending(lane, line))

    def backlog(self) -> int:
        """Bytes that Spark has not committed yet."""
        return self._log.unread(look=True) + self._queued

    def close(self) -> None:
        """Sync what is there and let the log go."""
        with self._condition:
            if self._closing:
                return
            self._closing = True
            self._condition.notify()
        self._thread.join()
        self._log.close()

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put(self, item: _Pending, *, message: bool = False, epoch: int | None = None) -> Future[int]:
        with self._condition:
            if epoch is not None and epoch != self.epoch:
                raise StorageError(f"the log {self.folder} could not be written")
            if self._closing:
                raise BacklogFull(f"the log {self.folder.name} is closed")
            size = len(item.payload)
            room = self.limit_bytes - size - self._queued
            if self._log.unread() > room and self._log.unread(look=True) > room:
                raise BacklogFull(
                    f"{self._log.unread()} bytes of the log {self.folder.name} are unread",
                    hint="the job reads more slowly than messages come; try again later",
                )
            if item.lane not in self._heard and len(self._heard) >= _MOST_LANES:
                item.lane = OTHERS
            if message:
                self._heard[item.lane] = self._last_append = _clock()
                self._latest = item
            item.done.set_running_or_notify_cancel()
            self._queue.append(item)
            self._queued += size
            self._condition.notify()
        return item.done

    def _commit_all(self) -> None:
        while True:
            with self._condition:
                while not self._queue and not self._closing:
                    self._condition.wait()
                if not self._queue:
                    return
                items = self._taken()
            try:
                positions = self._write(items)
            except Exception as error:
                self._fail(items, error)
                continue
            for item, position in zip(items, positions, strict=True):
                item.done.set_result(position)
            self._news()

    def _fail(self, items: list[_Pending], error: Exception) -> None:
        """All that waits fails with what could not be written, so that the log has no gaps. Nothing of it was
        stored: once the disk is back it can be sent again."""
        with self._condition:
            self.epoch += 1
            items += self._queue
            self._queue.clear()
            self._queued = 0
        for item in items:
            item.done.set_exception(error)

    def _taken(self) -> list[_Pending]:
        """What goes into the next block, by lanes."""
        items: list[_Pending] = []
        size = 0
        while self._queue and (not items or size + len(self._queue[0].payload) <= _BLOCK):
            items.append(self._queue.popleft())
            size += len(items[-1].payload)
        self._queued -= size
        items.sort(key=lambda item: item.lane)
        return items

    def _write(self, items: list[_Pending]) -> list[int]:
        """One block more; the position of each item."""
        if self._log.mark.byte >= self.segment_bytes:
            self._log.roll()
        mark = self._log.mark
        told = [item for item in items if item.reason is None]
        runs = groupby((item.lane, item.form) for item in told)
        notes = dict(item.note for item in items if item.note is not None)
        lengths = [len(item.payload) for item in told]
        header = {
            "records": lengths,
            "times": [item.time for item in told],
            "runs": [(lane, form, sum(1 for _ in run)) for (lane, form), run in runs],
            "predicate": self.predicate,
            "lanes": [] if mark.byte else list(self._heard),
            "notes": notes if mark.byte else {**self.notes, **notes},
            "dead": [(i.lane, i.reason, i.payload.decode()) for i in items if i.reason is not None],
        }
        line = json.dumps(header, separators=(",", ":")).encode() + b"\n"
        self._log.append(line + b"".join(item.payload for item in told))
        self.notes.update(notes)
        place = (self._log.mark.segment << FILE_SHIFT) + self._log.mark.byte - sum(lengths)
        ends = accumulate((len(item.payload) if item.reason is None else 0 for item in items), initial=place)
        return list(ends)[:-1]


def header_of(body: bytes) -> tuple[dict[str, Any], int]:
    """What the first line of a block says, and where its payloads begin."""
    begin = body.index(b"\n") + 1
    header: dict[str, Any] = json.loads(body[:begin])
    return header, begin


def lanes_of(headers: Iterable[dict[str, Any]]) -> list[str]:
    """All lanes that some headers name, in the order of first mention."""
    named = ((*header["lanes"], *(lane for lane, *_ in header["runs"])) for header in headers)
    return list(dict.fromkeys(lane for lanes in named for lane in lanes))


def _beat(time: int) -> bytes:
    """A message without triples."""
    return f"{write_time(time)}\t\n".encode()


def _last_time(lines: bytes) -> int | None:
    """The time of the last of some stream lines."""
    line = lines.rstrip(b"\n").rpartition(b"\n")[2]
    return read_time(line.partition(b"\t")[0][:64].decode("ascii", errors="replace"))


_clock = time.monotonic
