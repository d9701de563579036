"""Threads for requests that block, kept apart by what they are for, so that none starves another.

SPARQL queries over the graphs may wait for one another; pushes and those who follow results never wait for
them, nor for changes, which wait for a batch. Pausing a query waits for no batch, but for a job that is being
started again. All else has the threads of the framework.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter

from weir.server.problems import Problem

R = TypeVar("R")


class Lane:
    """``threads`` for one purpose; where more than ``waiting`` requests wait for them, 503."""

    def __init__(self, what: str, threads: int, waiting: int) -> None:
        self.what = what
        self._waiting = waiting
        self._limiter = CapacityLimiter(threads)

    async def run(self, function: Callable[..., R], *values: Any, **options: Any) -> R:
        """Call a function that blocks."""
        if self._limiter.statistics().tasks_waiting >= self._waiting:
            raise Problem(503, f"too many {self.what} are waiting", headers={"Retry-After": "5"})
        return await anyio.to_thread.run_sync(partial(function, *values, **options), limiter=self._limiter)


class Lanes:
    """The lanes of one application."""

    def __init__(self) -> None:
        self.sparql = Lane("SPARQL queries", 2, 16)
        self.pushes = Lane("pushes", 8, 1_000)
        self.results = Lane("requests for results", 8, 5_000)
        self.changes = Lane("changes", 8, 1_000)
        self.pauses = Lane("pauses", 4, 1_000)
