"""What tests of the service share: results by hand, and a real server in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pyarrow as pa
import pytest

from weir.errors import UsageError
from weir.language import parse
from weir.runtime.control.failure import Failure
from weir.runtime.control.registry import QueryInfo, StreamInfo
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.log_source import LogSource
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.base import Results
from weir.server.api import application
from weir.server.resources import slug
from weir.server.service import Service
from weir.server.settings import Limits, Settings, Token
from weir_bench.oxigraph import free_port

READER, CHIEF = "r" * 20, "a" * 20
TOKENS = (Token(READER, "read", "reader"), Token(CHIEF, "admin", "chief"))


def answers(name: str, first: int, count: int, **members: Any) -> Results:
    """Results of a query, numbered from ``first``."""
    lines = [
        json.dumps({"query": name, "n": number, **members}) + "\n" for number in range(first, first + count)
    ]
    return Results(name, pa.table({"at": pa.array(range(count)), "line": pa.array(lines, pa.large_string())}))


class StillJob:
    """A job as the service sees it that never runs a batch: real metrics and logs of streams, no Spark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.active = True
        self.metrics = Metrics()
        self.receivers = self
        self.graphs = SimpleNamespace(extractor=None, lock=threading.RLock())
        self._streams: dict[str, StreamInfo] = {}
        self._queries: dict[str, QueryInfo] = {}

    def working(self) -> dict[str, float]:
        return {}

    @property
    def failures(self) -> dict[str, Failure]:
        return {}

    def warnings(self, name: str) -> tuple[str, ...]:
        return self._queries[name].query.warnings

    def streams(self) -> list[StreamInfo]:
        return list(self._streams.values())

    def queries(self) -> list[QueryInfo]:
        return list(self._queries.values())

    def add_stream(self, iri: str, source: LogSource) -> None:
        self._streams[iri] = StreamInfo(iri, source.as_json(), True, ())

    def drop_stream(self, iri: str) -> None:
        if any(iri in query.reads for query in self.queries()):
            raise UsageError("the stream is read")
        del self._streams[iri]

    def writer(self, iri: str) -> LogWriter:
        return LogSource().writer(Place(iri, self.folder, slug(iri)))

    def beat_by(self, iri: str, beat: Callable[[], None]) -> None:
        """Heartbeats are not sent."""

    def register(self, text: str, *, name: str, dialect: str, evaluator: str) -> str:
        reads = tuple(str(each) for each in parse(text, dialect=dialect).streams)
        self._queries[name] = QueryInfo(name, text, dialect, evaluator, reads=reads)
        return name

    def drop(self, name: str) -> None:
        del self._queries[name]

    def pause(self, name: str) -> None:
        self._queries[name] = replace(self._queries[name], paused=True)

    def resume(self, name: str) -> None:
        self._queries[name] = replace(self._queries[name], paused=False)


def still_service(folder: Path, limits: Limits | None = None) -> Service:
    """A service over a still job, with the stream <http://e/s>."""
    service = Service(Settings(data=folder / "data", limits=limits or Limits()))
    service._job = StillJob(folder / "job")  # type: ignore[assignment]
    service.add_stream("http://e/s", "s")
    return service


def call(service: Service, method: str, path: str, **options: Any) -> httpx.Response:
    """The answer of the service's application to one request, in this process."""

    async def answered() -> httpx.Response:
        transport = httpx.ASGITransport(application(service))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, **options)

    return asyncio.run(answered())


def certificate_in(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate, and it is not there")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    make = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    make += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


class Server:
    """``weir serve`` in a process of its own, over a folder; it can be killed and started again."""

    def __init__(self, folder: Path, config: str = "", *options: str) -> None:
        self.folder = folder
        self.options = options
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        self.config = folder / "weir.toml"
        self.config.write_text(config)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, patience: float = 180) -> Server:
        command = [sys.executable, "-m", "weir", "serve", "--config", str(self.config)]
        command += ["--port", str(self.port), "--data", str(self.folder / "data"), "--master", "local[2]"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*command, *self.options], stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                if httpx.get(f"{self.base}/health", timeout=5).status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(0.2)
        raise AssertionError(f"the server does not start:\n{self.log.read_text()[-3000:]}")

    def kill(self) -> None:
        """``kill -9`` of the whole process group: the server, the JVM and the workers."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        self.process = None

    def stop(self) -> None:
        """An orderly end."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None


def until(condition: Callable[[], object], patience: float = 60) -> None:
    """Wait until something holds."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


class Subscriber:
    """Follows the events of a query in a thread; comes back after a break, from where it was."""

    def __init__(self, base: str, query: str, *, start: int | None = None, last: int | None = None) -> None:
        self.address = f"{base}/api/queries/{query}/results"
        self.start = start
        self.last = last
        self.seen: list[dict[str, Any]] = []
        self.missed = 0
        self.connections = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Subscriber:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(10)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._follow()
            except httpx.TransportError:
                time.sleep(0.2)

    def _follow(self) -> None:
        headers = {"accept": "text/event-stream"}
        if self.last is not None:
            headers["last-event-id"] = str(self.last)
        params = {} if self.start is None else {"from": self.start}
        timeout = httpx.Timeout(5, read=2)
        with httpx.stream("GET", self.address, params=params, headers=headers, timeout=timeout) as response:
            if response.status_code != 200:
                time.sleep(0.2)
                return
            self.connections += 1
            event = ""
            with contextlib.suppress(httpx.ReadTimeout):
                for line in response.iter_lines():
                    if self._stopped.is_set():
                        return
                    event = line[7:] if line.startswith("event: ") else event if line else ""
                    if line.startswith("data: "):
                        told = json.loads(line[6:])
                        if event == "missed":
                            self.missed += told["missed"]
                        elif not event:
                            self.seen.append(told)
                            self.last = told["position"]


@contextlib.contextmanager
def direct_service(folder: Path, **settings: Any) -> Iterator[Service]:
    """A service whose job runs in this process; ``call`` it."""
    service = Service(Settings(data=folder / "data", runner="direct", **settings))
    service.start()
    try:
        yield service
    finally:
        service.stop()
