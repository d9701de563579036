"""The supervisor: a job that has failed is started again; queries that keep more than they may are paused.

A query cannot be stopped in mid-evaluation; what it keeps is told after every batch, and what is too much
then ends it before the next. Where batches take longer than they may, the query that keeps most is the one.
"""

from __future__ import annotations

import logging
import threading
import time

from weir.errors import WeirError
from weir.server.problems import Problem
from weir.server.service import Service

_LOG = logging.getLogger(__name__)
_PERIOD, _LONGEST = 1.0, 60.0


class Supervisor(threading.Thread):
    """A thread that looks once a second."""

    def __init__(self, service: Service) -> None:
        super().__init__(name="weir-supervisor", daemon=True)
        self.service = service
        self._stopped = threading.Event()
        self._batch = -1
        self._since = time.monotonic()
        self._pause = _PERIOD

    def run(self) -> None:
        while not self._stopped.wait(self._pause):
            try:
                restarted = self.service.restart()
                self._pause = min(2 * self._pause, _LONGEST) if restarted else _PERIOD
                if not restarted:
                    self.look()
            except (WeirError, Problem) as error:
                _LOG.warning("the supervisor could not act: %s", error)
                self._pause = min(2 * self._pause, _LONGEST)

    def look(self) -> None:
        """Pause whatever is over its limits."""
        service, limits = self.service, self.service.settings.limits
        job = service.job
        with job.metrics.lock:
            kept = {name: int(told.get("live_rows", 0)) for name, told in job.metrics.queries.items()}
            batch = job.metrics.batch
        running = {each.name for each in service.queries() if not each.paused}
        kept = {name: rows for name, rows in kept.items() if name in running}
        for name, rows in kept.items():
            if rows > limits.state_rows:
                service.pause(name, f"it kept {rows:,} rows, more than {limits.state_rows:,}")
        if batch != self._batch or not service.busy:
            self._batch, self._since = batch, time.monotonic()
        elif time.monotonic() - self._since > limits.batch_seconds and kept:
            name = max(kept, key=lambda each: kept[each])
            service.pause(name, f"a batch took longer than {limits.batch_seconds:g} s")
            self._since = time.monotonic()

    def stop(self) -> None:
        self._stopped.set()
        self.join(timeout=5)
