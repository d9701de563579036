"""Sinks that come and go while the service runs, by their addresses: each gets all results from then on.

A sink that cannot be opened when it is added is refused. One that fails later is set aside and says why: it
holds up neither the job nor other sinks.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from weir.errors import UsageError
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.output.sinks.making import sink_at
from weir.storage.places import file_name

_LOG = logging.getLogger(__name__)


class AddedSinks(Sink):
    """Sinks by address; what they need to remember lies in ``logs``, a folder for each. ``known`` are those
    to open when the job starts; ``failures`` has why each does not get results, None where it does."""

    form = "jsonl"
    promise = "each its own, until it fails"

    def __init__(self, logs: Path, known: Callable[[], Iterable[str]]) -> None:
        self.failures: dict[str, str | None] = {}
        self._logs, self._known = logs, known
        self._sinks: dict[str, Sink] = {}
        self._lock = threading.RLock()

    def add(self, address: str) -> None:
        """Open a sink; it gets whatever comes from now on."""
        sink = sink_at(address)(self._logs / file_name(address))
        if sink.form != self.form:
            raise UsageError(f"{address} does not take results as JSON lines")
        sink.open()
        with self._lock:
            self._sinks[address], self.failures[address] = sink, None

    def remove(self, address: str) -> None:
        """Close a sink."""
        with self._lock:
            self.failures.pop(address, None)
            sink = self._sinks.pop(address, None)
        if sink is not None:
            sink.close()

    def open(self) -> None:
        for address in self._known():
            if address not in self._sinks:
                self._guarded(address, lambda address=address: self.add(address))  # type: ignore[misc]

    def write(self, batch: int, results: Sequence[Results]) -> None:
        with self._lock:
            for address, sink in list(self._sinks.items()):
                self._guarded(address, lambda sink=sink: sink.write(batch, results))  # type: ignore[misc]

    def close(self) -> None:
        with self._lock:
            for address in list(self._sinks):
                self.remove(address)

    def _guarded(self, address: str, action: Callable[[], None]) -> None:
        """Do something with a sink; where that fails, it is set aside."""
        try:
            action()
        except Exception as error:
            _LOG.error("results go to %s no longer: %s", address, error)
            with self._lock:
                self._sinks.pop(address, None)
                self.failures[address] = str(error)
