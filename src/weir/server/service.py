"""The service: one job and who watches over it, the streams pushed into it, the results that come out.

Everything registered lives in the job's checkpoint; results and names lie beside it. All methods may block
(a change waits for a batch to be planned), so the routes call them in threads.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from weir.engine import Engine
from weir.errors import UsageError, WeirError
from weir.explain import explain_text
from weir.fragments.protocol.annotation import Annotation, Labeling, Method
from weir.fragments.server import Dataset, FragmentsApp, Publisher
from weir.language import Query
from weir.language.algebra.query import R2S
from weir.plan.analysis.chain import parsed
from weir.runtime.control.failure import QueryLimits
from weir.runtime.control.registry import QueryInfo, StreamInfo
from weir.runtime.ingest.sources.log_source import LogSource
from weir.runtime.output.sinks.base import FragmentsSink
from weir.runtime.output.subscriptions import Channels
from weir.runtime.running import RunningJob
from weir.server.drawing import windows_of
from weir.server.problems import Problem, conflicts
from weir.server.pushed_streams import LATENESS, PushedStream
from weir.server.resources import Records, slug
from weir.server.result_log import ResultLog
from weir.server.settings import Settings, check_query
from weir.server.sparql_process import SparqlProcess
from weir.spark import SparkSession
from weir.storage import files

_LOG = logging.getLogger(__name__)
_PERIOD, _LONGEST = 1.0, 60.0
"""Seconds between two looks of the supervisor; the second one after failures."""
_PATIENCE, _LOOK = 30.0, 0.1
"""Seconds for which a change waits for a job that is being started again, and between two looks."""


class Service:
    """``start`` before the first request, ``stop`` after the last. ``failure`` is why the job has last ended
    by itself."""

    def __init__(self, settings: Settings, spark: SparkSession | None = None) -> None:
        self.settings = settings
        self.spark = spark
        settings.data.mkdir(parents=True, exist_ok=True)
        # Results, messages and the key of ids are nobody else's business on this machine.
        settings.data.chmod(0o700)
        self.log = ResultLog(settings.data / "results", segment=settings.segment, keep=settings.keep)
        self.channels = Channels(self.log.tail)
        self.log.listeners.append(self.channels.tell)
        self.records = Records(settings.data / "service.json")
        self.fragments = FragmentsApp(cors=False)
        self.sink = FragmentsSink({})
        self.sparql = SparqlProcess(settings.limits.sparql, settings.limits.sparql_memory)
        self.pushed: dict[str, PushedStream] = {}
        self._by_id: dict[str, str] = {}
        self.failure: str | None = None
        self.restarts = 0
        self._job: RunningJob | None = None

    @property
    def job(self) -> RunningJob:
        if self._job is None:
            raise Problem(503, "the service is starting", headers={"Retry-After": "2"})
        return self._job

    @property
    def running(self) -> RunningJob:
        """The job for changes, which it takes only while it runs: one that is being started again is waited
        for."""
        until = time.monotonic() + _PATIENCE
        while self._job is not None and not self._job.active and time.monotonic() < until:
            time.sleep(_LOOK)
        if not self.job.active:
            raise Problem(503, "the job is being started again", self.failure, headers={"Retry-After": "5"})
        return self.job

    @property
    def healthy(self) -> bool:
        return self._job is not None and self._job.active

    def start(self) -> None:
        """Start the job with whatever the checkpoint has, once there is a place for what is published."""
        for name in self.records.all("published"):
            self._publish(name)
        self._launch()

    def _launch(self) -> None:
        settings = self.settings
        engine = Engine(
            checkpoint=settings.data / "checkpoint",
            master=settings.master,
            spark=self.spark,
            routing=settings.routing,
            limits=QueryLimits(settings.limits.batch_seconds, settings.limits.state_rows),
        )
        engine.service("*", allow=bool(settings.allowed.hosts), inner=False)
        for endpoint, values in settings.services.items():
            engine.service(endpoint, **values)
        for iri, source in settings.graphs:
            engine.graph(iri, source)
        for iri, address in settings.streams:
            engine.stream(iri, address)
        job = engine.start(
            sinks=[self.log, self.sink, *settings.sinks],
            dead_letters=settings.data / "dead-letters.jsonl",
            late=settings.data / "late.jsonl",
            live=True,
            resume=True,
        )
        # Changes wait for Spark to plan: once it has done so, for no longer than a batch.
        with job.registry.control.held(True):
            self._job = job
        self.pushed.clear()
        for stream in job.streams():
            self._open(stream)

    def restart(self) -> bool:
        """Start the job again where it has ended by itself; whether it had. Nothing is lost or doubled: it
        goes on where its checkpoint is."""
        if self._job is None or self._job.active:
            return False
        try:
            self._job.wait(1)
            self.failure = "it has ended"
        except WeirError as error:
            self.failure = str(error)
        _LOG.error("the job ended and is started again: %s", self.failure)
        self.restarts += 1
        self._launch()
        return True

    def stop(self) -> None:
        """End at a batch boundary; everything can be resumed."""
        job, self._job = self._job, None
        if job is not None and job.active:
            job.stop()
        for name in self.sink.publishers:
            self.fragments.remove(slug(name)).close()
        self.sink.publishers.clear()
        self.pushed.clear()
        self.sparql.close()

    # Streams

    def stream_id(self, iri: str) -> str:
        return str(self.records.get("streams", iri).get("id") or slug(iri))

    def stream(self, id: str) -> StreamInfo:
        """The stream of an id (or IRI)."""
        for each in self.job.streams():
            if id in (self.stream_id(each.iri), each.iri):
                return each
        raise Problem(404, "there is no such stream", f"none has the id {id!r}")

    def add_stream(
        self,
        iri: str,
        id: str | None = None,
        predicate: str | None = None,
        lateness: float | None = None,
        heartbeat: str = "auto",
        *,
        times_distinct: bool = False,
    ) -> StreamInfo:
        """Add a stream that is pushed into."""
        limit = self.settings.limits.streams
        known = self.job.streams()
        if len(known) >= limit:
            raise Problem(403, "there are too many streams", f"at most {limit} are taken")
        chosen = id or slug(iri)
        if any(each.iri == iri for each in known):
            raise Problem(409, f"the stream <{iri}> is there already")
        if any(self.stream_id(each.iri) == chosen for each in known):
            raise Problem(409, f"another stream has the id {chosen!r}")
        values = {"id": chosen, "created": _now(), "lateness": lateness, "auto": heartbeat == "auto"}
        self.records.put("streams", iri, values)
        try:
            beats = "off" if heartbeat == "auto" else heartbeat
            self.running.add_stream(
                iri, LogSource(time=predicate, heartbeat=beats, times_distinct=times_distinct)
            )
        except WeirError:
            self.records.put("streams", iri, None)
            raise
        made = self.stream(chosen)
        self._open(made)
        return made

    def drop_stream(self, id: str) -> None:
        """Remove a stream; refused while a query reads it."""
        found = self.stream(id)
        with conflicts():
            self.running.drop_stream(found.iri)
        self.pushed.pop(found.iri, None)
        self.records.put("streams", found.iri, None)

    def pushed_stream(self, id: str) -> PushedStream:
        """The stream of an id, to push into; where it is known, nothing else is looked at."""
        known = self._by_id.get(id)
        if known is not None and known in self.pushed:
            return self.pushed[known]
        found = self.stream(id)
        if found.iri not in self.pushed:
            raise Problem(409, "this stream is not pushed into", f"<{found.iri}> has a source of its own")
        return self.pushed[found.iri]

    def _open(self, stream: StreamInfo) -> None:
        if (stream.source or {}).get("kind") != LogSource.kind or stream.iri in self.pushed:
            return
        known, receivers = self.records.get("streams", stream.iri), self.job.receivers
        made = PushedStream(receivers.writer(stream.iri), known.get("lateness") or LATENESS)
        self.pushed[stream.iri] = made
        self._by_id[self.stream_id(stream.iri)] = stream.iri
        if known.get("auto", True):
            receivers.beat_by(stream.iri, made.beat)

    # Queries

    def query(self, id: str) -> QueryInfo:
        """The query of an id (or name)."""
        known = self.job.queries()
        for each in known:
            if id == slug(each.name):
                return each
        for each in known:
            if id == each.name:
                return each
        raise Problem(404, "there is no such query", f"none has the id {id!r}")

    def register(self, text: str, name: str | None, dialect: str, evaluator: str) -> QueryInfo:
        """Register a query, within the limits and towards allowed hosts only."""
        limits = self.settings.limits
        if len(text) > limits.query_text:
            raise UsageError(f"the query is longer than {limits.query_text:,} characters")
        query = parsed(text, dialect)
        check_query(query, self.settings)
        known = self.job.queries()
        if len(known) >= limits.queries:
            raise Problem(403, "there are too many queries", f"at most {limits.queries} are taken")
        chosen = query.output or name
        if chosen is not None and any(each.name == chosen for each in known):
            raise Problem(409, f"there is a query named {chosen!r} already")
        made: str = self.running.register(text, name=name, dialect=dialect, evaluator=evaluator)
        self.records.put("queries", made, {"since": _now()})
        return self.query(made)

    def drop(self, id: str) -> None:
        """Drop a query and its results."""
        name = self.query(id).name
        with conflicts():
            self.running.drop(name)
        self.records.put("queries", name, None)
        if name in self.sink.publishers:
            self.unpublish(name)
        self.log.erase(name)

    def pause(self, id: str) -> QueryInfo:
        name = self.query(id).name
        with conflicts():
            self.running.pause(name)
        return self.query(name)

    def resume(self, id: str) -> QueryInfo:
        name = self.query(id).name
        self.running.resume(name)
        return self.query(name)

    # Fragments

    def publish(self, id: str, settings: dict[str, Any] | None = None) -> str:
        """Publish a query's results as a fragments data set, as a ``Publication`` says; its name.

        Other settings than before make a new data set, without what the old one held.
        """
        info = self.query(id)
        query = info.query
        wanted = {**(settings or {}), "events": query.semantics.r2s is not R2S.RSTREAM}
        wanted["lifetime"] = wanted.get("lifetime") or _promise(query)
        if info.name in self.sink.publishers:
            if wanted == self.records.get("published", info.name):
                return slug(info.name)
            self.unpublish(info.name)
        self.records.put("published", info.name, wanted)
        self._publish(info.name)
        return slug(info.name)

    def _publish(self, name: str) -> None:
        known = self.records.get("published", name)
        method = Method(known.get("annotation", Method.GRAPHS))
        labeling = Labeling(known.get("labeling", Labeling.EXPIRATION))
        shown = Annotation(method, labeling)
        folder = self._published_folder(name)
        files.make_folder(folder.parent)
        dataset = self.fragments.add(
            Dataset(slug(name), title=f"Results of {name}", annotation=shown, folder=folder)
        )
        lifetime = known.get("lifetime")
        options = {} if lifetime is None else {"lifetime": round(lifetime * 1_000_000)}
        events = known.get("events", False)
        self.sink.publishers[name] = Publisher(dataset, on_arrival=True, events=events, **options)

    def unpublish(self, id: str) -> None:
        """Take the data set down."""
        name = id if id in self.sink.publishers else self.query(id).name
        if self.sink.publishers.pop(name, None) is None:
            raise Problem(404, "the results of this query are not published")
        self.fragments.remove(slug(name)).close()
        self.records.put("published", name, None)
        files.remove_folder(self._published_folder(name))

    def _published_folder(self, name: str) -> Path:
        return self.settings.data / "published" / slug(name)


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


def _promise(query: Query) -> float:
    """For how many seconds a result is published: beyond the next evaluation, which takes it back or renews
    it, where windows tell when that is."""
    steps = [one["step"] for one in windows_of(query) if one["kind"] in ("range", "past") and one["step"]]
    return max(10.0, 2 * max(steps, default=0.0) / 1000)


@lru_cache(maxsize=256)
def explained(text: str, dialect: str, routing: str) -> str:
    return explain_text(parsed(text, dialect), routing)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def facts_of(job: RunningJob, name: str) -> dict[str, Any]:
    """What the last batch told of a query."""
    with job.metrics.lock:
        return dict(job.metrics.queries.get(name, {}))
