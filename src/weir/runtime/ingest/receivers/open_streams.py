"""The streams of a job that are pushed into: their logs, receivers and heartbeats.

Started with the job and stopped before it: a stream that is added to a running job gets its receiver, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from weir.errors import BacklogFull, UsageError
from weir.extras import load
from weir.linked.http import WallClock
from weir.runtime.ingest.receivers.receiver import Receiver
from weir.runtime.ingest.sources import Place, Source
from weir.runtime.ingest.sources.log_source import LogSource
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import (
    BroughtSource,
    FragmentsSource,
    LdesSource,
    MqttSource,
    SseSource,
    TcpSource,
    WebSocketSource,
)

AnyReceiver = Receiver[Any]

CONNECTIONS: Mapping[type[Source], tuple[str, str]] = {
    MqttSource: ("mqtt_receiver", "MqttReceiver"),
    WebSocketSource: ("websocket_receiver", "WebSocketReceiver"),
    SseSource: ("http_receivers", "SseReceiver"),
    TcpSource: ("tcp_receiver", "TcpReceiver"),
    FragmentsSource: ("http_receivers", "FragmentsReceiver"),
    LdesSource: ("http_receivers", "LdesReceiver"),
    BroughtSource: ("brought_receiver", "BroughtReceiver"),
}
"""The module and the receiver of each kind of source that has one; clients may be packages of an extra."""
QUIET = 1.0
"""Seconds without a message after which a heartbeat is sent."""
_LOOK = 0.1
_MARGIN = 100_000
"""Microseconds between the clock and its heartbeats: a message may be stamped and not logged yet."""


@dataclass(slots=True)
class OpenStream:
    """A stream with its log; ``beaten`` is when the last heartbeat was due, ``told`` its time. ``beat`` is
    what sends heartbeats instead."""

    source: LogSource
    writer: LogWriter
    receiver: AnyReceiver | None
    beaten: float = field(default_factory=time.monotonic)
    told: int | None = None
    beat: Callable[[], None] | None = None


class Receivers:
    """Opened streams by IRI; thread-safe. Logs of a job that is not ``durable`` are not synced; ``news`` is
    called when there is something new in one."""

    def __init__(self, own: Path, *, durable: bool = True, news: Callable[[], None] = lambda: None) -> None:
        self.own = own
        self._durable, self._news = durable, news
        self._open: dict[str, OpenStream] = {}
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self, stream: str, source: Source, log_name: str) -> None:
        """Open the log of a stream and start its receiver; nothing where it needs neither."""
        if not isinstance(source, LogSource):
            return
        with self._lock:
            if stream in self._open:
                return
            writer = source.writer(Place(stream, self.own, log_name), durable=self._durable, news=self._news)
            receiver: AnyReceiver | None = None
            try:
                if type(source) in CONNECTIONS:
                    module, name = CONNECTIONS[type(source)]
                    made = getattr(load(f"weir.runtime.ingest.receivers.{module}"), name)
                    receiver = made(source, writer)
            except BaseException:
                writer.close()
                raise
            self._open[stream] = OpenStream(source, writer, receiver)
            if receiver is not None:
                receiver.start()
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="heartbeats", daemon=True)
                self._thread.start()

    def writer(self, stream: str) -> LogWriter:
        """The log of a stream that takes messages from outside."""
        with self._lock:
            found = self._open.get(stream)
        if found is None:
            raise UsageError(f"the stream <{stream}> does not take messages", hint="its source is not push:")
        return found.writer

    def beat_by(self, stream: str, beat: Callable[[], None]) -> None:
        """Call ``beat`` again and again for the heartbeats of a stream, in place of those of its source."""
        with self._lock:
            self._open[stream].beat = beat

    def state(self) -> dict[str, dict[str, Any]]:
        """How each stream is doing: its promise, its connection, its log."""
        with self._lock:
            streams = dict(self._open)
        return {
            stream: {
                "kind": each.source.kind,
                "promise": each.source.promise,
                "backlog": each.writer.backlog(),
                **({} if each.receiver is None else asdict(each.receiver.state)),
            }
            for stream, each in streams.items()
        }

    def close(self, stream: str) -> None:
        """Stop one stream; what it took is logged."""
        with self._lock:
            found = self._open.pop(stream, None)
        if found is not None:
            if found.receiver is not None:
                found.receiver.stop()
            found.writer.close()

    def close_all(self) -> None:
        """Stop all streams."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        for stream in list(self._open):
            self.close(stream)
        self._over.clear()

    def _beat(self) -> None:
        while not self._over.wait(_LOOK):
            with self._lock:
                streams = list(self._open.values())
            for each in streams:
                try:
                    each.beat() if each.beat is not None else beat(each)
                except BacklogFull as error:
                    if each.receiver is not None:
                        each.receiver.state.problem = error.primary


def beat(each: OpenStream) -> None:
    """Send the heartbeat that is due, if one is."""
    kind, writer = each.source.beats, each.writer
    quiet = writer.quiet
    if kind == "off" or quiet < QUIET or time.monotonic() - each.beaten < QUIET:
        return
    if kind == "run" and each.receiver is not None and not each.receiver.state.connected:
        return
    if kind == "clock":
        at: int | None = WallClock.now() - _MARGIN
    else:
        at = writer.latest_time
        if at is not None:
            at += 1 if kind == "last" else int(quiet * 1_000_000)
    each.beaten = time.monotonic()
    if at is not None and (each.told is None or at > each.told):
        each.told = at
        writer.heartbeat(at)
