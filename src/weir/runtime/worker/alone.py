"""A query stands alone: whatever is raised while one is worked on is a failure of that one.

``Failures`` is what a group finds in one pass over a batch. ``TimeLimit`` ends the work on a query that takes
too long, or is to end because it was paused: by an exception raised into it from another thread, and where
that does not arrive, because the work is inside compiled code, by the end of the process, which leaves a note
of why.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from weir.errors import OutOfTime
from weir.kernel.contract import NOT_ITS_OWN, FailedAt
from weir.runtime.control.catalog import Registration
from weir.runtime.control.failure import Failure, reason_of
from weir.runtime.worker.watchdog import Watchdog


def failure_of(query: Registration, error: BaseException, slot: int = 0) -> Failure:
    """The failure that an error amounts to. One outside any evaluation undoes what the batch evaluated."""
    at, before = (error.time, error.before) if isinstance(error, FailedAt) else (None, 0)
    cause = error.__cause__ if isinstance(error, FailedAt) and error.__cause__ is not None else error
    delay = query.query.semantics.emit_after
    return Failure(query.name, query.since, reason_of(cause), at, before, slot, delay)


Stuck: TypeAlias = Callable[[Sequence[str]], None]
PAUSED = "it was paused while its batch was under way"
ROOM = 1 << 24
"""Answers of one query in one slot and batch, where what queries may take is limited: they lie in memory."""
_LOOK, _GRACE = 1.0, 10.0
"""Seconds between two looks at the work, and that work has to end which was told to."""
_IDLE = 3
"""Looks without work after which nobody looks any more."""


class Asked(OutOfTime):
    """Somebody wants the query to end now."""


class TimeLimit:
    """How long a query may take in one batch; ``seconds`` of None never end. ``asked`` tells which queries
    are to end at once; it is looked at while work takes long.

    ``stuck`` is called, in another thread, where work has gone on for as long again after it was told to end:
    it is given the names of the queries, and ends the process. ``dog`` does so where nothing can be called.
    """

    def __init__(self, seconds: float | None = None, stuck: Stuck | None = None) -> None:
        self.seconds = seconds
        self.stuck = stuck
        self.asked: Callable[[], Collection[str]] | None = None
        self.dog: Watchdog | None = None
        self._awake: Watchdog | None = None
        self._lock = threading.Lock()
        self._work: _Work | None = None
        self._watcher: threading.Thread | None = None

    @contextmanager
    def over(self, names: Sequence[str], share: float = 1.0) -> Iterator[None]:
        """The work on these queries, which may take this ``share`` of the time. Work does not nest."""
        if self.seconds is None and self.asked is None:
            yield
            return
        until = math.inf if self.seconds is None else time.monotonic() + self.seconds * share
        work = _Work(names, threading.get_ident(), until)
        with self._lock:
            self._work = work
            if self.dog is not None:
                self.dog.at(names)
                if self._awake is not self.dog:
                    self._rouse(self.dog)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="weir-time-limit", daemon=True)
                self._watcher.start()
        try:
            yield
        finally:
            work.leave()
            self._work = None

    def _rouse(self, dog: Watchdog | None) -> None:
        """This process is not stuck; ``dog`` is to find out where it is from now on, None where nothing is
        done."""
        if dog is not None:
            dog.beat()
        elif self._awake is not None:
            self._awake.rest()
        self._awake = dog

    def _watch(self) -> None:
        """Look after the work, in a thread that ends when there has been none for some looks."""
        before: _Work | None = None
        idle = 0
        grace = _GRACE if self.seconds is None else self.seconds
        while True:
            time.sleep(min(grace / 8, _LOOK))
            with self._lock:
                work = self._work
                self._rouse(None if work is None else self.dog)
                idle = idle + 1 if work is None else 0
                if idle == _IDLE:
                    self._watcher = None
                    return
            known, before = before, work
            if work is None:
                continue
            if time.monotonic() >= work.until:
                told, patience = work.interrupt(OutOfTime), grace
            elif work is known and self._is_asked(work.names):
                told, patience = work.interrupt(Asked), min(grace, _GRACE)
            else:
                continue
            if told and not work.done.wait(patience) and self.stuck is not None:
                self.stuck(work.names)

    def _is_asked(self, names: Sequence[str]) -> bool:
        """Whether one of these queries is to end. What cannot be read is looked at again."""
        asked: Collection[str] = ()
        if self.asked is not None:
            with suppress(OSError, ValueError):
                asked = self.asked()
        return bool(asked) and not set(asked).isdisjoint(names)


@dataclass(slots=True)
class _Work:
    """Work on queries, in the thread ``thread``."""

    names: Sequence[str]
    thread: int
    until: float
    done: threading.Event = field(default_factory=threading.Event)
    told: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def interrupt(self, kind: type[OutOfTime]) -> bool:
        """Raise an exception into the work; False where it is done."""
        with self._lock:
            if not self.done.is_set():
                self.told = True
                _raise_in(self.thread, kind)
                return True
        return False

    def leave(self) -> None:
        """The work is done: an exception that was sent and has not come yet comes here. It is not taken back:
        CPython 3.11 goes on looking for one then, and under a profiler does nothing else."""
        while not self.done.is_set():
            with suppress(OutOfTime), self._lock:
                self.done.set()
                if self.told:
                    _raise_in(self.thread, OutOfTime)
                    while True:
                        time.sleep(0)


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Have a thread raise an exception at its next step, in place of one that is still to come."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


class Failures:
    """The failures that one pass over a batch finds, by query, and how long the work on each took. ``rows``
    is how many a query may keep; where that is limited, ``room`` is how many answers it may give."""

    def __init__(self, limit: TimeLimit | None = None, slot: int = 0, rows: int | None = None) -> None:
        self.limit = limit or TimeLimit()
        self.slot = slot
        self.rows = rows
        self.room = None if rows is None else ROOM
        self.found: dict[str, Failure] = {}
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, query: Registration, *passing: type[BaseException]) -> Iterator[None]:
        """Work on one query. What it raises is a failure, but for errors of the kinds ``passing``."""
        began = time.perf_counter()
        try:
            with self.limit.over([query.name]):
                yield
        except BaseException as error:
            if isinstance(error, (*NOT_ITS_OWN, *passing)):
                raise
            self.add(failure_of(query, self.told(error), self.slot))
        finally:
            taken = time.perf_counter() - began
            self.seconds[query.name] = self.seconds.get(query.name, 0.0) + taken

    def told(self, error: BaseException) -> BaseException:
        """The error, with words where it is that of the time limit."""
        cause = error.__cause__ if isinstance(error, FailedAt) else error
        if isinstance(cause, OutOfTime) and not cause.args:
            asked = isinstance(cause, Asked)
            cause.args = (PAUSED if asked else f"it took longer than {self.limit.seconds:g} s in one batch",)
        return error

    def kept(self, query: Registration, rows: int) -> None:
        """A query keeps so many rows after the batch, which is as far as it goes where they are too many."""
        if self.rows is not None and rows > self.rows:
            reason = f"it kept {rows:,} rows, more than {self.rows:,}"
            self.add(Failure(query.name, query.since, reason, None, None, self.slot))

    def add(self, failure: Failure) -> None:
        """The first failure of a query counts."""
        self.found.setdefault(failure.name, failure)
