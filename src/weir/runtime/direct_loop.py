"""The direct runner: a job whose batches run in a thread of this process, without Spark.

It has every source, sink and change of a running job, starts at once and answers in milliseconds. What the
state store would hold is in memory, so nothing is left of it after a crash.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from weir.errors import EvaluationError, UsageError, WeirError
from weir.linked.graphs.large_scans import StreamedScan
from weir.linked.http import WallClock
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.failure import UNLIMITED, QueryLimits
from weir.runtime.control.planning import FINISH, ControlWriter
from weir.runtime.direct import Batches
from weir.runtime.output.sinks.base import Sink
from weir.runtime.output.sinks.result_files import Asides
from weir.runtime.running import RunningJob
from weir.storage.files import replace_file

_LONG = 0.5
"""Seconds after which a batch is not waited for by who cannot."""
_LIVELY = 1.0
_LOOKS = (0.01, 0.1)
"""Seconds between two looks at sources that tell nobody of news: within a lively while after the last batch,
and later."""


class Turns:
    """Whose turn it is: that of a batch, or of changes to what is registered. Changes go first."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._asking = 0
        self._batch: int | None = None

    @contextmanager
    def batch(self, number: int) -> Iterator[None]:
        """No change is made in here, but one that cannot wait."""
        with self._condition:
            while self._asking:
                self._condition.wait()
            self._batch = number
        try:
            yield
        finally:
            with self._condition:
                self._batch = None
                self._condition.notify_all()

    @contextmanager
    def change(self, wait: bool) -> Iterator[int | None]:
        """No batch begins in here, and none is under way; without ``wait`` one that takes long may be: its
        number."""
        with self._condition:
            self._asking += 1
            self._condition.wait_for(lambda: self._batch is None, None if wait else _LONG)
            under_way = self._batch
        try:
            yield under_way
        finally:
            with self._condition:
                self._asking -= 1
                self._condition.notify_all()


class DirectLoop(RunningJob):
    """A job in this process. One that ``ends`` does so with its sources; another one goes on until it is
    stopped. A query that takes more than ``limits`` allow fails."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        extractor: Extractor,
        sinks: Sequence[Sink],
        *,
        ends: bool,
        asides: Asides,
        limits: QueryLimits = UNLIMITED,
    ) -> None:
        self._ends = ends
        self._turns = Turns()
        self._news, self._stopping, self._over = threading.Event(), threading.Event(), threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        control = ControlWriter(checkpoint, self._over.is_set, self._held)
        super().__init__(control, extractor, sinks, asides=asides, news=self._news.set)
        self._batches = Batches(self._delivery, limits=limits, sparing=True)

    @property
    def active(self) -> bool:
        return self._thread is not None and not self._over.is_set()

    def wait(self, timeout: int | None = None) -> bool:
        if not self._over.wait(timeout):
            return False
        self._close()
        if self._failure is None:
            return True
        failure, self._failure = self._failure, None
        if isinstance(failure, WeirError):
            raise failure
        raise EvaluationError(f"the job failed: {type(failure).__name__}: {failure}") from failure

    def stop(self) -> None:
        if self._thread is None:
            return
        self.receivers.close_all()
        self._stopping.set()
        self._news.set()
        self._thread.join()
        self._close()

    def finish(self) -> None:
        self.receivers.close_all()
        replace_file(self.checkpoint.own / FINISH, b"", durable=False)
        self._news.set()

    @contextmanager
    def _held(self, wait: bool) -> Iterator[int]:
        with self._turns.change(wait) as under_way:
            yield self._batches.number if under_way is None else under_way + 1

    def _launch(self) -> None:
        self._batches.over(self.checkpoint)
        self._thread = threading.Thread(target=self._work, name="weir", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        """Batch after batch, until nothing more will come or the job is stopped."""
        last = time.monotonic()
        try:
            while not self._stopping.is_set():
                self._news.clear()
                with self._turns.batch(self._batches.number):
                    done = self._batches.next(WallClock.now())
                if done is not None:
                    last = time.monotonic()
                    for observer in self.observers:
                        observer(self.metrics)
                elif self._ends:
                    return
                else:
                    self._news.wait(_LOOKS[time.monotonic() - last > _LIVELY])
        except BaseException as error:
            self._failure = error
        finally:
            self._over.set()


class DirectRunner:
    """What starts jobs in this process."""

    durable = False
    cores = 1
    scanner = StreamedScan

    def __init__(self, master: object, spark: object) -> None:
        if master is not None or spark is not None:
            raise UsageError("the direct runner has no Spark", hint='leave out runner="direct" to use Spark')

    def job(
        self,
        checkpoint: Checkpoint,
        extractor: Extractor,
        sinks: Sequence[Sink],
        rows: object,
        *,
        ends: bool,
        asides: Asides,
        limits: QueryLimits,
    ) -> DirectLoop:
        """A job that is yet to be started."""
        return DirectLoop(checkpoint, extractor, sinks, ends=ends, asides=asides, limits=limits)
