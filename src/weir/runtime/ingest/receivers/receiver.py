"""What all receivers share: the way of messages into their log, and for most of them a thread that connects,
takes messages until the connection breaks, and connects again after a while.

A receiver logs before it acknowledges. Where the log is full it stops reading, so that its peer has to wait.
"""

from __future__ import annotations

import random
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from weir.errors import BacklogFull, WeirError
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import PushSource

FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
"""Seconds before a connection is tried again: doubled with every failure."""
_FULL = 0.05

S = TypeVar("S", bound=PushSource)


@dataclass(slots=True)
class State:
    """How a receiver is doing; ``problem`` is what went wrong last."""

    connected: bool = False
    messages: int = 0
    refused: int = 0
    connections: int = 0
    problem: str = ""


class Receiver(ABC, Generic[S]):
    """Runs beside the job."""

    def __init__(self, source: S, writer: LogWriter) -> None:
        self.source = source
        self.writer = writer
        self.state = State()
        self.stopping = threading.Event()

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    def stop(self) -> None:
        """Take nothing more; what was taken is logged. Returns once all is quiet."""

    def put(
        self,
        payload: bytes,
        *,
        time: int | None = None,
        lane: str = "",
        note: tuple[str, str] | None = None,
        epoch: int | None = None,
    ) -> Future[int] | None:
        """Log a message, waiting while the log is full; None where the receiver was stopped meanwhile.

        ``time`` (µs) is for one that does not state its own. One that is too large becomes a dead letter.
        """
        large = len(payload) > self.source.max_message
        while not self.stopping.is_set():
            try:
                if large:
                    return self.refuse(payload, self.too_large, lane=lane, note=note)
                taken = self.writer.submit(
                    payload, format=self.source.format, time=time, lane=lane, note=note, epoch=epoch
                )
            except BacklogFull as error:
                self.state.problem = error.primary
                self.stopping.wait(_FULL)
                continue
            self.state.messages += 1
            return taken
        return None

    def refuse(
        self, payload: bytes, reason: str, *, lane: str = "", note: tuple[str, str] | None = None
    ) -> Future[int]:
        """Set a message aside."""
        self.state.refused += 1
        return self.writer.set_aside(payload, reason, lane=lane, note=note)

    @property
    def too_large(self) -> str:
        return f"larger than {self.source.max_message} bytes"


class Client(Receiver[S]):
    """A receiver with a thread of its own. ``hang_up`` makes a session that waits for its peer come back."""

    def __init__(self, source: S, writer: LogWriter) -> None:
        super().__init__(source, writer)
        self.delay = FIRST_DELAY
        self.hang_up: Callable[[], object] | None = None
        self._thread = threading.Thread(target=self._run, name=f"receiver {source.kind}", daemon=True)

    @abstractmethod
    def session(self) -> None:
        """Connect and take messages until the connection ends or ``stopping`` is set."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopping.set()
        while self._thread.is_alive():
            hang_up = self.hang_up
            if hang_up is not None:
                with suppress(OSError, RuntimeError):
                    hang_up()
            self._thread.join(0.1)

    def opened(self) -> None:
        """To be called once a session is connected."""
        self.state.connected = True
        self.state.connections += 1
        self.state.problem = ""

    def _run(self) -> None:
        failures = 0
        while not self.stopping.is_set():
            taken = self.state.messages
            try:
                self.session()
            except (OSError, WeirError, ValueError) as error:
                self.state.problem = str(error) or type(error).__name__
            finally:
                self.state.connected, self.hang_up = False, None
            failures = 0 if self.state.messages > taken else failures + 1
            longest = min(LONGEST_DELAY, self.delay * 2 ** max(0, failures - 1))
            self.stopping.wait(longest * random.uniform(0.5, 1.0))
