"""Messages that are pushed: checked, put into the durable log of their stream, acknowledged once synced.

A stream whose messages are of the present gets heartbeats when it falls silent, so that windows go on
closing; one that replays the past does not, because the wall clock says nothing about it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter

import pyoxigraph as ox

from weir.rdf.formats.guarded_parser import Unparsable, parse_quads
from weir.rdf.formats.media import Format, format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.formats.times import read_time
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.messages import Parsed, Rejected
from weir.rdf.xsd.moments import EPOCH
from weir.runtime.ingest.sources.log_writer import TNQ, LogWriter

MEDIA_TYPES = ("application/x-tnq", "text/tab-separated-values", "text/plain")
"""Media types under which stream lines are taken, beside their own."""
_RECENT = 500
_WRITTEN = len("2000-01-01T00:00:00.000000Z")
_BEAT = 0.5
"""Seconds between two heartbeats of a silent stream."""
LATENESS = 1.0
"""Seconds of silence after which a stream of the present gets a heartbeat, where nothing else is declared."""
_PRESENT = 60_000_000
"""Microseconds by which a message may differ from the wall clock and be one of the present."""
_LONGEST = 300.0
"""Seconds after its last message for which a silent stream gets heartbeats."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What of a body is good: the lines to log, each message's time and number of triples; and the rest."""

    data: bytes
    messages: list[tuple[int, int]]
    rejected: list[Rejected] = field(default_factory=list)


def check_lines(body: bytes) -> Checked:
    """The good lines of ``.tnq``; where all are good, as they mostly are, without a full parse."""
    lines = body.replace(b"\r\n", b"\n").split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    cut = [line.split(b"\t", 1) for line in lines]
    times = [_time(parts[0]) if len(parts) == 2 else None for parts in cut]
    good = None not in times
    if good:
        try:
            for _ in parse_quads(b"\n".join(parts[1] for parts in cut), ox.RdfFormat.N_QUADS):
                pass
        except Unparsable:
            good = False
    if good:
        return Checked(b"".join(line + b"\n" for line in lines), _messages(cut, times))
    found = parse_lines(body, scope="", key=b"")
    left_out = {each.line for each in found.rejected}
    kept = [
        line + b"\n"
        for number, line in enumerate(lines, 1)
        if number not in left_out and line.strip() and not line.startswith(b"#")
    ]
    return Checked(b"".join(kept), _timed(found), list(found.rejected))


def _time(text: bytes) -> int | None:
    """Microseconds; times as clocks write them by the short way."""
    if text.isdigit() and len(text) < 15:
        return int(text) * 1000
    try:
        if len(text) == _WRITTEN and text.endswith(b"Z"):
            moment = datetime.fromisoformat(text.decode("ascii")) - EPOCH
            return (moment.days * 86_400 + moment.seconds) * 1_000_000 + moment.microseconds
        return read_time(text.decode("ascii"))
    except ValueError:
        return None


def _timed(found: Parsed) -> list[tuple[int, int]]:
    return list(zip(found.messages.time.tolist(), found.messages.triples.tolist(), strict=True))


def _messages(cut: Sequence[list[bytes]], times: Sequence[int | None]) -> list[tuple[int, int]]:
    """The time and number of triples of each message: neighbouring lines of equal time are one."""
    runs = groupby(zip(times, cut, strict=True), key=itemgetter(0))
    return [(at or 0, sum(bool(parts[1].strip()) for _, parts in run)) for at, run in runs]


class PushedStream:
    """One stream that is pushed into."""

    def __init__(
        self, writer: LogWriter, lateness: float = LATENESS, clock: Callable[[], float] = time.time
    ) -> None:
        self.writer = writer
        self.lateness = lateness
        self.accepted = 0
        self.newest: int | None = None
        self.recent: deque[tuple[int, int]] = deque(maxlen=_RECENT)
        self.present = False
        self.latency: float | None = None
        self._pushed: deque[tuple[int, float]] = deque(maxlen=_RECENT)
        self._clock = clock
        self._counts: deque[tuple[float, int]] = deque(maxlen=4096)
        self._last = self._beaten = 0.0

    def push(
        self, body: bytes, media_type: str, at: int | None = None, *, complete: bool = False
    ) -> tuple[Future[int] | None, Checked]:
        """Submit what is good of a body; the future ends when it is on stable storage, None where there is
        nothing. A message is taken or refused as a whole, of stream lines each by itself. A ``complete`` push
        says that nothing more of its times will come."""
        form = form_of(media_type)
        checked = check_lines(body) if form.timed else self._check(body, form, at)
        if not checked.messages:
            return None, checked
        if not form.timed and at is None and not self.writer.predicate:
            at = checked.messages[0][0]
        epoch = self.writer.epoch
        future = self.writer.submit(checked.data, format=form.name, time=at, epoch=epoch)
        if complete:
            # Refused where what was submitted could not be written: the later of both answers for both.
            future = self.writer.complete(max(time for time, _ in checked.messages), epoch=epoch)
        self._note(checked.messages)
        return future, checked

    def _check(self, body: bytes, form: Format, at: int | None) -> Checked:
        given = [at if at is not None or self.writer.predicate else round(self._clock() * 1_000_000)]
        found = parse_payloads(
            [body],
            form,
            scope="",
            key=b"",
            positions=[0],
            times=given,
            time_predicate=self.writer.predicate,
            lines=[1],
        )
        return Checked(body, _timed(found), list(found.rejected))

    @property
    def rate(self) -> float:
        """Messages a second over the last five seconds."""
        since = self._clock() - 5
        return sum(count for when, count in list(self._counts) if when > since) / 5

    def beat(self) -> None:
        """Where the stream is silent and of the present, say that nothing older than ``lateness`` comes."""
        now = self._clock()
        silent = self.lateness <= now - self._last <= _LONGEST
        if self.present and silent and now - self._beaten >= _BEAT:
            self._beaten = now
            self.writer.heartbeat(round((now - self.lateness) * 1_000_000))

    def evaluated(self, through: int) -> None:
        """All messages before this time were evaluated: how long the latest of them took from its push."""
        pushed = None
        while self._pushed and self._pushed[0][0] < through:
            pushed = self._pushed.popleft()[1]
        if pushed is not None:
            self.latency = max(0.0, self._clock() - pushed)

    def _note(self, messages: list[tuple[int, int]]) -> None:
        now = self._clock()
        self.accepted += len(messages)
        self.recent.extend(messages[-_RECENT:])
        self.newest = max(self.newest or messages[-1][0], messages[-1][0])
        self._counts.append((now, len(messages)))
        self._pushed.append((messages[-1][0], now))
        self._last = now
        self.present = abs(messages[-1][0] - now * 1_000_000) < _PRESENT


def form_of(media_type: str) -> Format:
    """The format of a media type (raises ``UsageError``)."""
    return format_of(TNQ if media_type in MEDIA_TYPES else media_type)
