"""Traces as a collector gets them, and the spans of a batch."""

from __future__ import annotations

import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from weir.errors import UsageError
from weir.runtime.control.failure import Failure
from weir.runtime.output.metrics import LatestBatch, Metrics
from weir.runtime.traces import Traces, traces_to

QUERY = "SELECT ?x FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x ?p ?y } }"


@pytest.mark.network
def test_a_collector_gets_a_trace_of_each_batch(tmp_path: Path) -> None:
    taken: list[tuple[str, ExportTraceServiceRequest]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.append((self.path, ExportTraceServiceRequest.FromString(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    (tmp_path / "q.rspql").write_text(QUERY)
    (tmp_path / "s.tnq").write_text("0\t<urn:a> <urn:p> <urn:b> .\n1\t<urn:c> <urn:p> <urn:b> .\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever).start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            run = [sys.executable, "-m", "weir", "try", "q.rspql", "--stream", "s=s.tnq", "--traces", address]
            done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=200)
            assert done.returncode == 0, done.stderr
        finally:
            server.shutdown()
    assert {path for path, _ in taken} == {"/v1/traces"}
    told = [each for _, request in taken for each in request.resource_spans]
    named = {a.key: a.value.string_value for each in told for a in each.resource.attributes}
    assert named["service.name"] == "weir"
    spans = [span for each in told for scope in each.scope_spans for span in scope.spans]
    batches = {span.span_id: span for span in spans if span.name == "weir.batch"}
    results = [
        a.value.int_value for span in batches.values() for a in span.attributes if a.key == "weir.results"
    ]
    assert sum(results) == 2
    for span in spans:
        if span.name != "weir.batch":
            batch = batches[span.parent_span_id]
            assert batch.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
            assert span.end_time_unix_nano <= batch.end_time_unix_nano
    assert {span.name for span in spans} == {"weir.batch", "weir.query", "weir.deliver"}


def test_spans_of_a_batch_and_of_a_query_that_failed() -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    traces, metrics = Traces(provider), Metrics()
    traces(metrics)
    assert not kept.get_finished_spans()
    told = {"q": {"seconds": 0.5, "evaluations": 3, "live_rows": 4}}
    metrics.latest = LatestBatch(7, (10.0, 11.0, 12.0), results=2, triples=5, queries=told)
    metrics.failures["bad"] = Failure("bad", 0, "too slow")
    traces(metrics)
    spans = {
        (span.name, (span.attributes or {}).get("weir.query")): span for span in kept.get_finished_spans()
    }
    batch, query = spans["weir.batch", None], spans["weir.query", "q"]
    assert (batch.start_time, batch.end_time) == (10_000_000_000, 12_000_000_000)
    assert dict(batch.attributes or {}) == {"weir.batch": 7, "weir.triples": 5, "weir.results": 2}
    assert (query.start_time, query.end_time) == (10_500_000_000, 11_000_000_000)
    assert spans["weir.query", "bad"].status.status_code is StatusCode.ERROR
    assert all(span.context.trace_id == batch.context.trace_id for span in spans.values())
    traces(metrics)
    assert len(kept.get_finished_spans()) == 7  # The failure is told once.


def test_a_collector_has_an_address() -> None:
    with pytest.raises(UsageError, match="not the address of a collector"):
        traces_to("localhost:4318")
