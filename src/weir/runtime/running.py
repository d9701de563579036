"""A job that runs, as its user sees it: what is registered, pushed into, changed and counted while it does.

Which runner moves the batches is up to those who inherit from this.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from weir.language.update import Update
from weir.runtime.control.catalog import StreamEntry
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.failure import Failure
from weir.runtime.control.graph_updates import GraphUpdates, When
from weir.runtime.control.planning import ControlWriter, feed_key
from weir.runtime.control.registry import QueryInfo, Registry, StreamInfo
from weir.runtime.ingest.receivers import Receivers
from weir.runtime.ingest.sources import Source, source_at, source_of
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.base import Sink
from weir.runtime.output.sinks.result_files import Asides
from weir.runtime.pipeline import Delivery
from weir.runtime.worker.watchdog import WORKING, working
from weir.storage.places import beside_driver, path_at


class RunningJob(ABC):
    """A job over one checkpoint; ``news`` is called when something was pushed into one of its streams."""

    def __init__(
        self,
        control: ControlWriter,
        extractor: Extractor,
        sinks: Sequence[Sink],
        *,
        asides: Asides,
        news: Callable[[], None] = lambda: None,
    ) -> None:
        checkpoint = control.checkpoint
        self.checkpoint: Checkpoint = checkpoint
        self.graphs = GraphUpdates(control, extractor)
        self.registry = Registry(control, extractor)
        self.registry.keep_late = "late" in asides
        self.observers: list[Callable[[Metrics], None]] = []
        self.afterwards: list[Callable[[], None]] = []
        self.receivers = Receivers(checkpoint.own, durable=checkpoint.durable, news=news)
        self.registry.opened.append(self._receive)
        self.registry.closed.append(lambda entry: self.receivers.close(entry.iri))
        self._sinks = sinks
        self._asides = asides
        self._delivery = Delivery(sinks, control.fail, asides, check=checkpoint.check)
        self._delivery.planned = checkpoint.planned
        self.metrics.failures |= self.registry.catalog().failures

    @property
    def metrics(self) -> Metrics:
        """What has happened so far, in numbers."""
        return self._delivery.metrics

    @property
    @abstractmethod
    def active(self) -> bool: ...

    def start(self) -> None:
        """Start; the first batch is planned at once."""
        for sink in self._sinks:
            sink.open()
        for aside in self._asides.values():
            aside.open(lazy=True)
        self._prepare()
        self.metrics.started = time.time()
        try:
            for entry in self.registry.catalog().streams.values():
                self._receive(entry)
            self._launch()
        except BaseException:
            self.receivers.close_all()
            raise

    def _prepare(self) -> None:
        """Once the sinks are open, before anything is received."""
        return

    @abstractmethod
    def _launch(self) -> None: ...

    @abstractmethod
    def wait(self, timeout: int | None = None) -> bool:
        """Wait for the end; whether it has come. A failure is raised as Weir's own error."""

    @abstractmethod
    def stop(self) -> None:
        """Stop at a batch boundary, and close the sinks."""

    @abstractmethod
    def finish(self) -> None:
        """Declare the input of all sources over: what is there is read, then every window is reported."""

    def update(self, request: str | Sequence[Update], at: When = None) -> int:
        """Change static graphs by INSERT DATA and DELETE DATA; the number of the update.

        It counts from ``at`` (µs since 1970, an xsd:dateTime or a ``datetime``) or from each query's
        present, whichever is later; it is an evaluation time under the ticks CHANGE and TIME alone.
        """
        return self.graphs.update(request, at)

    def insert(self, graph: str | None, source: str | Path, at: When = None) -> int:
        """Add the triples of a file or folder to a graph, None for the default graph; as ``update``."""
        return self.graphs.insert(graph, path_at(source, "a graph"), at)

    def register(
        self, text: str, *, name: str | None = None, dialect: str = "auto", evaluator: str = "auto"
    ) -> str:
        """Register a query while the job runs; its name, which is that of REGISTER where it has one.

        It counts when this returns, and sees the messages of all batches that were not planned by then.
        """
        return self.registry.register(text, name, dialect, evaluator)

    def register_all(
        self, texts: Mapping[str, str], *, dialect: str = "auto", evaluator: str = "auto"
    ) -> list[str]:
        """Register queries by name, all from the same batch on; where one is refused, none is registered."""
        return self.registry.register_all(texts, dialect, evaluator)

    def drop(self, name: str) -> None:
        """Drop a query, and its state; refused while another one reads its output."""
        self.metrics.forget(name, self.registry.drop(name))

    def pause(self, name: str) -> None:
        """Pause a query: as ``drop``, but it stays registered and can be resumed. A batch that is under way,
        stuck perhaps, is not waited for; a worker that is at the query in it ends it."""
        batch = self.registry.pause(name)
        if batch is not None:
            self.metrics.forget(name, batch)

    def resume(self, name: str) -> None:
        """Resume a paused or failed query: as registered anew. What came while it did not run it never sees,
        and its windows begin empty."""
        batch = self.registry.resume(name)
        if batch is not None:
            self.metrics.forget(name, batch)

    def add_stream(self, iri: str, source: Source | str | Path) -> None:
        """Add a stream while the job runs, maybe as a path or an address. A finite source waits for the first
        query that reads it."""
        self.registry.add_stream(iri, source_at(source))

    def drop_stream(self, iri: str) -> None:
        """Drop a stream; refused while a query reads it, also a paused one."""
        self.registry.drop_stream(iri)

    @property
    def failures(self) -> dict[str, Failure]:
        """The queries that failed and were not resumed, with when and why."""
        return dict(self.registry.catalog().failures)

    def working(self) -> dict[str, float]:
        """The queries that are being worked on in the batch that is under way, with the seconds since; known
        where there is a limit on their time."""
        checkpoint = self.checkpoint
        batch = checkpoint.next_batch() - 1
        return working(beside_driver(checkpoint.own) / WORKING, batch) if checkpoint.under_way() else {}

    def warnings(self, name: str) -> tuple[str, ...]:
        """What is allowed in a query and hardly meant, as it stands: graphs that nobody gave, variables that
        can never be bound."""
        found = self.registry.catalog().every_query.get(name)
        extractor = self.registry.extractor
        return () if found is None or extractor is None else extractor.warnings(found.query)

    def queries(self) -> list[QueryInfo]:
        """What is registered, counting changes whose batch is still to come."""
        return self.registry.queries()

    def streams(self) -> list[StreamInfo]:
        """The streams that have a source, with what reads them."""
        return self.registry.streams()

    def _receive(self, entry: StreamEntry) -> None:
        """Open what a stream needs in the driver: a log that messages are pushed into, a connection."""
        if entry.source is not None:
            self.receivers.open(entry.iri, source_of(entry.source), feed_key(entry))

    def _close(self) -> None:
        self.receivers.close_all()
        self.graphs.close()
        for sink in self._sinks:
            sink.close()
        for aside in self._asides.values():
            aside.close()
        while self.afterwards:
            self.afterwards.pop()()
