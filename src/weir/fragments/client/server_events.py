"""Server-Sent Events (WHATWG HTML, "Server-sent events"): events from the bytes of a response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_LONGEST_RETRY = 60.0


@dataclass(slots=True)
class Event:
    """What the server sent between two blank lines. ``data`` None: nothing but other fields."""

    data: bytes | None = None
    id: str | None = None
    retry: float | None = None
    large: bool = False


@dataclass(slots=True)
class EventReader:
    """Events from the bytes of a connection; no more than ``limit`` bytes of an event are kept."""

    limit: int
    _rest: bytes = b""
    _lines: list[bytes] = field(default_factory=list)
    _size: int = 0
    _event: Event = field(default_factory=Event)

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that end in ``chunk``. Lines end with CR LF, LF or CR."""
        data = self._rest + chunk
        held = b"\r" if data.endswith(b"\r") else b""
        lines = data[: len(data) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        if len(self._rest) > self.limit:
            self._event.large = True
            self._rest = self._rest[:64]
        for line in lines:
            if line:
                self._field(line)
                continue
            event, self._event = self._event, Event()
            if self._lines or event.large:
                event.data = b"\n".join(self._lines)
            self._lines, self._size = [], 0
            yield event

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + 1
            if self._size > self.limit + 1:
                self._event.large = True
            else:
                self._lines.append(value)
        elif name == b"id" and b"\0" not in value:
            self._event.id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit():
            self._event.retry = min(int(value) / 1000, _LONGEST_RETRY)
