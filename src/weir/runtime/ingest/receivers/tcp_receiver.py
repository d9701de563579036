"""A TCP socket: lines, one after the other."""

from __future__ import annotations

import socket

from weir.rdf.formats.media import format_of
from weir.runtime.ingest.receivers.receiver import Client
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import TcpSource

_CHUNK = 1 << 16
_PATIENCE = 0.2
"""Seconds after which the lines of one time are taken for a whole message."""


class TcpReceiver(Client[TcpSource]):
    """What ends with a line of another time, with a pause or with the connection is a message."""

    def __init__(self, source: TcpSource, writer: LogWriter) -> None:
        super().__init__(source, writer)
        self.timed = format_of(source.format).timed
        self._skipping = False

    def session(self) -> None:
        source = self.source
        with socket.create_connection((source.host, source.port), source.timeout) as peer:
            self.hang_up = lambda: peer.shutdown(socket.SHUT_RDWR)
            self.opened()
            peer.settimeout(_PATIENCE)
            self._read(peer)
        self.state.problem = "the server closed the connection"

    def _read(self, peer: socket.socket) -> None:
        rest, held = b"", b""
        self._skipping = False
        while not self.stopping.is_set():
            try:
                chunk = peer.recv(_CHUNK)
            except TimeoutError:
                self._put(held)
                held = b""
                continue
            lines, rest = self._lines(rest + chunk, ended=not chunk)
            held = self._messages(held + lines)
            if len(held) > self.source.max_message:
                self._put(held)
                held = b""
            if not chunk:
                self._put(held)
                return

    def _lines(self, data: bytes, *, ended: bool) -> tuple[bytes, bytes]:
        """The whole lines, and the beginning of the next; what is left of a line that is too long is not
        looked at."""
        if self._skipping:
            end = data.find(b"\n") + 1
            if not end:
                return b"", b""
            self._skipping, data = False, data[end:]
        if ended:
            return (data + b"\n" if data and not data.endswith(b"\n") else data), b""
        cut = data.rfind(b"\n") + 1
        if len(data) - cut > self.source.max_message:
            self.refuse(data[cut:], self.too_large)
            self._skipping = True
            return data[:cut], b""
        return data[:cut], data[cut:]

    def _messages(self, lines: bytes) -> bytes:
        """Log the messages that are over; the lines of the last one, which may go on."""
        if not self.timed:
            for line in lines.splitlines():
                self._put(line)
            return b""
        if not lines:
            return b""
        last = lines.rstrip(b"\n").rpartition(b"\n")[2]
        stamp = last.partition(b"\t")[0] + b"\t"
        cut = len(lines)
        while cut > 0:
            begin = lines.rfind(b"\n", 0, cut - 1) + 1
            if not lines.startswith(stamp, begin):
                break
            cut = begin
        self._put(lines[:cut])
        return lines[cut:]

    def _put(self, payload: bytes) -> None:
        if payload.strip():
            self.put(payload)
