"""Who starts a job again that has ended by itself."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress

from weir.server.service import Service

_LOG = logging.getLogger(__name__)
_PERIOD, _LONGEST = 1.0, 60.0
"""Seconds between two looks; the second one after failures."""


class Supervisor(threading.Thread):
    """A thread that looks once a second: a job that has failed is started again, after longer and longer
    pauses where it fails again. Whatever happens here, it goes on: there is nobody else to do it.

    Queries that take more than they may are no business of its own: workers end them (``worker.alone``), also
    while a batch is stuck.
    """

    def __init__(self, service: Service) -> None:
        super().__init__(name="weir-supervisor", daemon=True)
        self.service = service
        self._stopped = threading.Event()
        self._pause = _PERIOD

    def run(self) -> None:
        while not self._stopped.wait(self._pause):
            try:
                restarted = self.service.restart()
                self._pause = min(2 * self._pause, _LONGEST) if restarted else _PERIOD
            except BaseException as error:
                self._pause = min(2 * self._pause, _LONGEST)
                with suppress(BaseException):
                    _LOG.warning("the supervisor could not start the job again: %r", error)

    def stop(self) -> None:
        self._stopped.set()
        self.join(timeout=5)
