"""The service: one job and who watches over it, the streams pushed into it, the results that come out.

Everything registered lives in the job's checkpoint; results and names lie beside it. All methods may block
(a change waits for a batch to be planned), so the routes call them in threads.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.engine import Engine
from weir.errors import UsageError, WeirError
from weir.explain import explain_text
from weir.extras import load
from weir.fragments.protocol.annotation import Annotation, Labeling, Method
from weir.fragments.server import Dataset, FragmentsApp, Publisher
from weir.language import Query
from weir.language.algebra.query import R2S
from weir.plan.analysis.chain import parsed
from weir.runtime.control.failure import QueryLimits
from weir.runtime.control.registry import QueryInfo, StreamInfo
from weir.runtime.ingest.sources import source_at
from weir.runtime.ingest.sources.log_source import LogSource
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.base import FragmentsSink
from weir.runtime.output.subscriptions import Channels
from weir.runtime.running import RunningJob
from weir.server.added_sinks import AddedSinks
from weir.server.drawing import windows_of
from weir.server.problems import Problem, conflicts
from weir.server.pushed_streams import LATENESS, PushedStream
from weir.server.resources import Records, slug
from weir.server.result_log import ResultLog
from weir.server.settings import Settings, check_address, check_query
from weir.server.sparql_process import SparqlProcess
from weir.server.vocabulary import Vocabulary
from weir.storage import files

if TYPE_CHECKING:
    from weir.spark import SparkSession

_LOG = logging.getLogger(__name__)
_TRACES = "weir.runtime.traces"
_LOOKS = 6
"""Looks at a stream, a second apart, over which its rate is taken."""
_PATIENCE, _LOOK = 30.0, 0.1
"""Seconds for which a change waits for a job that is being started again, and between two looks."""


class Service:
    """``start`` before the first request, ``stop`` after the last. ``failure`` is why the job has last ended
    by itself."""

    def __init__(self, settings: Settings, spark: SparkSession | None = None) -> None:
        self.settings = settings
        self.spark = spark
        kept = settings.runner == "spark"
        self.home = settings.data if kept else Path(tempfile.mkdtemp(prefix="weir-serve-"))
        self.home.mkdir(parents=True, exist_ok=True)
        # Results, messages and the key of ids are nobody else's business on this machine.
        self.home.chmod(0o700)
        self.log = ResultLog(self.home / "results", segment=settings.segment, keep=settings.keep)
        self.channels = Channels(self.log.tail)
        self.log.listeners.append(self.channels.tell)
        self.records = Records(self.home / "service.json")
        self.fragments = FragmentsApp(cors=False)
        self.sink = FragmentsSink({})
        self.added = AddedSinks(self.home / "sinks", lambda: self.records.all("sinks"))
        self.vocabulary = Vocabulary()
        self.sparql = SparqlProcess(settings.limits.sparql, settings.limits.sparql_memory)
        self.pushed: dict[str, PushedStream] = {}
        self._by_id: dict[str, str] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        """Triples of graphs, with the update after which they were counted."""
        self._looks: dict[str, deque[tuple[float, int]]] = {}
        self.failure: str | None = None
        self.restarts = 0
        self._job: RunningJob | None = None

    @property
    def job(self) -> RunningJob:
        if self._job is None:
            why = "the service is starting" if self.failure is None else "the job has ended"
            raise Problem(503, why, self.failure, headers={"Retry-After": "2"})
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
            checkpoint=self.home / "checkpoint" if settings.runner == "spark" else None,
            runner=settings.runner,
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
            sinks=[self.log, self.sink, self.added, *settings.sinks],
            dead_letters=self.home / "dead-letters.jsonl",
            late=self.home / "late.jsonl",
            observer=load(_TRACES).traces_to(settings.traces) if settings.traces else None,
            live=True,
            resume=True,
        )
        job.observers.append(self._evaluated)
        # Changes wait for Spark to plan: once it has done so, for no longer than a batch.
        with job.registry.control.held(True):
            self._job = job
        self.pushed.clear()
        for stream in job.streams():
            self._open(stream)

    def restart(self) -> bool:
        """Start the job again where it has ended by itself; whether it had. Nothing is lost or doubled: it
        goes on where its checkpoint is. One in this process has none, and is not started again."""
        if self._job is None or self._job.active:
            return False
        try:
            self._job.wait(1)
            self.failure = "it has ended"
        except WeirError as error:
            self.failure = str(error)
        if self.settings.runner == "direct":
            self._job, self.failure = None, f"{self.failure}; nothing of it was kept"
            _LOG.error("the job ended: %s", self.failure)
            return True
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
        if self.home != self.settings.data:
            files.remove_folder(self.home)

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
        source: str | None = None,
    ) -> StreamInfo:
        """Add a stream that is pushed into, or one with a ``source``, an address that is allowed."""
        limit = self.settings.limits.streams
        known = self.job.streams()
        if len(known) >= limit:
            raise Problem(403, "there are too many streams", f"at most {limit} are taken")
        chosen = id or slug(iri)
        if any(each.iri == iri for each in known):
            raise Problem(409, f"the stream <{iri}> is there already")
        if any(self.stream_id(each.iri) == chosen for each in known):
            raise Problem(409, f"another stream has the id {chosen!r}")
        if source is not None:
            if lateness is not None:
                raise UsageError(
                    "lateness says when time goes on in a stream that is pushed into",
                    hint="for a stream with a source, write LATENESS into the windows of its queries",
                )
            return self._add_source(iri, chosen, source, predicate)
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

    def _add_source(self, iri: str, id: str, source: str, predicate: str | None) -> StreamInfo:
        """Add a stream that is read from an address."""
        check_address(source, self.settings)
        made: Any = source_at(source)
        if predicate is not None:
            if not hasattr(made, "time"):
                raise UsageError(f"messages from {source} have their time with them", hint="leave time out")
            made = replace(made, time=predicate)
        made.check()
        self.records.put("streams", iri, {"id": id, "created": _now(), "address": source})
        try:
            self.running.add_stream(iri, made)
        except WeirError:
            self.records.put("streams", iri, None)
            raise
        return self.stream(id)

    # Sinks

    def add_sink(self, address: str) -> None:
        """Send all results to an address as well, from now on and whenever the service runs."""
        check_address(address, self.settings)
        if address in self.added.failures and self.added.failures[address] is None:
            raise Problem(409, f"results go to {address} already")
        self.added.add(address)
        self.records.put("sinks", address, {"since": _now()})

    def drop_sink(self, address: str) -> None:
        """No longer send results to an address that was added."""
        if address not in self.records.all("sinks"):
            raise Problem(404, f"results do not go to {address} by anybody's request here")
        self.added.remove(address)
        self.records.put("sinks", address, None)

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

    def latency(self, streams: Sequence[str]) -> float | None:
        """Seconds from the push of the latest messages of streams to their evaluation, where it is known."""
        found = [self.pushed[iri].latency for iri in streams if iri in self.pushed]
        return max((each for each in found if each is not None), default=None)

    def told(self, counter: str) -> dict[str, float]:
        """A counter of all queries that run, by name."""
        with self.job.metrics.lock:
            return {name: float(told.get(counter, 0)) for name, told in self.job.metrics.queries.items()}

    def rate(self, stream: str, messages: int) -> float:
        """Messages a second of a stream that is not pushed into, since it was looked at some seconds ago."""
        now, looks = time.monotonic(), self._looks.setdefault(stream, deque(maxlen=_LOOKS))
        if not looks or now - looks[-1][0] > 1:
            looks.append((now, messages))
        seconds = now - looks[0][0]
        return max(0, messages - looks[0][1]) / seconds if seconds > 0 else 0.0

    def _evaluated(self, metrics: Metrics) -> None:
        """After a batch: how long it took from a push to here."""
        for iri, stream in list(self.pushed.items()):
            complete = metrics.streams.get(iri, {}).get("complete")
            if complete is not None:
                stream.evaluated(complete)

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
        return self.home / "published" / slug(name)


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
